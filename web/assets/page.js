// The page's script: intake of files, the workers, and the frame that shows what the desk renders. It knows
// nothing of rollouts. Markup comes finished from the module and says in data-* attributes what a click does.
"use strict";

(() => {
  const root = document.documentElement;
  const script = document.currentScript;

  // Ways out of this document that a policy does not close.
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel"]) {
    try { delete window[name]; Object.defineProperty(window, name, { value: undefined }); } catch { /* not here */ }
  }

  const PIECE = 32 << 20;          // bytes of one scanning task
  const LONGEST = 1 << 30;         // bytes of the longest line that is read
  const WORKERS = Math.max(1, Math.min(4, navigator.hardwareConcurrency || 1));
  const runsURL = root.dataset.runs || "";

  const state = {
    files: [],                     // {path, size, blob | url}
    alerts: [],                    // {code, file, text, help}
    tasks: [],                     // ranges that nobody scans yet
    active: 0,                     // ranges that are being scanned
    query: noQuery(),              // the second scan that the filter needs
    sources: new Map(),            // source → file index
    started: 0, ended: 0, bytes: 0, total: 0, cancelled: false,
    generation: 0,                 // of the list of files; what belongs to an older one is dropped
    opening: 0, opened: 0,         // lists of files that are on their way in, that are in
    lost: 0,                       // dropped entries that could not be opened
    deskDeaths: 0,                 // since these files came in
    baseline: 0,                   // requests of the page's own loading
    failed: "",
  };

  const $ = (selector, from = document) => from.querySelector(selector);
  const $$ = (selector, from = document) => from.querySelectorAll(selector);
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Settings survive where the browser lets them. */
  const settings = {
    get(key) { try { return localStorage.getItem("rollscope." + key) || ""; } catch { return ""; } },
    set(key, value) { try { localStorage.setItem("rollscope." + key, value); } catch { /* storage is forbidden */ } },
  };

  // ---- workers -------------------------------------------------------------------------------------------

  let compiled = null, workerURL = "";

  /** A worker with its module; ask(message, transfer) answers or throws. */
  function spawn(onevent) {
    const worker = new Worker(workerURL);
    const waiting = new Map();
    let next = 1, dead = null;
    const self = {
      ask(message, move = []) {
        if (dead) return Promise.reject(dead);
        return new Promise((resolve, reject) => {
          const id = next++;
          waiting.set(id, { resolve, reject });
          worker.postMessage({ ...message, id }, move);
        });
      },
      end(error) {
        if (dead) return;
        dead = error || new Error("stopped");
        dead.dead = true;
        worker.terminate();
        for (const w of waiting.values()) w.reject(dead);
        waiting.clear();
      },
    };
    worker.onmessage = ({ data }) => {
      if (data.event) return onevent(data, self);
      const w = waiting.get(data.id);
      waiting.delete(data.id);
      if (!w) return;
      if (data.ok) return w.resolve(data);
      const error = Object.assign(new Error(data.error), { name: data.name || "Error", goStack: data.stack });
      w.reject(error);
      if (data.dead) self.end(error);
    };
    worker.onerror = (e) => { e.preventDefault(); self.end(new Error(e.message || "the worker has died")); };
    self.ask({ op: "init", module: compiled }).catch(() => {});
    return self;
  }

  let desk = null;
  const scanners = [];

  async function deskCall(request, options = {}) {
    await booted;
    const files = state.files.map(({ size, blob, url }) => ({ size, blob, url }));
    // Only the files that a row is read from are needed; handles are cheap, lists of thousands are not.
    const few = files.length > 64 ? filesOf(request, files) : files;
    return desk.ask({ op: "desk", request, files: few, raw: options.raw });
  }

  /** Handles of the rollouts files alone. */
  function filesOf(request, files) {
    const map = {};
    for (const index of state.sources.values()) map[index] = files[index];
    return map;
  }

  // ---- boot ----------------------------------------------------------------------------------------------

  async function text(id, name) {
    const inline = document.getElementById(id);
    if (inline) return inline.textContent;
    const response = await fetch(new URL(name, script.src));
    if (!response.ok) throw new Error(`${name}: the server answered ${response.status}`);
    return response.text();
  }

  async function compile() {
    const inline = document.getElementById("rollscope-wasm");
    if (!inline) {
      const url = new URL("rollscope.wasm", script.src);
      try {
        return await WebAssembly.compileStreaming(fetch(url));
      } catch {
        return WebAssembly.compile(await (await fetch(url)).arrayBuffer());
      }
    }
    const base64 = inline.textContent.trim();
    inline.remove();
    const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(base64) : Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(stream).arrayBuffer());
  }

  /** From here on nothing can be fetched, by the page or by workers made later. */
  function lock() {
    if (runsURL) return;
    const meta = document.createElement("meta");
    meta.httpEquiv = "Content-Security-Policy";
    meta.content = "connect-src 'none'";
    document.head.append(meta);
  }

  async function boot() {
    const [source, module] = await Promise.all([text("rollscope-worker", "worker.js"), compile()]);
    compiled = module;
    let listed = null;
    if (runsURL) listed = await (await fetch(runsURL, { cache: "no-store" })).json();
    lock();
    workerURL = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    startDesk();
    warm(addScanner());
    state.baseline = performance.getEntriesByType("resource").length;
    return listed;
  }

  function startDesk() { desk = spawn(() => {}); }

  // ---- intake --------------------------------------------------------------------------------------------

  let intake = Promise.resolve();  // what comes before the module is ready waits here

  /** Take files in, one list after the other; add keeps those that are there. */
  function openFiles(list, add = false) {
    if (list.length === 0) return intake;
    session.set("files");
    // Nobody may take what is still shown for what comes of these files.
    state.opening++;
    Object.assign(state, { failed: "", deskDeaths: 0 });
    if (root.dataset.state !== "starting") root.dataset.state = "scanning";
    const step = async () => {
      try {
        await booted;
        await openNow(list, add);
      } finally {
        state.opening--;
        state.opened++;
      }
    };
    intake = intake.then(step, step);
    return intake;
  }

  async function openNow(list, add) {
    if (!add) await reset();
    const { generation } = state;
    const first = state.files.length;
    state.files.push(...list);
    const request = { op: "open", add, files: list.map(({ path, size }) => ({ path, size })) };
    const { answer } = await deskCall(request);
    if (generation !== state.generation) return;
    for (const { source, file, size, packed } of answer.scan) {
      state.sources.set(source, file);
      state.total += size;
      if (packed) {
        state.tasks.push({ source, file, from: 0, to: -1, packed, tries: 0 }); // there is no way into its middle
        continue;
      }
      for (let from = 0; from < size; from += PIECE) {
        state.tasks.push({ source, file, from, to: Math.min(from + PIECE, size), tries: 0 });
      }
    }
    if (!state.started) state.started = performance.now();
    state.query.rest = 0;          // everything is asked anew
    state.ended = 0;
    state.cancelled = false;
    state.fresh = true;
    if (first === 0 || !location.hash) remember(list);
    pump();
    schedule();
  }

  async function reset() {
    state.generation++;
    Object.assign(state, { files: [], alerts: [], tasks: [], active: 0, query: noQuery(), started: 0, ended: 0, bytes: 0, total: 0, cancelled: false });
    state.sources.clear();
    for (const s of scanners) if (s.busy) { s.worker.end(); s.gone = true; }
    for (let i = scanners.length - 1; i >= 0; i--) if (scanners[i].gone) scanners.splice(i, 1);
    windows.clear();
    await deskCall({ op: "reset" });
  }

  function addScanner() {
    const scanner = { busy: false, gone: false };
    scanner.worker = spawn((event) => onScan(scanner, event));
    scanners.push(scanner);
    return scanner;
  }

  /** The first file does not wait for a scanner, nor for the browser to compile it well. */
  async function warm(scanner) {
    for (let i = 0; i < 20 && !scanner.busy && !scanner.gone; i++) {
      await scanner.worker.ask({ op: "warm" }).catch(() => {});
    }
  }

  /** Hand tasks to scanners as long as there are both. */
  function pump() {
    const want = state.total > PIECE / 4 ? WORKERS : 1;
    while (state.tasks.length || state.query.tasks.length) {
      let free = scanners.find((s) => !s.busy);
      if (!free) {
        if (scanners.length >= want) break;
        free = addScanner();
      }
      run(free, state.tasks.shift() || state.query.tasks.shift());
    }
    if (!state.tasks.length && !state.active && state.started && !state.ended) {
      state.ended = performance.now();
      schedule();
    }
  }

  async function run(scanner, task) {
    const generation = state.generation, of = task.query ? state.query : state;
    scanner.busy = true;
    scanner.task = task;
    of.active++;
    const { size, blob, url } = state.files[task.file];
    try {
      await scanner.worker.ask({ op: "scan", ...task, file: { size, blob, url }, maxLine: LONGEST });
    } catch (error) {
      if (generation !== state.generation || scanner.gone) return;
      if (error.dead) {
        scanner.gone = true;
        scanners.splice(scanners.indexOf(scanner), 1);
      }
      if (task.query) failedQuery(task, error); else failedTask(task, error);
    }
    scanner.busy = false;
    if (generation !== state.generation) return;
    of.active--;
    pump();
    schedule();
  }

  /** A range that could not be read: try it once more after a worker's death, else say what is missing. */
  function failedTask(task, error) {
    if (error.dead && !state.cancelled) {
      alertOnce("worker_restarted", task.file, "The reader of this file stopped and was started again.", error.message.split("\n")[0]);
      if (task.tries++ < 1 && (task.packed || task.from < task.to)) {
        if (task.packed) state.bytes -= task.read || 0; // it is read from its start again
        task.read = 0;
        state.tasks.unshift(task);
        return;
      }
    }
    const code = { NotFoundError: "vanished", NotReadableError: "changed_while_reading", ChangedError: "changed_while_reading" }[error.name]
      || (error.dead ? "worker_restarted" : "vanished");
    const what = { vanished: "The file is no longer there or cannot be opened.", changed_while_reading: "The file changed while it was read." }[code]
      || "Part of the file could not be read.";
    const missing = task.packed ? `What follows byte ${task.from} of its content was` : `Bytes ${task.from} to ${task.to} were`;
    alertOnce(code, task.file, what, `${missing} not read: ${error.message}. Open the file again to read it whole.`);
    state.tasks = state.tasks.filter((t) => t.file !== task.file || code === "worker_restarted");
  }

  // ---- the second scan -----------------------------------------------------------------------------------

  function noQuery() { return { id: "", tasks: [], active: 0, rest: 0, failed: "" }; }

  /** Run the second scan that the filter needs, behind the first one. Another filter ends it. */
  function second(wanted) {
    const q = state.query, id = wanted ? wanted.id : "";
    if (id !== q.id) {
      q.tasks = [];
      if (q.active) {
        // The page is drawn again when they have stopped; then it is known what is still missing.
        for (const s of scanners) if (s.busy && s.task.query) s.worker.ask({ op: "cancel" }).catch(() => {});
        return;
      }
      Object.assign(q, { id, rest: 0, failed: "" });
    }
    if (!wanted || q.active || q.tasks.length || q.failed) return;
    const rest = wanted.scan.reduce((n, r) => n + r.to - r.from, 0);
    if (rest === q.rest) {
      q.failed = "they were read again without an answer.";
      return schedule();
    }
    q.rest = rest;
    q.tasks = wanted.scan.map((r) => ({ ...r, query: { id, filter: wanted.filter }, tries: 0 }));
    pump();
  }

  function failedQuery(task, error) {
    const q = state.query;
    if (task.query.id !== q.id) return;
    if (error.dead && task.tries++ < 1) {
      q.tasks.unshift(task);
      return;
    }
    q.tasks = [];
    q.failed = `${state.files[task.file]?.path || "a file"}: ${error.message.split("\n")[0]}`;
  }

  function alertOnce(code, file, text, help) {
    const path = file === undefined ? "" : state.files[file]?.path || "";
    if (state.alerts.some((a) => a.code === code && a.path === path && a.text === text)) return;
    state.alerts.push({ code, path, text, help: help || "" });
  }

  async function onScan(scanner, data) {
    const generation = state.generation;
    if (scanner.gone) return;
    if (data.event === "progress") {
      if (scanner.task.query) return;
      state.bytes += data.bytes;
      scanner.task.read = (scanner.task.read || 0) + data.bytes;
      schedule(120);
      return;
    }
    // What has arrived is not scanned again if the worker dies.
    scanner.task.from = partialEnd(new Uint8Array(data.bytes));
    try {
      await desk.ask({ op: "add", bytes: data.bytes }, [data.bytes]);
    } catch (error) {
      if (generation === state.generation) await deskDied(error);
      return;
    }
    if (generation !== state.generation) return;
    schedule(state.fresh ? 0 : 120); // the first rows are shown at once
    state.fresh = false;
  }

  /** The end of a partial's range stands in its head, as the third number behind four bytes. */
  function partialEnd(bytes) {
    let at = 4, value = 0;
    for (let n = 0; n < 3; n++) {
      value = 0;
      for (let factor = 1; ; factor *= 128) {
        const b = bytes[at++];
        value += (b & 127) * factor;
        if (b < 128) break;
      }
    }
    return value;
  }

  let reviving = false;
  /** The desk holds what was read; when it dies, everything is read again. */
  async function deskDied(error) {
    if (reviving || !error.dead) { if (!error.dead) console.error(error); return; }
    reviving = true;
    const files = state.files;
    const again = state.deskDeaths++ === 0;
    startDesk();
    if (!again) {
      state.failed = "The reader stopped twice on these files. Reload the page and open fewer of them.";
      reviving = false;
      schedule();
      return;
    }
    await openNow(files, false);
    alertOnce("worker_restarted", undefined, "The page's reader stopped and was started again; the files are read anew.", error.message.split("\n")[0]);
    reviving = false;
    schedule();
  }

  function cancel() {
    state.cancelled = true;
    state.tasks = [];
    for (const s of scanners) if (s.busy) s.worker.ask({ op: "cancel" }).catch(() => {});
    alertOnce("cancelled", undefined, "Reading was cancelled.", "What has been read stays. Open the files again to read them whole.");
    schedule();
  }

  const asFile = (blob, path) => ({ path: path || blob.webkitRelativePath || blob.name, size: blob.size, blob });

  /** Add everything below an entry to found; a directory hands out its entries a hundred at a time. */
  async function walk(entry, found) {
    if (entry.isFile) {
      let blob;
      try {
        blob = await new Promise((resolve, reject) => entry.file(resolve, reject));
      } catch (error) {
        if (error.name === "EncodingError") throw error;
        state.lost++;
        return;
      }
      found.push(asFile(blob, entry.fullPath.replace(/^\//, "")));
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!some.length) return;
      // Files are asked for together: each takes the browser a millisecond.
      await Promise.all(some.filter((e) => e.isFile).map((e) => walk(e, found)));
      for (const e of some) if (!e.isFile) await walk(e, found);
    }
  }

  /** The same by handles. */
  async function walkHandle(handle, path, found) {
    if (handle.kind === "file") {
      try { found.push(asFile(await handle.getFile(), path)); } catch { state.lost++; }
      return;
    }
    for await (const inner of handle.values()) await walkHandle(inner, path + "/" + inner.name, found);
  }

  async function dropped(transfer) {
    state.lost = 0;
    // What is not asked for before the event ends is gone.
    const items = [...transfer.items].filter((i) => i.kind === "file").map((i) => ({
      entry: i.webkitGetAsEntry && i.webkitGetAsEntry(), file: i.getAsFile(), handle: i.getAsFileSystemHandle && i.getAsFileSystemHandle(),
    }));
    for (const { handle } of items) if (handle) handle.catch(() => {});
    const list = [];
    for (const { entry, file, handle } of items) {
      if (file && !(entry && entry.isDirectory)) {
        list.push(asFile(file));
        continue;
      }
      const found = [];
      try {
        await walk(entry, found);
      } catch (error) {
        // A page that was opened from a disk gets no entries, but handles.
        found.length = 0;
        try { await walkHandle(await handle, entry.name, found); } catch { state.lost++; }
      }
      list.push(...found);
    }
    if (list.length === 0) schedule();
    await openFiles(list, root.dataset.waiting !== undefined);
  }

  addEventListener("dragover", (e) => { e.preventDefault(); e.dataTransfer.dropEffect = "copy"; root.dataset.drag = ""; });
  addEventListener("dragleave", (e) => { if (!e.relatedTarget) delete root.dataset.drag; });
  addEventListener("drop", (e) => {
    e.preventDefault();
    delete root.dataset.drag;
    dropped(e.dataTransfer).catch(fatal);
  });
  addEventListener("change", (e) => {
    const input = e.target;
    if (input.dataset && input.dataset.intake) {
      const list = [...input.files].map((f) => asFile(f));
      input.value = "";
      openFiles(list, root.dataset.waiting !== undefined).catch(fatal);
    }
  });

  /** What this tab has shown: the sample, or files of somebody. */
  const session = {
    get() { try { return sessionStorage.getItem("rollscope.shows") || ""; } catch { return ""; } },
    set(value) { try { sessionStorage.setItem("rollscope.shows", value); } catch { /* storage is forbidden */ } },
  };

  async function openSample() {
    const { answer } = await deskCall({ op: "sample" });
    const bytes = (b) => Uint8Array.fromBase64 ? Uint8Array.fromBase64(b) : Uint8Array.from(atob(b), (c) => c.charCodeAt(0));
    await openFiles(answer.files.map(({ path, data }) => asFile(new File([bytes(data)], path), path)));
    session.set("sample");
  }

  /** Names of what was opened, for the landing page; never content. */
  function remember(list) {
    try {
      const recent = JSON.parse(settings.get("recent") || "[]").filter((r) => r.name !== list[0].path);
      recent.unshift({ name: list[0].path, files: list.length, bytes: list.reduce((n, f) => n + f.size, 0), at: Date.now() });
      settings.set("recent", JSON.stringify(recent.slice(0, 8)));
    } catch { /* a damaged list is forgotten */ }
  }

  // ---- showing -------------------------------------------------------------------------------------------

  const parts = { settled: [], scrolled: [] }; // what other parts of the script do after a drawing, and as a table moves
  const windows = new Map();       // table id → first row in sight
  let timer = 0, drawing = false, again = false;

  /** Draw soon; many calls make one drawing. */
  function schedule(wait = 0) {
    if (timer && wait) return;
    clearTimeout(timer);
    timer = setTimeout(() => { timer = 0; draw(); }, wait);
  }

  function host() {
    const seconds = state.started ? ((state.ended || performance.now()) - state.started) / 1000 : 0;
    return {
      mode: runsURL ? "served" : script.src ? "page" : "file",
      theme: settings.get("theme"),
      reading: Boolean(state.started && !state.ended),
      cancelled: state.cancelled, bytes: state.bytes, total: state.total, seconds,
      requests: Math.max(0, performance.getEntriesByType("resource").length - state.baseline),
      alerts: state.alerts, failed: state.failed,
      lost: state.lost, unasked: state.query.failed,
      columns: { rollouts: settings.get("columns.rollouts"), tasks: settings.get("columns.tasks") },
    };
  }

  async function draw() {
    if (drawing) { again = true; return; }
    drawing = true;
    try {
      const { opened } = state, fragment = location.hash;
      const elsewhere = listed !== listKey();
      if (elsewhere) takePlaces();
      const { answer } = await deskCall({ op: "render", fragment, host: host(), windows: Object.fromEntries(windows) });
      if (state.opening || opened !== state.opened) answer.phase = "scanning";
      // Somebody may have gone elsewhere meanwhile; that is drawn next and must not be taken back.
      if (fragment !== location.hash) answer.fragment = undefined; else second(answer.query);
      apply(answer);
      if (elsewhere) for (const table of $$("[data-table][data-window]")) table.scrollTop = tops.get(placeOf(table)) || 0;
      if (answer.odd) {
        alertOnce("unknown_link", undefined, `The link says what means nothing here, and it was left out: ${answer.odd}.`, "The rest of it is shown.");
        schedule();
      }
      if (answer.hash.length && !hashing) hashFiles(answer.hash).then(() => schedule()).catch(fatal);
    } catch (error) {
      if (error.dead) await deskDied(error);
      else fatal(error);
    } finally {
      drawing = false;
      if (again) { again = false; schedule(); }
    }
  }

  // A list keeps its place for as long as filter and order stay, and gets it back by going back.
  const tops = new Map();          // list and key → pixels
  const froms = new Map();         // list and key → first row of the window
  let listed = "";
  const listKey = () => location.hash.replace(/^#/, "").split("&").filter((p) => /^(filter|sort|order|drop|apart|run)=/.test(p)).join("&");
  const placeOf = (table) => table.dataset.table + "?" + listed;

  /** The lists are others now: begin them at the top, or where they were when they were left. */
  function takePlaces() {
    listed = listKey();
    windows.clear();
    for (const [key, from] of froms) {
      const [id, of] = [key.slice(0, key.indexOf("?")), key.slice(key.indexOf("?") + 1)];
      if (of === listed) windows.set(id, from);
    }
  }

  let hashing = false;
  /** Tell the desk the sampled hashes of files. */
  async function hashFiles(list) {
    hashing = true;
    try {
      for (const file of list) {
        const { size, blob, url } = state.files[file];
        const { hash } = await desk.ask({ op: "hash", file: { size, blob, url } });
        await deskCall({ op: "hashed", file, hash });
      }
    } finally {
      hashing = false;
    }
  }

  function fatal(error) {
    console.error(error);
    root.dataset.state = "failed";
    const at = $("#region-alerts") || document.body;
    $("#broken")?.remove();
    const box = document.createElement("div");
    box.id = "broken";
    box.setAttribute("role", "alert");
    box.className = "alert";
    box.textContent = `Something went wrong inside the page: ${error.message || error}`;
    at.append(box);
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
        if (from.dataset.filter !== undefined && !from.hidden) to.hidden = false;
        if (from === document.activeElement && (from.tagName === "INPUT" || from.tagName === "TEXTAREA")) {
          to.value = from.value;
          for (const name of ["aria-expanded", "aria-activedescendant"]) {
            if (from.hasAttribute(name)) to.setAttribute(name, from.getAttribute(name));
          }
        }
        // A row that the keys have reached keeps the focus while more rows come in.
        if (from === document.activeElement && from.dataset.index !== undefined && from.dataset.index === to.dataset.index) to.tabIndex = from.tabIndex;
        if (from.id === "offers") return false;
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

  /** A text with its %XX read; one that holds none that can be read stays as it is. */
  function decoded(text, read = decodeURI) {
    try { return read(text); } catch { return text; }
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
    settle(answer.target);
  }

  /** After new markup: scrollers get their size, the place a link names comes into sight. */
  let target = "", said = "";
  function settle(wanted) {
    for (const table of $$("[data-table][data-window]")) attach(table);
    for (const chunk of $$("[data-chunk]")) watch(chunk);
    for (const part of parts.settled) part();
    recent();
    const say = $("[data-say]");
    if (say && say.dataset.say !== said) { said = say.dataset.say; $("#live").textContent = said; }
    if (wanted && wanted !== target) show(wanted);
    target = wanted || "";
  }

  function show(id) {
    const element = document.getElementById(id);
    if (!element) return;
    const box = element.closest("[data-scroller]");
    const tall = box && element.clientHeight > box.clientHeight * 0.8;
    element.scrollIntoView({ block: tall ? "start" : "center" });
    if (element.tabIndex >= -1 && element.hasAttribute("tabindex")) element.focus({ preventScroll: true });
  }

  /** Names of what was opened before, on the landing page. */
  function recent() {
    const box = $("[data-recent]");
    if (!box) return;
    let list = [];
    try { list = JSON.parse(settings.get("recent") || "[]"); } catch { /* a damaged list is forgotten */ }
    box.hidden = list.length === 0;
    const rows = list.map(({ name, files, bytes, at }) => {
      const item = $("[data-recent-item]", box).content.cloneNode(true);
      $("[data-name]", item).textContent = name;
      $("[data-detail]", item).textContent = `${files} ${files === 1 ? "file" : "files"} · ${size1000(bytes)}`;
      $("[data-when]", item).textContent = "opened " + new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
      return item;
    });
    $("[data-recent-list]", box).replaceChildren(...rows);
  }

  function size1000(n) {
    const units = ["B", "kB", "MB", "GB", "TB"];
    let i = 0;
    while (n >= 1000 && i < units.length - 1) { n /= 1000; i++; }
    return (i ? n.toFixed(2) : n) + " " + units[i];
  }

  function theme() {
    const chosen = settings.get("theme");
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen; else delete root.dataset.theme;
  }

  // A transcript is a row of chunks. Those near the window hold their turns, the others keep their height.
  const scrollers = new WeakMap(), watched = new WeakSet();
  function watch(chunk) {
    const box = chunk.closest("[data-scroller]");
    if (chunk.firstElementChild) {
      if (chunk.dataset.of === undefined) chunk.dataset.of = location.hash;
      else if (chunk.dataset.of !== location.hash) fill(chunk);
    } else if (!chunk.style.height) {
      chunk.style.height = Number(chunk.dataset.turns) * 240 + "px";
    }
    if (watched.has(chunk)) return;
    watched.add(chunk);
    if (!scrollers.has(box)) {
      scrollers.set(box, new IntersectionObserver((entries) => {
        for (const { target, isIntersecting, boundingClientRect } of entries) {
          if (isIntersecting) {
            if (!target.firstElementChild) fill(target);
          } else if (target.firstElementChild && target.isConnected) {
            target.style.height = boundingClientRect.height + "px";
            target.replaceChildren();
          }
        }
      }, { root: box, rootMargin: "1500px 0px" }));
    }
    scrollers.get(box).observe(chunk);
  }

  async function fill(chunk) {
    const of = location.hash;
    chunk.dataset.of = of;
    try {
      const { answer } = await deskCall({ op: "window", fragment: of, host: host(), table: "transcript", from: Number(chunk.dataset.chunk) });
      if (!chunk.isConnected || chunk.dataset.of !== of) return;
      patch(chunk, answer.html);
      chunk.style.height = "";
    } catch (error) {
      if (error.dead) await deskDied(error); else fatal(error);
    }
  }

  // A window table shows a few rows of many; the rest is the height of two spacers.
  const attached = new WeakSet();
  function attach(table) {
    size(table);
    if (attached.has(table)) return;
    attached.add(table);
    table.scrollTop = tops.get(placeOf(table)) || 0;
    table.addEventListener("scroll", () => moved(table), { passive: true });
    new ResizeObserver(() => moved(table)).observe(table);
  }

  function measure(table) {
    const height = Number(table.dataset.height) || 27;
    const total = Number(table.dataset.total) || 0;
    const sight = Math.ceil(table.clientHeight / height) + 1;
    const first = Math.max(0, Math.floor(table.scrollTop / height));
    return { height, total, sight, first };
  }

  // Browsers give up on elements of tens of millions of pixels, so very long tables scroll in scale.
  const TALLEST = 8_000_000;

  function size(table) {
    // Nothing here may ask for a layout: with new rows and old spacers the table would be shorter, and lose its place.
    const height = Number(table.dataset.height) || 27, total = Number(table.dataset.total) || 0;
    const from = Number(table.dataset.from) || 0;
    const body = $("[data-rows]", table) || table;
    const rows = body.querySelectorAll("[data-index]").length;
    const scale = Math.min(1, TALLEST / Math.max(1, total * height));
    stretch($("[data-space=above]", table), from * height * scale);
    stretch($("[data-space=below]", table), Math.max(0, total - from - rows) * height * scale);
  }

  /** Give a spacer its height: a table's is a cell, others are boxes. */
  function stretch(space, pixels) {
    if (!space) return;
    const cell = $("td", space);
    if (cell) cell.setAttribute("height", Math.round(pixels));
    else space.style.height = Math.round(pixels) + "px";
  }

  let moving = new Map();
  async function moved(table) {
    if (!table.isConnected) return; // it has left the page and is at the top of nothing
    const id = table.dataset.table;
    const { height, total, sight } = measure(table);
    const scale = Math.min(1, TALLEST / Math.max(1, total * height));
    const first = Math.min(Math.max(0, total - sight), Math.floor(table.scrollTop / (height * scale)));
    const from = Math.max(0, first - sight), to = Math.min(total, first + 2 * sight);
    const have = Number(table.dataset.from) || 0;
    const rows = table.querySelectorAll("[data-index]").length;
    windows.set(id, from);
    tops.set(placeOf(table), table.scrollTop);
    froms.set(placeOf(table), from);
    for (const part of parts.scrolled) part(table, first);
    if (first >= have && Math.min(first + sight, total) <= have + rows) return;
    if (moving.get(id)) { moving.set(id, "again"); return; }
    moving.set(id, "now");
    try {
      const { answer } = await deskCall({ op: "window", fragment: location.hash, host: host(), table: id, from, to });
      if (table.isConnected) {
        const body = $("[data-rows]", table);
        patch(body, answer.html);
        table.dataset.from = answer.from;
        table.dataset.total = answer.total;
        size(table);
        for (const part of parts.scrolled) part(table, first);
      }
    } catch (error) {
      if (error.dead) await deskDied(error);
      else fatal(error);
    }
    const more = moving.get(id) === "again";
    moving.delete(id);
    if (more && table.isConnected) moved(table);
  }

  // ---- acting --------------------------------------------------------------------------------------------

  addEventListener("hashchange", () => {
    state.alerts = state.alerts.filter((a) => a.code !== "unknown_link");
    schedule();
  });

  function save(name, bytes, type = "application/octet-stream") {
    const url = URL.createObjectURL(new Blob([bytes], { type }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }

  async function download(name, table) {
    if (table) {
      const { blob, rows } = await takeAlong(table, name.slice(name.lastIndexOf(".") + 1));
      save(name, blob);
      say(`${name} saved: ${rows} ${rows === 1 ? "row" : "rows"}.`);
      return;
    }
    const what = dark() ? "dark" : "light";
    const { bytes } = await deskCall({ op: "download", fragment: location.hash, host: host(), name, what }, { raw: true });
    save(name, bytes);
    say(name + " saved.");
  }

  /** The whole of a table in one of its forms, put together part by part. Bytes of files stay where they are. */
  async function takeAlong(table, form) {
    const pieces = [], fragment = location.hash;
    for (let from = 0; ;) {
      const { answer } = await deskCall({ op: "export", fragment, host: host(), table, form, from });
      if (answer.text) pieces.push(new Blob([answer.text]));
      for (const [file, offset, length] of answer.ranges) pieces.push(await rangeOf(file, offset, length), "\n");
      from = answer.next;
      if (answer.done) return { blob: new Blob(pieces, { type: "text/plain" }), rows: answer.next };
      say(`${answer.next} of ${answer.total} rows`);
    }
  }

  /** A range of a file: a part of its handle, or its bytes where they have to be fetched or unpacked. */
  async function rangeOf(file, offset, length) {
    const { blob, path } = state.files[file];
    if (blob && !/\.gz$/i.test(path)) return blob.slice(offset, offset + length);
    const { bytes } = await deskCall({ op: "bytes", file, offset, length }, { raw: true });
    return new Blob([bytes]);
  }

  /** A link that others can open: with the names, sizes and hashes of the files. */
  async function linkOf() {
    for (;;) {
      const { answer } = await deskCall({ op: "link", fragment: location.hash, host: host() });
      if (!answer.hash.length) return new URL(answer.fragment ? "#" + answer.fragment : "#", location.href).href;
      await hashFiles(answer.hash);
    }
  }

  async function copy(what, table) {
    let text;
    if (what === "link") {
      text = await linkOf();
    } else if (table) {
      text = await (await takeAlong(table, what)).blob.text();
    } else {
      const { bytes } = await deskCall({ op: "copy", fragment: location.hash, host: host(), what }, { raw: true });
      text = new TextDecoder().decode(bytes);
    }
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "offscreen";
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    say(what === "link" ? "Link copied." : "Copied.");
  }

  /** Tell people who listen and people who look. */
  function say(text) {
    const live = $("#live");
    if (live) live.textContent = text;
  }

  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

  const actions = {
    "open-files": () => $("[data-intake=files]").click(),
    "open-folder": () => $("[data-intake=folder]").click(),
    sample: () => openSample(),
    cancel,
    "clear-recent": () => { settings.set("recent", ""); recent(); },
    close: async () => { location.hash = ""; await reset(); schedule(); },
    theme: () => {
      settings.set("theme", dark() ? "light" : "dark");
      theme();
      schedule();
    },
    keys: () => { const d = $("#keys"); if (d.open) d.close(); else d.showModal(); },
    skip: () => { const main = $("#region-main"); main.focus(); main.scrollIntoView(); },
    filter: () => {
      const box = $("[data-filter]");
      if (box) box.hidden = false;
      const input = $("[data-filter-input]");
      if (input) { input.focus(); input.select(); }
    },
    link: () => copy("link"),
    // Out of a rollout, never out of the page: what was opened would be gone.
    back: () => { const way = $(".rollout-head .title a"); if (way) way.click(); },
  };

  /** Panels of the bar close when something else is meant. */
  function closePanels(but) {
    let closed = false;
    for (const panel of $$("details.pop[open]")) {
      if (panel.contains(but)) continue;
      panel.open = false;
      closed = true;
    }
    return closed;
  }

  addEventListener("click", (e) => {
    closePanels(e.target);
    const menu = e.target.closest("a") && e.target.closest("[popover]");
    if (menu && menu.matches(":popover-open")) menu.hidePopover();
    const way = e.target.closest("a[data-target]");
    if (way && way.getAttribute("href") === location.hash) show(way.dataset.target);
    const kept = e.target.closest("[data-save] a");
    if (kept) keep(kept.closest("[data-save]").dataset.save, kept.getAttribute("href"));
    const at = e.target.closest("[data-action],[data-download],[data-copy],[data-href]");
    if (!at) return;
    if (at.matches("label")) return; // the input it labels opens by itself
    if (at.dataset.href !== undefined) {
      if (e.target.closest("a,button,input,summary,label") && e.target.closest("a,button,input,summary,label") !== at) return;
      if (String(getSelection())) return;
      location.hash = at.dataset.href;
      return;
    }
    e.preventDefault();
    const { action, download: name, copy: what, of } = at.dataset;
    const work = name ? download(name, of) : what ? copy(what, of) : actions[action] && actions[action](at);
    Promise.resolve(work).catch(fatal);
  });

  /** Keep a choice for later visits: what a link says for "columns.<tab>" or "profile". */
  function keep(name, href) {
    settings.set(name, decoded(params(href)[name.split(".")[0]] || "", decodeURIComponent));
  }

  /** The values of a fragment as they are written there. */
  function params(hash) {
    return Object.fromEntries(hash.replace(/^[#?]/, "").split("&").filter(Boolean).map((p) => [p.split("=", 1)[0], p.slice(p.indexOf("=") + 1)]));
  }

  /** Change one value of the State in the URL; quiet leaves the history as it is. */
  function setParam(key, value, quiet) {
    const others = location.hash.replace(/^#/, "").split("&").filter((p) => p && !p.startsWith(key + "="));
    if (value) others.push(key + "=" + encodeURIComponent(value));
    const hash = "#" + others.join("&");
    if (hash === location.hash) return;
    if (quiet) { history.replaceState(null, "", hash); schedule(); } else location.hash = hash;
  }

  const visible = (el) => el.getClientRects().length > 0;

  // ---- start ---------------------------------------------------------------------------------------------

  theme();
  recent();
  // What stands behind the question mark is a State as well. Without any, the rules are those chosen before.
  if (location.hash.length < 2) {
    const first = location.search.slice(1) || (settings.get("profile") ? "profile=" + settings.get("profile") : "");
    if (first) history.replaceState(null, "", location.pathname + "#" + first);
  }
  const loading = $("[data-loading]");
  if (loading) loading.textContent = "Reader loading. Files dropped now are queued.";
  const booted = boot();
  booted.then(async (listed) => {
    const opens = state.opening || listed || (root.dataset.sample !== undefined && session.get() !== "files");
    root.dataset.state = opens ? "scanning" : "idle";
    if (loading) loading.textContent = "";
    for (const input of $$("[data-intake]")) {
      if (input.files && input.files.length) openFiles([...input.files].map((f) => asFile(f))).catch(fatal);
    }
    if (state.opening || state.opened) {
      // What a person has given while the page started is what they want to see.
    } else if (listed) {
      const list = listed.map(({ path, size, url }) => ({ path, size, url: new URL(url, location.href).href }));
      await openFiles(list);
    } else if (root.dataset.sample !== undefined && !params(location.hash).files) {
      await openSample();
    }
    schedule();
    // Requests since loading are counted in the lock; the entries of workers are not seen here, their policy is.
    performance.setResourceTimingBufferSize?.(10_000);
  }).catch((error) => {
    state.failed = error.message;
    fatal(error);
  });

  // For tests and the curious: a worker can be made to fail, as the browser does it when memory runs out.
  window.rollscope = {
    // For the other parts of this script.
    page: { $, $$, root, settings, sleep, deskCall, deskDied, host, fatal, patch, schedule, say, actions, closePanels, setParam, params, keep, visible,
      measure, moved, TALLEST, parts },
    status: () => ({ tasks: state.tasks.length, active: state.active, bytes: state.bytes, total: state.total, started: state.started, ended: state.ended,
      opening: state.opening, drawing, again, timer, busy: scanners.map((s) => s.busy && s.task) }),
    crashScanner: () => scanners[0] && scanners[0].worker.ask({ op: "crash" }).catch(() => {}),
    crashDesk: () => desk.ask({ op: "crash" }).catch((e) => deskDied(e)),
    memory: async () => ({ desk: (await desk.ask({ op: "memory" })).bytes, scanners: await Promise.all(scanners.map(async (s) => (await s.worker.ask({ op: "memory" })).bytes)) }),
  };
})();
