// Saved views: what is shown, under a name, without what belongs to one run. A view is a piece of the address; it goes
// before whatever stands there of tab, filter, order, columns and settings, and leaves the choice of runs and files.
"use strict";

(() => {
  const { $, $$, settings, params, encoded, decoded, actions, kept, notices, parts, view, views } = window.rollscope.page;

  const GENERAL = ["tab", "check", "filter", "sort", "columns", "profile", "ignore", "set"];
  const OF_RUN = ["run", "order", "drop", "apart", "files"]; // stay as they are when a view is opened
  const NAMES_RUN = /^compare\.(base|with|left|right)$/;     // settings whose value is the name of a run or row
  const LONGEST = 200, LARGEST = 20_000;                     // characters of a name, of a view

  /** What of a fragment is a view. */
  function general(hash) {
    const all = params(hash);
    const set = view.chosen(hash), rest = set.filter(([name]) => !NAMES_RUN.test(name));
    if (rest.length < set.length) all.set = encoded(view.written(rest));
    return GENERAL.filter((key) => all[key]).map((key) => `${key}=${all[key]}`).join("&");
  }

  /** What is shown, as a view. Without a tab the first one is shown, which is another one for other files. */
  function current() {
    const tab = $("[data-tab][aria-current]")?.dataset.tab;
    return general(!params(location.hash).tab && tab ? `${location.hash}&tab=${tab}` : location.hash);
  }

  /** The link that opens a view on what is open. */
  function hrefOf({ view: text }) {
    const now = params(location.hash);
    return "#" + [text, ...OF_RUN.filter((key) => now[key]).map((key) => `${key}=${now[key]}`)].filter(Boolean).join("&");
  }

  // ---- the list ------------------------------------------------------------------------------------------

  function list() {
    try {
      const all = JSON.parse(settings.get("views") || "[]");
      return Array.isArray(all) ? all.filter((v) => typeof v?.name === "string" && typeof v.view === "string") : [];
    } catch { return []; }         // a damaged list is forgotten
  }

  function write(all) {
    const held = settings.set("views", JSON.stringify(all));
    fill();
    if (!held) notices.tell("This browser does not keep the views: they are there until this page is left. “Export” saves them to a file.");
    return held;
  }

  /** Put a view under a name. Another one of that name gives way, and can be had back. */
  function put(name, text, instead = "") {
    const before = list(), at = before.findIndex((v) => v.name === (instead || name));
    const after = before.filter((v, n) => v.name !== name || n === at);
    const place = after.findIndex((v) => v.name === (instead || name));
    if (place < 0) after.push({ name, view: text }); else after[place] = { name, view: text };
    const held = write(after);
    const lost = before.find((v) => v.name === name && (instead && instead !== name || v.view !== text));
    if (lost) kept.offer(`The view “${name}” was replaced.`, () => write(before));
    else if (held) notices.tell(instead ? `The view is called “${name}” now.` : `The view “${name}” is saved.`);
  }

  function remove(name) {
    const before = list();
    write(before.filter((v) => v.name !== name));
    kept.offer(`The view “${name}” is removed.`, () => write(before));
  }

  /** A name for what is shown: the tab and the filter. */
  function suggested() {
    const { filter } = params(location.hash), tab = $("[data-tab][aria-current]")?.innerText.trim() || "View";
    return (filter ? `${tab}, ${decoded(filter.replace(/\+/g, " "), decodeURIComponent)}` : tab).slice(0, LONGEST);
  }

  // ---- the panel -----------------------------------------------------------------------------------------

  const box = () => $("details[data-views]");
  let renaming = "";

  function fill() {
    const details = box();
    if (!details?.open) return;
    const panel = kept.filled("views"), all = list(), now = current();
    $("[data-empty]", panel).hidden = all.length > 0;
    $("[data-download]", panel).hidden = all.length === 0;
    const rows = all.map((v) => {
      const row = $("[data-view-item]", panel).content.firstElementChild.cloneNode(true);
      const link = $("a", row), form = $("form", row);
      if (v.name === renaming) {
        link.remove();
        $(".acts", row).remove();
        form.hidden = false;
        form.dataset.of = $("input", form).value = v.name;
        return row;
      }
      form.remove();
      link.href = hrefOf(v);
      link.dataset.view = v.name;
      if (v.view === now) link.setAttribute("aria-current", "true");
      $("b", link).textContent = v.name;
      $(".muted", link).textContent = described(v.view);
      for (const button of $$("button", row)) {
        button.dataset.of = v.name;
        button.setAttribute("aria-label", `${button.innerText || button.textContent} ${v.name}`);
      }
      return row;
    });
    $("[data-list]", panel).replaceChildren(...rows);
    const edited = $("[data-list] input", panel);
    if (edited) { edited.focus(); edited.select(); }
  }

  /** A view in words: its tab, its filter, its order. */
  function described(text) {
    const { tab, filter, sort } = params(text), read = (s) => decoded(s.replace(/\+/g, " "), decodeURIComponent);
    return [tab || "first tab", filter && read(filter), sort && `by ${read(sort).replace(/^-(.*)/, "$1, descending")}`].filter(Boolean).join(" · ");
  }

  function show() {
    const row = $("[data-filter]"), details = box();
    if (!details) return notices.tell("There is nothing to save a view of.");
    if (row) row.hidden = false;
    details.open = true;
    start();
  }

  /** The panel as it opens: with a name for what is shown, ready to be saved. */
  function start() {
    renaming = "";
    fill();
    const field = $("[data-save-view] input", box());
    field.value = suggested();
    field.focus();
    field.select();
  }

  addEventListener("toggle", (e) => {
    if (e.target.matches?.("details[data-views]") && e.target.open && !e.target.contains(document.activeElement?.closest("input"))) start();
  }, true);

  addEventListener("submit", (e) => {
    if (!e.target.matches("[data-save-view], [data-rename-view]")) return;
    e.preventDefault();
    const name = $("input", e.target).value.trim();
    if (!name) return;
    if (e.target.matches("[data-save-view]")) return put(name, current());
    const { of } = e.target.dataset, v = list().find((one) => one.name === of);
    renaming = "";
    if (v && name !== of) put(name, v.view, of); else fill();
    $(`[data-rename][data-of="${CSS.escape(name)}"]`)?.focus();
  });

  addEventListener("keydown", (e) => {
    const details = e.key === "Escape" && e.target.closest?.("details[data-views]");
    if (!details || !details.open) return;
    e.preventDefault();
    if (e.target.matches("[data-rename-view] input")) {
      const of = renaming;
      renaming = "";
      fill();
      $(`[data-rename][data-of="${CSS.escape(of)}"]`)?.focus();
      return;
    }
    details.open = false;
    $("summary", details).focus();
  }, true);

  addEventListener("click", (e) => {
    if (e.target.closest?.("a[data-view]")) box().open = false;
  });

  Object.assign(actions, {
    views: show,
    "rename-view": ({ dataset: { of } }) => { renaming = of; fill(); },
    "remove-view": ({ dataset: { of } }) => {
      const at = list().findIndex((v) => v.name === of);
      remove(of);
      const rest = $$("[data-action=remove-view]", box());
      (rest[Math.min(at, rest.length - 1)] || $("[data-save-view] input", box())).focus();
    },
  });

  // ---- elsewhere -----------------------------------------------------------------------------------------

  parts.downloads["views.json"] = () => kept.json("views", { views: list() });
  kept.readers.views = ({ views: given }) => {
    if (!Array.isArray(given)) throw new Error("it has no list of views");
    given.forEach((v, n) => {
      const good = typeof v?.name === "string" && v.name.trim() && v.name.length <= LONGEST && typeof v.view === "string" && v.view.length <= LARGEST;
      if (!good) throw new Error(`its view ${n + 1} has no name or no view`);
    });
    const before = list(), by = new Map(before.map((v) => [v.name, v]));
    for (const { name, view: text } of given) by.set(name.trim(), { name: name.trim(), view: general(text) });
    const came = new Set(given.map(({ name }) => name.trim())), replaced = before.filter((v) => came.has(v.name)).length;
    write([...by.values()]);
    kept.offer(`${came.size} ${came.size === 1 ? "view" : "views"} imported${replaced ? `, ${replaced} in place of one with the same name` : ""}.`, () => write(before));
  };

  parts.commands.push(() => $("[data-filter]") ? list().map((v) => ({ kind: "view", title: `${v.name} – ${described(v.view)}`, act: () => { location.hash = hrefOf(v); } })) : []);
  addEventListener("storage", (e) => { if (e.key === "rollscope.views") fill(); });
  parts.settled.push(() => { if (!renaming) fill(); });
  Object.assign(views, { general });
})();
