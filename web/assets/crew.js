// The workers of the page and the first of them, the desk: how they are made, asked and made again. The desk holds
// what was read; whatever the page shows is asked from it.
"use strict";

(() => {
  const { root, script, bytesOf, runsURL, bundle, state, crew, scan, intake, notices, offline, view, bundled, follow, share } = window.rollscope.page;

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
    self.ask({ op: "init", module: compiled, blocks: bundled.blocks }).catch(() => {});
    return self;
  }

  // ---- boot ----------------------------------------------------------------------------------------------

  /** The address of a part of the same version as this script. */
  function beside(name) {
    const url = new URL(name, script.src);
    url.search = new URL(script.src).search;
    return url;
  }

  async function text(id, name) {
    const inline = document.getElementById(id);
    if (inline) return inline.textContent;
    if (location.protocol === "file:") throw new Error("a browser opens no folder from a disk: serve it, or use the single file of the viewer instead");
    const response = await fetch(beside(name));
    if (!response.ok) throw new Error(`${name}: the server answered ${response.status}`);
    return response.text();
  }

  async function compile() {
    const inline = document.getElementById("rollscope-wasm");
    if (!inline) {
      const url = beside("rollscope.wasm");
      try {
        const response = await fetch(url);
        share.keepModule(response.clone().blob(), false); // later nothing can be fetched
        return await WebAssembly.compileStreaming(response);
      } catch {
        return WebAssembly.compile(await (await fetch(url)).arrayBuffer());
      }
    }
    const base64 = inline.textContent.trim();
    inline.remove();
    const kept = new Blob([bytesOf(base64)]);
    share.keepModule(kept, true);
    const stream = kept.stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(stream).arrayBuffer());
  }

  /** From here on nothing can be fetched, by the page or by workers made later. */
  function lock() {
    if (runsURL || root.dataset.blocks) return;
    const meta = document.createElement("meta");
    meta.httpEquiv = "Content-Security-Policy";
    meta.content = "connect-src 'none'";
    document.head.append(meta);
  }

  /** The files of a run as its server lists them. */
  const served = (list) => list.map(({ path, size, tag, copy, url }) => ({ path, size, tag, copy, url: new URL(url, location.href).href }));

  async function boot() {
    const kept = offline.prepare();
    const worker = text("rollscope-worker", "worker.js"), viewer = share.keep(worker);
    const [source, module] = await Promise.all([worker, compile()]);
    compiled = module;
    await viewer;
    let listed = null;
    if (runsURL) {
      listed = served(await (await fetch(runsURL, { cache: "no-store" })).json());
    }
    await kept;
    lock();
    workerURL = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    startDesk();
    if (bundle) listed = await bundled.open();
    scan.warm(scan.addScanner());
    state.baseline = performance.getEntriesByType("resource").length;
    return listed;
  }

  // ---- the desk ------------------------------------------------------------------------------------------

  let desk = null, told = "";      // which list of files it was told last

  function startDesk() { desk = spawn(() => {}); told = ""; }

  /** One message to the desk's worker, whatever it is about. */
  const ask = (message, move) => desk.ask(message, move);

  /** One request to the module behind the desk; raw answers are bytes. */
  async function call(request, options = {}) {
    await crew.booted;
    // The desk keeps the list: handles are cheap, lists of thousands are not.
    const { files } = options, list = `${state.generation} ${state.version}`;
    const message = { op: "desk", request, raw: options.raw, once: files };
    if (list !== told) message.files = state.files.map(handleOf);
    told = list;
    return ask(message);
  }

  /** What a worker needs to read a file: a handle, an address, or where it stands in the bundle. */
  function handleOf({ size, blob, url, at, handle }) { return { size, blob, url, at, handle: follow.on() ? handle : undefined }; }

  /** The sampled hash of a file, or of its first bytes. */
  async function hashOf(file, size = file.size) {
    await crew.booted;
    return (await ask({ op: "hash", file: { ...handleOf(file), size } })).hash;
  }

  /** Tell the desk the sampled hashes of files. */
  async function hashFiles(list) {
    crew.hashing = true;
    try {
      for (const file of list) {
        const hash = await hashOf(state.files[file]).catch((error) => {
          state.files[file].broken = true; // it is asked again only for somebody who wants it
          throw Object.assign(error, { file });
        });
        await call({ op: "hashed", file, hash });
      }
    } finally {
      crew.hashing = false;
    }
  }

  let reviving = false;
  /** The desk holds what was read; when it dies, everything is read again. */
  async function died(error) {
    if (reviving || !error.dead) { if (!error.dead) console.error(error); return; }
    reviving = true;
    const { files, given } = state;
    const again = state.deskDeaths++ === 0;
    startDesk();
    if (!again) {
      state.failed = "The reader stopped twice on these files. Reload the page and open fewer of them.";
      reviving = false;
      view.schedule();
      return;
    }
    await intake.openNow(files, false);
    state.given = given;
    notices.alert("worker_restarted", undefined, "The page's reader stopped and was started again; the files are read anew.", error.message.split("\n")[0]);
    reviving = false;
    view.schedule();
  }

  const crash = () => ask({ op: "crash" }).catch((e) => died(e));
  const memory = async () => (await ask({ op: "memory" })).bytes;

  Object.assign(crew, { boot, served, spawn, ask, call, died, handleOf, hashOf, hashFiles, crash, memory, hashing: false });
})();
