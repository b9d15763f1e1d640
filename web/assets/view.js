// Showing: the desk renders the State in the address, and the document is patched to it.
"use strict";

(() => {
  const { $, $$, root, script, runsURL, settings, decoded, parts, state, crew, scan, notices, offline, view, lists, follow } = window.rollscope.page;

  let timer = 0, drawing = false, again = false;
  let shown = null;                // the fragment that the document shows

  /** Draw soon; many calls make one drawing. */
  function schedule(wait = 0) {
    if (timer && wait) return;
    clearTimeout(timer);
    timer = setTimeout(() => { timer = 0; draw(); }, wait);
  }

  function host() {
    const seconds = state.started ? ((state.ended || performance.now()) - state.started) / 1000 : 0;
    return {
      mode: runsURL ? "served" : root.dataset.blocks ? "bundle" : script.src ? "page" : "file",
      theme: settings.get("theme"),
      reading: Boolean(state.started && !state.ended),
      cancelled: state.cancelled, bytes: state.bytes, total: state.total, seconds,
      requests: Math.max(0, performance.getEntriesByType("resource").length - state.baseline),
      alerts: state.alerts, failed: state.failed, keeps: offline.holds(),
      follow: follow.mode(),
      lost: state.lost, unasked: state.query.failed, stopped: state.query.stopped,
      columns: Object.fromEntries(["rollouts", "tasks", "scores", "compare"].map((tab) => [tab, settings.get("columns." + tab)])),
    };
  }

  async function draw() {
    if (drawing) { again = true; return; }
    drawing = true;
    try {
      const { opened } = state, fragment = location.hash;
      const elsewhere = lists.takePlaces();
      const { answer } = await crew.call({ op: "render", fragment, host: host(), windows: Object.fromEntries(lists.windows) });
      if (state.opening || state.listing || opened !== state.opened) answer.phase = "scanning";
      // Somebody may have gone elsewhere meanwhile; that is drawn next and must not be taken back.
      if (fragment !== location.hash) answer.fragment = undefined; else scan.second(answer.query);
      if (answer.audit && !state.failed) scan.audit();
      apply(answer);
      if (elsewhere) lists.place();
      if (answer.odd) {
        notices.alert("unknown_link", undefined, `The link says what means nothing here, and it was left out: ${answer.odd}.`, "The rest of it is shown.");
        schedule();
      }
      const unhashed = answer.hash.filter((file) => !state.files[file]?.broken);
      if (unhashed.length && !crew.hashing) crew.hashFiles(unhashed).then(() => schedule()).catch(notices.failed);
    } catch (error) {
      if (error.dead) await crew.died(error);
      else notices.fatal(error);
    } finally {
      drawing = false;
      if (again) { again = false; schedule(); }
    }
  }

  /** Make an element's content what the markup says, changing as little as possible. */
  function patch(element, html) {
    const fresh = element.cloneNode(false);
    fresh.innerHTML = html;
    try {
      morph(element, fresh);
    } catch (error) {
      // Markup that cannot be turned into the new one step by step is replaced.
      console.warn("patch:", error.message);
      fresh.innerHTML = html;
      element.replaceChildren(...fresh.childNodes);
    }
  }

  function morph(element, fresh) {
    morphdom(element, fresh, {
      // Elements are matched by their place: the same id can stand elsewhere in another rollout.
      getNodeKey: () => undefined,
      onBeforeElUpdated(from, to) {
        if (from.isEqualNode(to)) return false;
        if (from.tagName === "DETAILS" && from.open) to.open = true;
        if (from.tagName === "DIALOG" && from.open) to.setAttribute("open", "");
        if (from.popover && from.matches(":popover-open")) return true;
        if ((from.dataset.filter !== undefined || from.dataset.hitBar !== undefined) && !from.hidden) to.hidden = false;
        if (from === document.activeElement && (from.tagName === "INPUT" || from.tagName === "TEXTAREA")) {
          to.value = from.value;
          for (const name of ["aria-expanded", "aria-activedescendant"]) {
            if (from.hasAttribute(name)) to.setAttribute(name, from.getAttribute(name));
          }
        }
        // A row that the keys have reached keeps the focus while more rows come in.
        if (from === document.activeElement && from.dataset.index !== undefined && from.dataset.index === to.dataset.index) to.tabIndex = from.tabIndex;
        if (from.id === "offers" || from.dataset.kept && from.dataset.kept === to.dataset.kept) return false; // the script fills it
        if (from.tagName === "CANVAS") {
          for (const { name, value } of to.attributes) if (!/^(width|height|style)$/.test(name)) from.setAttribute(name, value);
          return false;
        }
        if (from.dataset.chunk !== undefined && from !== element) {
          // Turns that are in sight stay; a chunk without any keeps its height.
          if (from.firstElementChild && !to.firstElementChild) return false;
          if (!to.firstElementChild) to.style.height = from.style.height;
          to.dataset.of = to.firstElementChild ? location.hash : from.dataset.of || "";
        }
        return true;
      },
    });
  }

  function apply(answer) {
    if (!state.failed) $("#broken")?.remove(); // what went wrong before is over
    root.dataset.state = answer.phase;
    if (answer.waiting) root.dataset.waiting = ""; else delete root.dataset.waiting;
    if (answer.theme) root.dataset.theme = answer.theme; else delete root.dataset.theme;
    document.title = answer.title;
    for (const [name, html] of Object.entries(answer.regions)) {
      const element = document.getElementById("region-" + name);
      if (element) patch(element, html);
    }
    const want = answer.fragment ? "#" + answer.fragment : "";
    if (answer.fragment !== undefined && want !== location.hash && want !== decoded(location.hash)) {
      history.replaceState(null, "", want || location.pathname + location.search);
    }
    // Only what was rendered for the address as it is now takes it over.
    if (answer.fragment !== undefined) shown = location.hash;
    settle(answer.target);
  }

  // Measuring has the browser lay out what is new. In a task of its own, ahead of the painting, neither of them takes long.
  const soon = (run) => window.scheduler?.postTask ? scheduler.postTask(run, { priority: "user-blocking" }) : setTimeout(run);
  let laid = false;

  function see() {
    laid = false;
    for (const part of parts.seen) part();
  }

  /** After new markup: scrollers get their size, the place a link names comes into sight. */
  let target = "", said = "";
  function settle(wanted) {
    for (const table of $$("[data-table][data-window]")) lists.attach(table);
    for (const chunk of $$("[data-chunk]")) lists.watch(chunk);
    for (const part of parts.settled) part();
    if (!laid) soon(see);
    laid = true;
    const say = $("[data-say]");
    if (say && say.dataset.say !== said) { said = say.dataset.say; notices.say(said); }
    if (wanted && wanted !== target) reveal(wanted);
    target = wanted || "";
  }

  function reveal(id) {
    const element = document.getElementById(id);
    if (!element) return;
    const box = element.closest("[data-scroller]");
    const tall = box && element.clientHeight > box.clientHeight * 0.8;
    element.scrollIntoView({ block: tall ? "start" : "center" });
    if (element.tabIndex >= -1 && element.hasAttribute("tabindex")) element.focus({ preventScroll: true });
  }

  function theme() {
    const chosen = settings.get("theme");
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen; else delete root.dataset.theme;
  }

  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

  addEventListener("hashchange", () => {
    state.alerts = state.alerts.filter((a) => a.code !== "unknown_link");
    schedule();
  });

  /** Whether the document shows what the address says. */
  const current = () => shown === location.hash;

  const status = () => ({ drawing, again, timer });

  Object.assign(view, { status, current, schedule, host, patch, reveal, theme, dark });
})();
