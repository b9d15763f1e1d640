// The scanners: ranges of files are handed to them, what they find goes to the desk. What a filter asks inside rows is
// a second scan of the same kind, and so is what a tab wants to know of every row.
"use strict";

(() => {
  const { state, parts, crew, scan, notices, view } = window.rollscope.page;

  const PIECE = 32 << 20;          // bytes of one scanning task
  const LONGEST = 1 << 30;         // bytes of the longest line that is read
  const ALONE = 400;               // ms that the first scanner has for itself, unless rows are shown before
  const WORKERS = Math.max(1, Math.min(4, navigator.hardwareConcurrency || 1));

  const scanners = [];
  state.query = noQuery();

  function addScanner() {
    const scanner = { busy: false, gone: false };
    scanner.worker = crew.spawn((event) => onScan(scanner, event));
    scanners.push(scanner);
    return scanner;
  }

  /** End the scanners that are at work: their files are no longer wanted. */
  function drop() {
    for (const s of scanners) if (s.busy) { s.worker.end(); s.gone = true; }
    for (let i = scanners.length - 1; i >= 0; i--) if (scanners[i].gone) scanners.splice(i, 1);
  }

  /** The first file does not wait for a scanner, nor for the browser to compile it well. */
  async function warm(scanner) {
    for (let i = 0; i < 20 && !scanner.busy && !scanner.gone; i++) {
      await scanner.worker.ask({ op: "warm" }).catch(() => {});
    }
  }

  /** Hand tasks to scanners as long as there are both. */
  function pump() {
    // What is shown first is not kept waiting by workers that start beside it.
    const alone = state.fresh && performance.now() - state.fresh < ALONE;
    const want = state.total > PIECE / 4 && !alone ? WORKERS : 1;
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
      view.schedule();
    }
  }

  async function run(scanner, task) {
    const generation = state.generation, of = task.query ? state.query : state;
    scanner.busy = true;
    scanner.task = task;
    of.active++;
    const { settled, handle, ...range } = task;
    try {
      await scanner.worker.ask({ op: "scan", ...range, file: handle || crew.handleOf(state.files[task.file]), maxLine: LONGEST });
      settled?.();
    } catch (error) {
      settled?.(error);
      if (generation !== state.generation || scanner.gone) return;
      if (error.dead) {
        scanner.gone = true;
        scanners.splice(scanners.indexOf(scanner), 1);
      }
      if (settled) notices.codeOf(error) || console.warn("step:", error.message);
      else if (task.query) failedQuery(task, error);
      else failedTask(task, error);
    }
    scanner.busy = false;
    if (generation !== state.generation) return;
    of.active--;
    pump();
    view.schedule();
  }

  /** Scan a range beside what is shown. It counts in no progress, and who has asked for it sees to its failure. */
  function aside(task, handle) {
    return new Promise((resolve, reject) => {
      state.tasks.push({ ...task, handle, tries: 0, settled: (error) => error ? reject(error) : resolve() });
      pump();
    });
  }

  /** A range that could not be read: try it once more after a worker's death, else say what is missing. */
  function failedTask(task, error) {
    if (error.dead && !state.cancelled) {
      notices.alert("worker_restarted", task.file, "The reader of this file stopped and was started again.", error.message.split("\n")[0]);
      if (task.tries++ < 1 && (task.packed || task.from < task.to)) {
        if (task.packed) state.bytes -= task.read || 0; // it is read from its start again
        task.read = 0;
        state.tasks.unshift(task);
        return;
      }
    }
    const code = notices.codeOf(error) || (error.dead ? "worker_restarted" : "vanished");
    const missing = task.packed ? `What follows byte ${task.from} of its content was` : `Bytes ${task.from} to ${task.to} were`;
    notices.unread(code, task.file, `${missing} not read: ${error.message}. ${code === "damaged_bundle" ? "What can be read of the bundle is shown; ask for it again." : "Open the file again to read it whole."}`);
    state.tasks = state.tasks.filter((t) => t.file !== task.file || code === "worker_restarted");
  }

  // ---- the second scan -----------------------------------------------------------------------------------

  function noQuery() { return { id: "", tasks: [], active: 0, rest: 0, failed: "", stopped: "" }; }

  /** Run the second scan that the filter or the tab needs, behind the first one. Another one ends it. */
  function second(wanted) {
    if (state.stepping) return;    // the page is drawn again behind the step
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
    if (!wanted || q.active || q.tasks.length || q.failed || id === q.stopped) return;
    const rest = wanted.scan.reduce((n, r) => n + r.to - r.from, 0);
    if (rest === q.rest) {
      q.failed = "they were read again without an answer.";
      return view.schedule();
    }
    q.rest = rest;
    q.tasks = wanted.scan.map((r) => ({ ...r, query: { id, filter: wanted.filter, probe: wanted.probe, search: wanted.search }, tries: 0 }));
    pump();
  }

  /** End the search that runs; what it has found stays. */
  function stopSearch() {
    const q = state.query;
    q.stopped = q.id;
    q.tasks = [];
    for (const s of scanners) if (s.busy && s.task.query) s.worker.ask({ op: "cancel" }).catch(() => {});
    view.schedule();
  }

  /** Search what is left. */
  function goOn() {
    Object.assign(state.query, { stopped: "", rest: 0, failed: "" });
    view.schedule();
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

  // ---- the audit -------------------------------------------------------------------------------------------

  /** Let the desk compare all files with each other once every row is in, a stretch at a time. */
  let auditing = false;
  async function audit() {
    if (auditing) return;
    auditing = true;
    const generation = state.generation;
    try {
      while (generation === state.generation && !(await crew.call({ op: "audit" })).answer.done);
    } catch (error) {
      if (generation === state.generation) await (error.dead ? crew.died(error) : notices.fatal(error));
    } finally {
      auditing = false;
      view.schedule();
    }
  }

  async function onScan(scanner, data) {
    const generation = state.generation;
    if (scanner.gone) return;
    if (data.event === "progress") {
      if (scanner.task.query || scanner.task.settled) return;
      state.bytes += data.bytes;
      scanner.task.read = (scanner.task.read || 0) + data.bytes;
      view.schedule(120);
      return;
    }
    // What has arrived is not scanned again if the worker dies.
    scanner.task.from = partialEnd(new Uint8Array(data.bytes));
    try {
      await crew.ask({ op: "add", bytes: data.bytes }, [data.bytes]);
    } catch (error) {
      if (generation === state.generation) await crew.died(error);
      return;
    }
    if (generation !== state.generation) return;
    view.schedule(state.fresh ? 0 : 120); // the first rows are shown at once
    state.fresh = 0;
  }

  parts.settled.push(() => { if (state.tasks.length) pump(); });

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

  function cancel() {
    state.cancelled = true;
    state.tasks = [];
    for (const s of scanners) if (s.busy) s.worker.ask({ op: "cancel" }).catch(() => {});
    notices.alert("cancelled", undefined, "Reading was cancelled.", "What has been read stays. Open the files again to read them whole.");
    view.schedule();
  }

  const crash = () => scanners[0] && scanners[0].worker.ask({ op: "crash" }).catch(() => {});
  const memory = () => Promise.all(scanners.map(async (s) => (await s.worker.ask({ op: "memory" })).bytes));
  const status = () => ({
    tasks: state.tasks.length, active: state.active, bytes: state.bytes, total: state.total, started: state.started, ended: state.ended,
    busy: scanners.map((s) => s.busy && s.task), second: state.query.active + state.query.tasks.length,
  });

  Object.assign(scan, { PIECE, aside, addScanner, drop, noQuery, second, stopSearch, goOn, audit, cancel, pump, warm, crash, memory, status });
})();
