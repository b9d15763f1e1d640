// What was opened before: names, sizes and times, never content. Where the browser gives handles they are kept as well,
// and an entry opens again with one click, once the browser has asked.
"use strict";

(() => {
  const { $, counted, settings, state, actions, intake, kept, notices, parts, recent, view } = window.rollscope.page;

  const MOST = 8;                  // entries
  const DETAILED = 100;            // files of an entry whose size and time are remembered
  const NAMED = 3;                 // files that a message names

  const handles = new Map();       // id of an entry → the handles that it opens

  // ---- the store of handles --------------------------------------------------------------------------------
  // Where the browser lets the page store nothing, handles are there for as long as the document is.

  let base = null;
  function store(mode, work) {
    base = base || new Promise((resolve, reject) => {
      const request = indexedDB.open("rollscope", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("handles");
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
      request.onblocked = () => reject(new Error("another tab holds it"));
    });
    return base.then((db) => new Promise((resolve, reject) => {
      const transaction = db.transaction("handles", mode);
      const request = work(transaction.objectStore("handles"));
      transaction.oncomplete = () => resolve(request?.result);
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    }));
  }

  const loaded = (async () => {
    try {
      const ids = await store("readonly", (s) => s.getAllKeys());
      const values = await store("readonly", (s) => s.getAll());
      ids.forEach((id, n) => { if (!handles.has(id)) handles.set(id, values[n]); });
    } catch { /* nothing is stored here */ }
    show();
  })();

  async function hold(id, list) {
    handles.set(id, list);
    await store("readwrite", (s) => s.put(list, id)).catch(() => {});
  }

  async function drop(id) {
    handles.delete(id);
    await store("readwrite", (s) => s.delete(id)).catch(() => {});
  }

  // ---- the list ------------------------------------------------------------------------------------------

  function entries() {
    try {
      const list = JSON.parse(settings.get("recent") || "[]");
      return Array.isArray(list) ? list.filter((e) => e && typeof e.name === "string") : [];
    } catch { return []; }         // a damaged list is forgotten
  }

  const write = (list) => settings.set("recent", list.length ? JSON.stringify(list) : "");

  /** What a person would call these files: the folder that all are in, or the first of them. */
  function nameOf(list) {
    const top = list[0].path.split("/")[0] + "/";
    return list[0].path.includes("/") && list.every((f) => f.path.startsWith(top)) ? top : list[0].path;
  }

  /** Whether an entry is about these handles, as far as can be told. */
  async function same(entry, list) {
    const before = handles.get(entry.id);
    if (!before || !list.length) return true;
    if (before.length !== list.length) return false;
    for (let n = 0; n < list.length; n++) {
      if (!await before[n].isSameEntry(list[n]).catch(() => false)) return false;
    }
    return true;
  }

  /** Take files into the list; given are their handles, as far as the browser has them. */
  async function remember(list, given) {
    if (!list.length || !list[0].blob) return; // what a server lists is there anyway
    await loaded;
    const settled = await Promise.allSettled(given);
    const whole = settled.length > 0 && settled.every(({ value }) => value);
    const now = whole ? settled.map(({ value }) => value) : [];
    const name = nameOf(list), id = crypto.randomUUID?.() || String(Math.random());
    const kept = [];
    for (const entry of entries()) {
      if (entry.name === name && await same(entry, now)) await drop(entry.id); else kept.push(entry);
    }
    const was = list.length <= DETAILED ? list.map(({ path, size, blob }) => [path, size, blob.lastModified]) : undefined;
    kept.unshift({ id, name, files: list.length, bytes: list.reduce((n, f) => n + f.size, 0), at: Date.now(), was });
    for (const entry of kept.splice(MOST)) await drop(entry.id);
    if (whole) await hold(id, now);
    write(kept);
    show();
  }

  /** The list on the landing page. */
  function show() {
    const at = $("[data-recent]");
    if (!at) return;
    const list = entries();
    at.hidden = list.length === 0;
    const focused = document.activeElement?.closest("[data-recent-list] [data-id]")?.dataset.id;
    const rows = list.map((entry) => {
      const item = $("[data-recent-item]", at).content.cloneNode(true);
      const button = $("[data-action=reopen]", item), label = $("[data-name]", item);
      if (handles.has(entry.id)) {
        button.textContent = entry.name;
        button.dataset.id = entry.id;
        label.remove();
      } else {
        label.textContent = entry.name;
        button.remove();
      }
      const forget = $("[data-action=forget]", item);
      forget.dataset.id = entry.id || entry.name;
      forget.setAttribute("aria-label", `take ${entry.name} off the list`);
      $("[data-detail]", item).textContent = `${entry.files} ${entry.files === 1 ? "file" : "files"} · ${size1000(entry.bytes)}`;
      $("[data-when]", item).textContent = "opened " + kept.when(entry.at);
      return item;
    });
    $("[data-recent-list]", at).replaceChildren(...rows);
    if (focused) $(`[data-recent-list] [data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  function size1000(n) {
    const units = ["B", "kB", "MB", "GB", "TB"];
    let i = 0;
    while (n >= 1000 && i < units.length - 1) { n /= 1000; i++; }
    return (i ? n.toFixed(2) : n) + " " + units[i];
  }

  // ---- opening again -------------------------------------------------------------------------------------

  /** Ask for the permission to read, where it is not given already. */
  async function permitted(handle) {
    if (!handle.queryPermission) return true;
    try {
      const how = { mode: "read" };
      return await handle.queryPermission(how) === "granted" || await handle.requestPermission(how) === "granted";
    } catch {
      return false;                // nobody has clicked, or the browser does not ask here
    }
  }

  async function reopen({ dataset: { id } }) {
    const entry = entries().find((e) => e.id === id), list = handles.get(id);
    if (!entry || !list) return show();
    state.alerts = state.alerts.filter(({ code }) => !["permission_refused", "vanished"].includes(code));
    for (const handle of list) {
      if (await permitted(handle)) continue;
      notices.alert("permission_refused", undefined, `The browser does not let this page read ${handle.name}: the permission was not given.`,
        "Choose the entry again to be asked once more, or drop the files.");
      return view.schedule();
    }
    const { files, gone, over } = await intake.listHandles(list);
    if (over) return;
    if (!files.length) {
      notices.alert("vanished", undefined, `${entry.name} was not opened. ${goneText(gone, "It holds no file any more")}.`, "It may have been moved, renamed or deleted. Open it where it is now.");
      return view.schedule();
    }
    await intake.openFiles(files, false, list);
    if (gone.length) notices.alert("vanished", undefined, `${goneText(gone)}.`, "The other files are shown.");
    const changes = changed(entry, files, gone);
    if (changes) notices.alert("changed_since", undefined, `Since ${entry.name} was opened here, ${kept.when(entry.at)}, ${changes}.`, "Shown is what is there now.");
    view.schedule();
  }

  const some = (names) => names.slice(0, NAMED).join(", ") + (names.length > NAMED ? ` and ${names.length - NAMED} more` : "");

  const WHY = { NotFoundError: "no longer there", NotAllowedError: "not allowed to be read", NotReadableError: "not readable" };

  /** What could not be opened, by its reason. */
  function goneText(gone, otherwise) {
    const by = Map.groupBy ? Map.groupBy(gone, ({ name }) => name) : new Map([["", gone]]);
    const texts = [...by].filter(([, list]) => list.length)
      .map(([name, list]) => `${some(list.map(({ path }) => path))} ${list.length === 1 ? "is" : "are"} ${WHY[name] || "not to be opened"}`);
    return texts.join("; ") || otherwise;
  }

  /** In which way files are others than those that an entry remembers; nothing where they are the same. */
  function changed({ was, files: count, bytes }, files, gone) {
    if (!was) {
      const now = files.reduce((n, f) => n + f.size, 0);
      if (files.length === count && now === bytes) return "";
      return `its content has changed: ${counted(count, "file")} with ${counted(bytes, "byte")} then, ${counted(files.length, "file")} with ${counted(now, "byte")} now`;
    }
    const texts = [], again = [], there = new Set(was.map(([path]) => path));
    const by = new Map(files.map((f) => [f.path, f]));
    for (const [path, size, time] of was) {
      const f = by.get(path);
      if (!f) continue;
      if (f.size !== size) texts.push(`${path} has changed from ${counted(size, "byte")} to ${counted(f.size, "byte")}`);
      else if (f.blob.lastModified !== time) again.push(path);
    }
    if (texts.length > NAMED) texts.splice(NAMED, texts.length, `${counted(texts.length - NAMED, "other file")} changed too`);
    if (again.length) texts.push(`${some(again)} ${again.length === 1 ? "was" : "were"} written again with the same size`);
    const lost = was.map(([path]) => path).filter((path) => !by.has(path) && !gone.some((g) => g.path === path));
    if (lost.length) texts.push(`${some(lost)} ${lost.length === 1 ? "has" : "have"} gone`);
    const fresh = files.filter(({ path }) => !there.has(path)).map(({ path }) => path);
    if (fresh.length) texts.push(`${some(fresh)} ${fresh.length === 1 ? "is" : "are"} new`);
    return texts.join("; ");
  }

  Object.assign(actions, {
    reopen,
    forget: async ({ dataset: { id } }) => {
      const list = entries(), at = list.findIndex((e) => (e.id || e.name) === id);
      if (at < 0) return show();
      const [entry] = list.splice(at, 1), held = handles.get(entry.id);
      write(list);
      await drop(entry.id);
      show();
      $("[data-recent]:not([hidden]) button, label.first")?.focus();
      kept.offer(`${entry.name} is off the list.`, async () => {
        const now = entries();
        now.splice(at, 0, entry);
        write(now);
        if (held) await hold(entry.id, held);
        show();
      });
    },
    "clear-recent": async () => {
      const list = entries(), held = new Map(handles);
      write([]);
      for (const { id } of list) await drop(id);
      show();
      $("label.first")?.focus();
      kept.offer("The list is empty.", async () => {
        write(list);
        for (const { id } of list) if (held.has(id)) await hold(id, held.get(id));
        show();
      });
    },
  });

  parts.commands.push(() => entries().filter((e) => handles.has(e.id))
    .map(({ id, name, files }) => ({ kind: "open", title: `${name} – ${counted(files, "file")} again`, act: () => { reopen({ dataset: { id } }).catch(notices.failed); } })));
  parts.settled.push(show);
  Object.assign(recent, { remember, show });
})();
