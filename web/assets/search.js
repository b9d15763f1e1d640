// The search in all transcripts: applied as typing pauses, on its own view and on the page of a rollout.
"use strict";

(() => {
  const { $, visible, params, goTo, setParam, parts, actions, scan } = window.rollscope.page;

  const PAUSE = 300;               // ms without a key until a search begins
  const boxOf = (target) => target instanceof Element && target.matches("[data-search]") ? target : null;
  const input = () => $("[data-search]");

  // ---- applying ------------------------------------------------------------------------------------------

  let typing = 0, fresh = true;    // fresh: the next change begins an entry of the history

  /** Look for what the box says; tells whether that is something else than before. */
  function apply(box, done) {
    clearTimeout(typing);
    const quiet = !fresh;
    fresh = done;
    if (new URLSearchParams("search=" + (params(location.hash).search || "")).get("search") === box.value) return false;
    setParam("search", box.value, quiet, ["hit"]); // a place among the hits of another search
    return true;
  }

  addEventListener("focusin", (e) => { if (boxOf(e.target)) fresh = true; });
  addEventListener("input", (e) => {
    const box = boxOf(e.target);
    if (!box) return;
    clearTimeout(typing);
    typing = setTimeout(() => { if (box.isConnected) apply(box, false); }, PAUSE);
  });
  addEventListener("keydown", (e) => {
    const box = boxOf(e.target);
    if (!box || e.key !== "Enter" || e.isComposing) return;
    e.preventDefault();
    if (!apply(box, true)) go(e.shiftKey ? "previous" : "next");
  });

  // ---- hits of a rollout ---------------------------------------------------------------------------------

  function go(way) {
    const link = $(`[data-search-hit=${way}]`);
    if (link) quietly(link);
    return Boolean(link);
  }

  /** From hit to hit is one entry of the history: back leads to where the hits were found. */
  function quietly(link) {
    goTo(link.getAttribute("href"), Boolean(params(location.hash).hit));
  }

  addEventListener("click", (e) => {
    const link = e.target instanceof Element && e.target.closest("a[data-search-hit]");
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    quietly(link);
  });

  // ---- the keys ------------------------------------------------------------------------------------------

  let wanted = false;              // the box is to take the focus once it is there

  function focus(box) {
    box.focus();
    box.select();
    return true;
  }

  function everywhere() {
    const way = $("[data-search-way]");
    if (!way) return false;
    if ($("[data-page=search]")) return focus(input());
    wanted = true;
    location.hash = way.getAttribute("href");
    return true;
  }

  Object.assign(actions, {
    search: everywhere,
    find: () => {
      if (boxOf(document.activeElement)) return false; // pressed in the box, the key is the browser's
      const json = $("[data-find]"), bar = $("[data-hit-bar]");
      if (json) return focus(json);
      if (!bar) return everywhere();
      bar.hidden = false;
      return focus(input());
    },
    "next-hit": () => go("next"),
    "previous-hit": () => go("previous"),
    "search-off": () => scan.stopSearch(),
    "search-on": () => scan.goOn(),
    /** The place of a mistake. */
    "search-mistake": (from) => {
      const box = input();
      const at = [...box.value].slice(0, Number(from.dataset.at)).join("").length;
      box.focus();
      box.setSelectionRange(at, box.value.length);
    },
  });

  addEventListener("click", (e) => {
    if (!(e.target instanceof Element)) return;
    if (e.target.closest("[data-search-way]")) wanted = true;
    // The bar stays for whom it was opened for; with the search it goes.
    if (e.target.closest("[data-search-clear]")) $("[data-hit-bar]").hidden = true;
  });
  addEventListener("keydown", (e) => {
    const box = boxOf(e.target), bar = $("[data-hit-bar]");
    if (!box || e.key !== "Escape" || !bar) return;
    e.preventDefault();
    box.blur();
    if (!box.value) bar.hidden = true;
  }, true);

  parts.settled.push(() => {
    if (!wanted || !$("[data-page=search]")) return;
    wanted = false;
    if (visible(input())) focus(input());
  });
})();
