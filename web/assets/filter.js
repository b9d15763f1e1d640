// The filter box: applied as typing pauses, with a list of what can stand at the cursor.
"use strict";

(() => {
  const { $, $$, setParam, actions, crew, notices, view } = window.rollscope.page;

  const boxOf = (target) => target instanceof Element && target.matches("[data-filter-input]") ? target : null;
  const input = () => $("[data-filter-input]");
  const list = () => $("#offers");

  // ---- applying ------------------------------------------------------------------------------------------

  let typing = 0, fresh = true;    // fresh: the next change begins an entry of the history

  function apply(now) {
    clearTimeout(typing);
    const box = input();
    if (!box) return;
    if (now) { setParam("filter", box.value, !fresh); fresh = true; return; }
    typing = setTimeout(() => { setParam("filter", box.value, !fresh); fresh = false; }, 250);
  }

  addEventListener("focusin", (e) => { if (boxOf(e.target)) fresh = true; });
  addEventListener("input", (e) => {
    if (!boxOf(e.target)) return;
    apply(false);
    ask();
  });

  /** The place of a mistake, selected. */
  actions.mistake = (from) => {
    const box = input();
    if (!box || !from) return;
    const before = [...box.value].slice(0, Number(from.dataset.at)).join("").length;
    const rest = box.value.slice(before);
    box.focus();
    box.setSelectionRange(before, before + (/^[\w.]+|^./u.exec(rest)?.[0].length || 0));
  };

  // ---- offers --------------------------------------------------------------------------------------------

  let offered = null, active = -1, asking = 0;

  async function ask() {
    const box = input(), mine = ++asking;
    if (!box) return;
    const text = box.value;
    const cursor = new TextEncoder().encode(text.slice(0, box.selectionStart)).length;
    try {
      const { answer } = await crew.call({ op: "offer", fragment: location.hash, host: view.host(), text, cursor });
      if (mine !== asking || box.value !== text || document.activeElement !== box) return;
      offered = answer;
      list().innerHTML = answer.html;
      show(answer.count > 0);
    } catch (error) {
      if (!error.dead) notices.fatal(error);
    }
  }

  function show(on) {
    const box = input();
    if (!box || !list()) return;
    list().hidden = !on;
    active = -1;
    box.setAttribute("aria-expanded", on);
    box.removeAttribute("aria-activedescendant");
  }

  function mark(to) {
    const options = [...$$("#offers [role=option]")];
    if (!options.length) return;
    active = to < 0 ? options.length - 1 : to % options.length;
    for (const [i, option] of options.entries()) option.setAttribute("aria-selected", i === active);
    options[active].scrollIntoView({ block: "nearest" });
    input().setAttribute("aria-activedescendant", options[active].id);
  }

  function take(option) {
    const box = input();
    const head = offered.before + option.dataset.insert;
    // Behind a finished word the next one begins; behind a field comes its operator.
    box.value = head + offered.after;
    box.focus();
    box.setSelectionRange(head.length, head.length);
    show(false);
    apply(false);
    ask();
  }

  addEventListener("keydown", (e) => {
    const box = boxOf(e.target);
    if (!box || e.isComposing || e.ctrlKey || e.metaKey) return;
    const opened = list() && !list().hidden;
    switch (e.key) {
      case "ArrowDown":
      case "ArrowUp":
        e.preventDefault();
        if (!opened) ask(); else mark(active + (e.key === "ArrowDown" ? 1 : -1));
        return;
      case "Tab":
      case "Enter":
        if (opened && active >= 0) {
          e.preventDefault();
          take($$("#offers [role=option]")[active]);
        } else if (e.key === "Enter") {
          e.preventDefault();
          show(false);
          apply(true);
        }
        return;
      case "Escape":
        // With nothing chosen in the list, the key means the field.
        if (opened && active >= 0) e.preventDefault();
        show(false);
    }
  }, true);

  addEventListener("mousedown", (e) => {
    const option = e.target instanceof Element && e.target.closest("#offers [role=option]");
    if (!option) return;
    e.preventDefault(); // the field keeps the focus
    take(option);
  });
  addEventListener("focusout", (e) => { if (boxOf(e.target)) show(false); });
})();
