// How files come in: drops, dialogs, folders that are walked, the sample. A file is a path, a size and a handle or an
// address; nothing is read here.
"use strict";

(() => {
  const { $, root, counted, bytesOf, session, state, crew, scan, intake, notices, recent, view, lists } = window.rollscope.page;

  let queue = Promise.resolve();   // what comes before the module is ready waits here

  /** Take files in, one list after the other; add keeps those that are there. given are the handles they come from. */
  function openFiles(list, add = false, given = []) {
    if (list.length === 0) return queue;
    leave();
    session.set("files");
    // Nobody may take what is still shown for what comes of these files.
    state.opening++;
    Object.assign(state, { failed: "", deskDeaths: 0 });
    if (root.dataset.state !== "starting") root.dataset.state = "scanning";
    const step = async () => {
      try {
        await crew.booted;
        await openNow(list, add, given);
      } finally {
        state.opening--;
        state.opened++;
      }
    };
    queue = queue.then(step, step);
    return queue;
  }

  async function openNow(list, add, given) {
    if (!add) await reset();
    const { generation } = state;
    const first = state.files.length;
    state.files.push(...list);
    state.version++;
    state.given.push(...given || []);
    const request = { op: "open", add, bundle: !add && list.every(({ at }) => at !== undefined), files: list.map(({ path, size }) => ({ path, size })) };
    const { answer } = await crew.call(request);
    if (generation !== state.generation) return;
    for (const { source, file, size, packed } of answer.scan) {
      state.sources.set(source, file);
      state.total += size;
      if (packed) {
        state.tasks.push({ source, file, from: 0, to: -1, packed, tries: 0 }); // there is no way into its middle
        continue;
      }
      for (let from = 0; from < size; from += scan.PIECE) {
        state.tasks.push({ source, file, from, to: Math.min(from + scan.PIECE, size), tries: 0 });
      }
    }
    if (!state.started) state.started = performance.now();
    state.query.rest = 0;          // everything is asked anew
    state.ended = 0;
    state.cancelled = false;
    state.fresh = performance.now();
    if (given && (first === 0 || !location.hash)) recent.remember(list, given);
    scan.pump();
    view.schedule();
  }

  async function reset() {
    state.generation++;
    Object.assign(state, { files: [], given: [], alerts: [], tasks: [], active: 0, query: scan.noQuery(), started: 0, ended: 0, bytes: 0, total: 0, cancelled: false });
    state.sources.clear();
    scan.drop();
    lists.windows.clear();
    await crew.call({ op: "reset" });
  }

  const asFile = (blob, path, handle) => ({ path: path || blob.webkitRelativePath || blob.name, size: blob.size, blob, handle });

  // ---- handles -------------------------------------------------------------------------------------------
  // A file has its handle beside it where the browser gives one: file.handle, or file.below, the promise of the handle
  // of the folder that was given, in which it is looked up when somebody wants it.

  /** The handle of a file that is open, null where there is none. */
  async function handleOf(file) {
    if (file.handle || !file.below) return file.handle || null;
    try {
      let at = await file.below;
      const steps = file.path.split("/").slice(1); // the first is the folder itself
      const name = steps.pop();
      for (const step of steps) at = await at.getDirectoryHandle(step);
      file.handle = await at.getFileHandle(name);
      return file.handle;
    } catch {
      return null;
    }
  }

  /** Ask a person for "files" or a "folder", by handles where the browser has them. */
  async function choose(kind) {
    const input = $(`[data-intake=${kind}]`);
    const picker = kind === "files" ? window.showOpenFilePicker : window.showDirectoryPicker;
    if (!picker) return input.click();
    let handles;
    try {
      handles = await picker.call(window, { id: "rollscope", multiple: kind === "files" });
    } catch (error) {
      if (error.name !== "AbortError") input.click(); // the browser has them and does not allow them here
      return;
    }
    handles = [handles].flat();
    const { files, gone, over } = await listHandles(handles);
    if (over) return;
    state.lost = gone.length;
    if (files.length === 0) view.schedule();
    await openFiles(files, root.dataset.waiting !== undefined, handles);
  }

  /** List files and everything below folders; gone are those that cannot be opened, with the name of the error. */
  async function listHandles(handles) {
    const drop = begin();
    for (const handle of handles) {
      await walkHandle(handle, handle.name, drop).catch(({ name }) => drop.gone.push({ path: handle.name, name }));
      if (drop.over) return drop;
    }
    leave();
    return { ...drop, over: false };
  }

  // ---- drops ---------------------------------------------------------------------------------------------

  /** Begin a drop: what its folders hold is listed first. One that is still being listed is no longer wanted. */
  function begin() {
    leave();
    return { files: [], entries: 0, lost: 0, gone: [], over: false };
  }

  /** End the listing, whatever has become of it. */
  function leave() {
    if (!state.listing) return;
    state.listing.over = true;
    state.listing = null;
    notices.listing(0);
  }

  /** End the listing because a person said so; tells whether there was one. */
  function stop() {
    if (!state.listing) return false;
    const { entries } = state.listing;
    leave();
    notices.alert("cancelled", undefined, `Reading the dropped folder was cancelled after ${counted(entries, "entry", "entries")}.`,
      "Nothing of it was opened. Drop it again to open it.");
    view.schedule();
    return true;
  }

  /** One more entry is known: a file with its handle, or one that could not be opened. */
  function listed(drop, file) {
    if (drop.over) return;
    if (file) drop.files.push(file); else drop.lost++;
    drop.entries++;
    if (state.listing !== drop) {
      state.listing = drop;
      if (root.dataset.state !== "starting") root.dataset.state = "scanning";
    }
    notices.listing(drop.entries);
  }

  /** Add everything below an entry; a directory hands out its entries a hundred at a time. */
  async function walk(entry, drop) {
    if (entry.isFile) {
      let file = null;
      try {
        const blob = await new Promise((resolve, reject) => entry.file(resolve, reject));
        file = asFile(blob, entry.fullPath.replace(/^\//, ""));
      } catch (error) {
        if (error.name === "EncodingError") throw error;
      }
      listed(drop, file);
      return;
    }
    const reader = entry.createReader();
    while (!drop.over) {
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!some.length) return;
      // Files are asked for together: each takes the browser a millisecond.
      await Promise.all(some.filter((e) => e.isFile).map((e) => walk(e, drop)));
      for (const e of some) if (!e.isFile) await walk(e, drop);
    }
  }

  /** The same by handles. */
  async function walkHandle(handle, path, drop) {
    if (handle.kind === "file") {
      listed(drop, await handle.getFile().then((blob) => asFile(blob, path, handle), ({ name }) => {
        drop.gone.push({ path, name });
        return null;
      }));
      return;
    }
    let some = [];
    const folders = [];
    const take = () => Promise.all(some.splice(0).map((inner) => walkHandle(inner, path + "/" + inner.name, drop)));
    for await (const inner of handle.values()) {
      if (drop.over) return;
      if (inner.kind !== "file") folders.push(inner);
      else if (some.push(inner) === 100) await take();
    }
    await take();
    for (const inner of folders) await walkHandle(inner, path + "/" + inner.name, drop);
  }

  /** Add one dropped item by the first way to it that the browser has. */
  async function take({ entry, file, handle }, drop) {
    if (entry ? entry.isFile : !handle && await readable(file)) {
      if (!file) { drop.lost++; return; }
      const one = asFile(file);
      drop.files.push(one);
      handle?.then((h) => { if (h?.kind === "file") one.handle = h; }, () => {});
      return;
    }
    const before = drop.files.length, { lost, entries } = drop;
    try {
      if (!entry) throw new Error("no entries here");
      await walk(entry, drop);
      if (handle) for (const one of drop.files.slice(before)) one.below = handle;
    } catch {
      // A page that was opened from a disk gets no entries, but handles.
      drop.files.length = before;
      Object.assign(drop, { lost, entries });
      try {
        const way = await handle;
        await walkHandle(way, way.name, drop);
      } catch {
        drop.lost++;
        if (!handle) drop.blind = true;
      }
    }
  }

  /** Without entries and handles a folder looks like a file that cannot be read. */
  const readable = (file) => !file ? false : file.slice(0, 1).arrayBuffer().then(() => true, () => false);

  async function dropped(transfer) {
    // What is not asked for before the event ends is gone.
    const items = [...transfer.items].filter((i) => i.kind === "file").map((i) => ({
      entry: i.webkitGetAsEntry?.(), file: i.getAsFile(), handle: i.getAsFileSystemHandle?.(),
    }));
    if (!items.length) return;     // a text or a link
    for (const { handle } of items) handle?.catch(() => {});
    const drop = begin();
    for (const item of items) {
      await take(item, drop);
      if (drop.over) return;
    }
    leave();
    state.lost = drop.lost;
    if (drop.files.length === 0) view.schedule();
    await openFiles(drop.files, root.dataset.waiting !== undefined, items.map(({ handle }) => handle));
    if (drop.blind) {
      notices.alert("vanished", undefined, "This browser does not open folders that are dropped.", "Open the folder by its button, or drop the files in it.");
      view.schedule();
    }
  }

  addEventListener("dragover", (e) => { e.preventDefault(); e.dataTransfer.dropEffect = "copy"; root.dataset.drag = ""; });
  addEventListener("dragleave", (e) => { if (!e.relatedTarget) delete root.dataset.drag; });
  addEventListener("drop", (e) => {
    e.preventDefault();
    delete root.dataset.drag;
    dropped(e.dataTransfer).catch(notices.fatal);
  });
  addEventListener("change", (e) => {
    const input = e.target;
    if (input.dataset && input.dataset.intake) {
      const list = [...input.files].map((f) => asFile(f));
      input.value = "";
      openFiles(list, root.dataset.waiting !== undefined).catch(notices.fatal);
    }
  });

  /** Open the sample; at the start of the page what a person has given meanwhile goes before it. */
  async function openSample(first) {
    const { answer } = await crew.call({ op: "sample" });
    if (first && (state.opening || state.opened || state.listing)) return;
    const opened = openFiles(answer.files.map(({ path, data }) => asFile(new File([bytesOf(data)], path), path)), false, null);
    session.set("sample");         // before somebody gives files, whose session it is then
    await opened;
  }

  Object.assign(intake, { stop, openFiles, openNow, reset, openSample, asFile, handleOf, choose, listHandles });
})();
