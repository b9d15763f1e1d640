// What can be done by keys. The sheet of keys is the table: every entry says which chords run it (data-keys) and
// what it does (data-run), and nothing here knows another one.
"use strict";

(() => {
  const { $, $$, sleep, decoded, visible, closePanels, params, setParam, parts, actions, notices, view, lists } = window.rollscope.page;

  const entries = () => [...$$("#commands [data-run]")];
  const chords = new Map();
  for (const entry of entries()) for (const chord of entry.dataset.keys.split("\n")) chords.set(chord, entry.dataset.run);

  /** Click the first element in sight that fits; false where there is none. */
  function press(selector) {
    const element = [...$$(selector)].find(visible);
    if (element) element.click();
    return Boolean(element);
  }

  /** Go where a link leads; false where there is none. */
  function follow(link) {
    const to = link?.getAttribute("href");
    if (!link) return false;
    // The address is another one at once, so that the next key knows that the document is behind it.
    if (to.startsWith("#") && to !== location.hash) location.hash = to; else link.click();
    return true;
  }

  // What counts from where the page stands waits until the document shows where that is.
  const steps = [];

  function steady(e, step) {
    if (view.current()) return step();
    if (!e?.repeat) steps.push(step); // a key that is held leaves nothing behind
    return true;
  }

  parts.settled.push(() => {
    while (steps.length && view.current()) steps.shift()();
  });

  /** What the names in data-run do. Each tells whether there was anything to do. */
  const runs = {
    row: (how, e) => step(how, e),
    open: (_, e) => open(e),
    follow: (to, e) => steady(e, () => follow([...$$(`a[rel=${to}]`)].find(visible))),
    part: (id) => press(`[data-part=${id}]`),
    tab: (id) => {
      const tab = $(`[data-tab=${id}]`);
      if (tab) location.hash = tab.getAttribute("href");
      return Boolean(tab);
    },
    more: (n) => (more[n].act(), true),
    columns: () => {
      const box = $("[data-chooser]");
      if (!box) return false;
      box.open = !box.open;
      (box.open ? $("a", box) : $("summary", box)).focus();
      return true;
    },
  };

  function run(text, event) {
    const [name, ...rest] = text.split(" ");
    if (runs[name]) return runs[name](rest.join(" "), event);
    if (!actions[name]) return false;
    if (name === "find") return actions.find(); // where there is nothing to search in, the key is the browser's
    Promise.resolve(actions[name]()).catch(notices.failed);
    return true;
  }

  let prefix = "", prefixTimer = 0;
  addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.altKey || e.isComposing) return;
    const held = e.ctrlKey || e.metaKey;
    const key = (held ? "Control+" : "") + e.key;
    if (held && !chords.has(key)) return;
    if (!held && e.target.closest("input,textarea,select,[contenteditable]")) {
      if (e.key === "Escape") e.target.blur();
      return;
    }
    // What looks like a button or box and is a link or label takes the keys of one.
    if (e.target.matches("label[data-action],a[role]") && (e.key === " " || e.key === "Enter" && e.target.matches("label"))) {
      e.preventDefault();
      e.target.click();
      return;
    }
    if ($("dialog[open]")) return;
    if (e.key === "Escape" && ($(":popover-open") || closePanels(null))) {
      e.preventDefault();
      return;
    }
    const chord = prefix ? prefix + " " + key : key;
    clearTimeout(prefixTimer);
    prefix = "";
    if (chords.has(chord)) {
      if (run(chords.get(chord), e)) e.preventDefault();
    } else if ([...chords.keys()].some((c) => c.startsWith(chord + " "))) {
      prefix = chord;
      prefixTimer = setTimeout(() => { prefix = ""; }, 1500);
    }
  });

  // ---- rows ----------------------------------------------------------------------------------------------

  const rowOf = (element) => element.closest && element.closest("[data-index]");

  /** Move the focus through the rows of the nearest table, or through the turns of a transcript. */
  function step(how, e) {
    const letter = e && /^[jk]$/.test(e.key);
    if (letter && $(".rail a")) return steady(e, () => turn(Number(how)));
    const table = (e && e.target.closest("[data-table]")) || $("#region-main [data-table][data-window]") || $("#region-main [data-table]");
    if (!table) return false;
    const focused = rowOf(document.activeElement);
    if (!focused && !letter) return false; // the window scrolls
    const total = Number(table.dataset.total) || table.querySelectorAll("[data-index]").length;
    const page = Math.max(1, lists.measure(table).sight - 3);
    const now = focused ? Number(focused.dataset.index) : -1;
    const to = { first: 0, last: total - 1, "+page": now + page, "-page": now - page }[how] ?? now + Number(how);
    if (total > 0) focusRow(table, Math.min(total - 1, Math.max(0, to)));
    return true;
  }

  async function focusRow(table, index) {
    const find = () => table.querySelector(`[data-index="${index}"]`);
    let row = find();
    if (!row && table.dataset.window !== undefined) {
      const { height, total } = lists.measure(table);
      table.scrollTop = index * height * Math.min(1, lists.TALLEST / Math.max(1, total * height));
      for (let i = 0; i < 40 && !row; i++) {
        await lists.moved(table);
        row = find();
        if (!row) await sleep(16);
      }
    }
    if (!row) return;
    row.tabIndex = 0;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  function turn(by) {
    const marks = [...$$(".rail a")];
    const now = marks.findIndex((a) => a.hasAttribute("aria-current"));
    const next = marks[Math.min(marks.length - 1, Math.max(0, now + by))];
    return follow(next);
  }

  function open(e) {
    const row = rowOf(document.activeElement);
    if (!row || (e && e.target.closest("a,button,summary"))) return false;
    const link = row.dataset.href || row.querySelector("a[href^='#']")?.getAttribute("href");
    if (link) location.hash = link;
    return Boolean(link);
  }

  // The page of a rollout takes the focus that its link had, and who comes back from it stands at its row.
  let left = "", there = "";
  parts.settled.push(() => {
    const { rollout } = params(location.hash);
    const arrived = rollout && rollout !== there;
    there = rollout || "";
    if (rollout) {
      left = decoded(rollout.replace(/\+/g, " "));
      if (arrived && document.activeElement === document.body) $(".rollout .read")?.focus({ preventScroll: true });
      return;
    }
    const row = left && $(`tr[data-rollout="${CSS.escape(left)}"]`);
    if (!row) return;
    left = "";
    if (document.activeElement !== document.body) return;
    row.tabIndex = 0;
    row.focus({ preventScroll: true });
  });

  // Back means the view from which a rollout was opened, as long as the filter is still the same.
  let from = "";
  addEventListener("hashchange", (e) => {
    const [before, after] = [e.oldURL, e.newURL].map((url) => new URL(url).hash);
    if (params(after).rollout && !params(before).rollout) from = before;
  });
  const leave = actions.back;
  actions.back = () => {
    const { rollout, filter } = params(location.hash);
    if (rollout && from && params(from).filter === filter) location.hash = from; else leave();
  };

  // ---- palette -------------------------------------------------------------------------------------------

  const sheet = $("#keys"), field = $("[data-palette]"), list = $("#commands");
  let chosen = -1;

  /** Whether a command has something to work on: the palette offers no tab or part that is not there. */
  function possible(entry) {
    const [name, id] = entry.dataset.run.split(" ");
    if (name === "live") return Boolean($("[data-action=live]"));
    if (name === "tab") return Boolean($(`[data-tab=${id}]`));
    if (name === "part") return [...$$(`[data-part=${id}]`)].some((part) => part.matches("a, button") && visible(part));
    return true;
  }

  const shown = () => entries().filter((entry) => !entry.hidden);

  function choose(to) {
    const all = shown();
    for (const entry of entries()) entry.removeAttribute("aria-selected");
    chosen = all.length ? (to + all.length) % all.length : -1;
    if (chosen < 0) { field.removeAttribute("aria-activedescendant"); return; }
    for (const entry of all) entry.setAttribute("aria-selected", entry === all[chosen]);
    field.setAttribute("aria-activedescendant", all[chosen].id);
    all[chosen].scrollIntoView({ block: "nearest" });
  }

  function narrow() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const entry of entries()) {
      const text = entry.textContent.toLowerCase();
      entry.hidden = !possible(entry) || !words.every((w) => text.includes(w));
    }
    choose(0);
  }

  /** What can be done for now stands behind the table of commands, in the palette alone. */
  let more = [];
  function extend(on) {
    for (const entry of $$("[data-more]", list)) entry.remove();
    more = on ? parts.commands.flatMap((part) => part()) : [];
    more.forEach(({ kind, title }, n) => {
      const entry = document.createElement("li");
      entry.id = "command-more-" + n;
      Object.assign(entry.dataset, { more: "", keys: "", run: "more " + n });
      entry.append(Object.assign(document.createElement("span"), { className: "muted", textContent: kind }),
        Object.assign(document.createElement("span"), { textContent: title }));
      list.append(entry);
    });
  }

  // Heads of the table can be reached by Tab, behind every mark of the charts above it; here by their names.
  parts.commands.push(() => [...$$("th[data-movable] > a")].filter(visible).flatMap((head) =>
    [["", ""], ["-", ", descending"]].map(([sign, way]) => ({
      kind: "sort",
      title: `by ${head.firstChild.textContent.trim()}${way}`,
      act: () => setParam("sort", sign + head.parentElement.dataset.column),
    }))));

  function palette(on) {
    extend(on);
    sheet.classList.toggle("palette", on);
    field.parentElement.hidden = !on;
    if (on) list.setAttribute("role", "listbox"); else list.removeAttribute("role");
    for (const entry of entries()) {
      entry.hidden = on && !possible(entry);
      if (on) entry.setAttribute("role", "option"); else { entry.removeAttribute("role"); entry.removeAttribute("aria-selected"); }
    }
    field.value = "";
  }

  actions.palette = () => {
    if (sheet.open) return sheet.close();
    palette(true);
    sheet.showModal();
    field.focus();
    choose(0);
  };

  // The event comes after the closing, and by then the sheet can be open again.
  sheet.addEventListener("close", () => { if (!sheet.open) palette(false); });
  field.addEventListener("input", narrow);
  field.addEventListener("keydown", (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by) { e.preventDefault(); choose(chosen + by); }
    if (e.key === "Enter" && chosen >= 0) { e.preventDefault(); execute(shown()[chosen]); }
  });
  list.addEventListener("click", (e) => {
    const entry = e.target.closest("[data-run]");
    if (entry && sheet.classList.contains("palette")) execute(entry);
  });

  function execute(entry) {
    field.blur(); // in a closed sheet it would take the next keys, until the browser draws
    sheet.close();
    run(entry.dataset.run);
  }
})();
