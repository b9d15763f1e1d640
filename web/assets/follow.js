// Following: what has become of the files is looked at again and again while somebody looks at the page. A file that
// was picked is asked through its handle, a served run through the list of its files. What is new is read beside what is
// shown, see "grow" of the module's boundary, and the page goes over to it as a whole.
"use strict";

(() => {
  const { $, $$, root, runsURL, state, sleep, counted, parts, actions, crew, scan, intake, notices, view, lists, follow } = window.rollscope.page;

  const EVERY = 2000;              // ms between two looks
  const SLOWER = 4;                // a look waits that many times as long as the one before took, if that is longer
  const HELD = 256;                // rollouts files whose content is held against what was read of it
  const FEW = 64;                  // files up to which folders are listed at every look
  const MOST = 5;                  // files that a message names one by one
  const STAYS = "What was read stays. What comes back is followed again.";
  const LOUD = 15_000;             // ms between two numbers that are spoken

  let on = root.dataset.follow !== undefined, ever = on;
  let timer = 0, serial = 0, looks = 0;
  let generation = -1, first;      // of the files that the marks belong to, and one of these
  let news = "", since = 0, spoken = 0, trouble = "";
  const marks = new Map();         // file → {tag, copy, hash, gone}

  let running = null;              // the round under way

  // Files that a person has given meanwhile are none of the server's; those that were closed are not opened again.
  const served = () => Boolean(runsURL) && root.dataset.follow !== undefined && (state.files.length ? state.files.every((f) => f.url !== undefined) : !state.opened);
  const picked = () => state.files.some((f) => f.handle || f.below);
  const possible = () => served() || picked();

  /** What the desk is told: "" where there is nothing that could be followed, off or on. */
  const mode = () => possible() ? on ? "on" : "off" : "";

  // ---- looks ---------------------------------------------------------------------------------------------

  /** Whether files are being read: what was read of them is not all in yet. */
  const busy = () => state.opening || state.listing || state.active || state.tasks.length || state.failed || state.files.length && !state.ended;

  async function look() {
    clearTimeout(timer);
    timer = 0;
    const mine = ++serial;
    if (!on || document.hidden || !possible()) return strip();
    const began = performance.now();
    let problem = "";
    const rest = running;          // of a look before this one
    try {
      await rest?.catch(() => {});
      if (mine !== serial) return;
      if (!busy()) await (running = round(() => mine === serial));
    } catch (error) {
      if (mine !== serial) return;
      if (error.dead) await crew.died(error);
      problem = error.message.split("\n")[0];
    }
    if (mine !== serial) return;
    if (problem && problem !== trouble) notices.say(problem);
    trouble = problem;
    strip();
    timer = setTimeout(look, Math.max(EVERY, SLOWER * (performance.now() - began)));
  }

  /** One look at what has become of the files, and what follows from it. */
  async function round(current) {
    const now = await list();
    if (!current()) return;
    if (!state.files.length) {
      if (now.length) intake.openFiles(now).catch(notices.fatal);
      return;
    }
    const paths = new Map(now.map((one) => [one.path, one]));
    const changes = [], known = new Set(), rows = new Set(state.sources.values());
    const lost = [];
    let drawn = false;
    for (const [file, old] of state.files.entries()) {
      known.add(old.path);
      const mark = marks.get(file) || {}, one = paths.get(old.path);
      if (!one || one.gone) {
        if (!mark.gone && (one || served())) {
          marks.set(file, { ...mark, gone: true });
          lost.push(file);
        }
        continue;
      }
      if (mark.gone) {
        state.alerts = state.alerts.filter((a) => a.help !== STAYS || a.path && a.path !== old.path);
        drawn = true;
      }
      const before = { tag: mark.tag ?? tagOf(old), copy: mark.copy ?? old.copy ?? 0 };
      if (one.tag === before.tag && one.size === old.size && !mark.gone) continue;
      const change = { file, one, anew: false, code: "" };
      if (rows.has(file)) {
        const same = one.size >= old.size && mark.hash && await crew.hashOf(one, old.size) === mark.hash;
        if (!current()) return;
        change.other = (one.copy || 0) > before.copy;
        if (one.size < old.size) change.code = "truncated";
        else if (change.other || mark.hash && !same) change.code = "replaced";
        change.anew = Boolean(change.code) || !same;
        if (!change.anew && one.size === old.size) {
          renew(file, one);
          continue;
        }
      }
      changes.push(change);
    }
    const added = now.filter((one) => !known.has(one.path) && !one.gone);
    for (const file of lost.length > MOST ? [undefined] : lost) {
      const text = file === undefined ? `${lost.length} files are no longer there.` : "The file is no longer there.";
      notices.alert("vanished", file, text, STAYS);
    }
    if (drawn || lost.length) view.schedule();
    if (changes.length || added.length) await step(changes, added, current);
  }

  /** The files as they are now: {path, size, tag, copy, url | blob, handle}, or {path, gone}. */
  async function list() {
    if (served()) {
      let response;
      try {
        response = await fetch(runsURL, { cache: "no-store" });
      } catch {
        throw new Error("the server does not answer; what was read stays");
      }
      if (!response.ok) throw new Error(`the server answered ${response.status}; what was read stays`);
      return crew.served(await response.json());
    }
    const files = await Promise.all(state.files.map(async (file) => {
      const handle = await intake.handleOf(file), { path } = file;
      if (!handle) return { ...file, tag: tagOf(file) };
      try {
        return asNow(path, await handle.getFile(), handle);
      } catch (error) {
        if (error.name === "NotFoundError") return { path, gone: true };
        if (error.name === "NotAllowedError") throw new Error("the browser no longer lets this page read the files");
        throw error;
      }
    }));
    if (looks++ % 8 > 0 && files.length > FEW) return files;
    const known = new Set(files.map(({ path }) => path));
    for (const folder of await folders()) {
      await walk(folder, folder.name, known, files).catch(() => {}); // it is gone: its files are said to be
    }
    return files;
  }

  const asNow = (path, blob, handle) => Object.assign({ path, size: blob.size, blob, handle }, { tag: tagOf({ blob }) });

  /** What a file has beside its size that is another when it was written to. */
  function tagOf({ tag, blob }) { return tag ?? (blob ? String(blob.lastModified) : ""); }

  /** The folders that were picked or dropped. */
  async function folders() {
    const dropped = new Set(state.files.map((file) => file.below).filter(Boolean));
    const list = [...state.given, ...await Promise.all([...dropped].map((below) => Promise.resolve(below).catch(() => null)))];
    const kept = [];
    for (const one of list) {
      if (one?.kind !== "directory") continue;
      const twins = await Promise.all(kept.map((other) => other.isSameEntry(one)));
      if (!twins.includes(true)) kept.push(one);
    }
    return kept;
  }

  async function walk(folder, path, known, files) {
    for await (const inner of folder.values()) {
      const at = path + "/" + inner.name;
      if (inner.kind !== "file") await walk(inner, at, known, files);
      else if (!known.has(at)) await inner.getFile().then((blob) => files.push(asNow(at, blob, inner)), () => {});
    }
  }

  /** Hold on to what was read of rollouts files, so that it is known later on whether they still begin with it. */
  async function hold() {
    const { generation } = state;
    let n = 0;
    for (const file of state.sources.values()) {
      if (n++ === HELD || generation !== state.generation) return;
      const old = state.files[file], mark = marks.get(file) || {};
      if (!old || mark.hash !== undefined || mark.gone) continue;
      const tag = mark.tag ?? tagOf(old);
      const hash = await crew.hashOf(old).catch(() => null);
      if (generation !== state.generation || state.files[file] !== old) return;
      marks.set(file, { ...mark, tag, copy: mark.copy ?? old.copy ?? 0, hash });
    }
  }

  /** A file is as it was read. */
  function renew(file, { tag, copy = 0 }) {
    marks.set(file, { ...marks.get(file), tag, copy, gone: false });
  }

  // ---- steps ---------------------------------------------------------------------------------------------

  /** Read what has become of files, compare all of them anew, and show that. */
  async function step(changes, added, current) {
    const fresh = new Map(changes.map(({ file, one }) => [file, one]));
    const files = [...state.files.map((old, file) => fresh.get(file) || old), ...added];
    const { answer } = await crew.call({
      op: "grow", changes: changes.map(({ file, one, anew }) => ({ file, size: one.size, anew })), files: added.map(({ path, size }) => ({ path, size })),
    });
    if (!current()) return;
    // What is shown is read through the handles of now: those of before are void once a file was written to.
    for (const { file, one } of changes) if (one.blob) state.files[file].blob = one.blob;
    state.version++;
    const handles = files.map(crew.handleOf);
    let over = false;
    try {
      over = await read(answer, changes, added, handles, current);
    } finally {
      // What was scanned for it belongs nowhere else: all of it is in by now.
      if (!over && generation === state.generation) await crew.call({ op: "still" });
    }
    if (!over) return;
    view.schedule();
    await hold();
    // Drawing is part of what a look takes: on large runs most of it.
    for (let now = view.status(); now.drawing || now.again || now.timer; now = view.status()) await sleep(20);
  }

  /** Read and compare the files of a step, and go over to them; tells whether that was done. */
  async function read({ scan: tasks, anew }, changes, added, handles, current) {
    const ends = await Promise.allSettled(tasks.map((task) => scan.aside(task, handles[task.file])));
    const failed = ends.find(({ status }) => status === "rejected");
    if (failed) throw failed.reason;
    if (!current()) return false;
    for (;;) {
      const { answer } = await crew.call({ op: "grown" }, { files: handles });
      if (!current()) return false;
      if (answer.done) break;
    }
    // What a second scan finds is of the files before; none may come in behind the step.
    while (state.query.active || state.query.tasks.length) {
      await sleep(40);
      if (!current()) return false;
    }
    state.stepping = true;
    try {
      await goOver(changes, added, anew);
    } finally {
      state.stepping = false;
    }
    return true;
  }

  /** Go over to the files of a step. */
  async function goOver(changes, added, anew) {
    const fragment = location.hash, place = anchor();
    const { answer } = await crew.call({ op: "step", fragment });
    for (const { file, one } of changes) {
      state.total += one.size - state.files[file].size;
      state.files[file] = { ...state.files[file], ...one, broken: false };
      marks.delete(file);
      renew(file, one);
    }
    for (const one of added) state.total += one.size;
    state.files.push(...added);
    state.bytes = state.total;
    state.version++;
    answer.sources.forEach((file, source) => state.sources.set(source, file));
    state.query.rest = 0;          // what is new has not been asked
    state.cancelled = false;
    if (changes.some((change) => change.anew)) for (const part of parts.renewed) part();
    if (answer.fragment && fragment === location.hash) history.replaceState(null, "", "#" + answer.fragment);
    else if (place) await keep(place);
    tell(changes, added, anew, answer.rows);
  }

  /** Say what has come. */
  function tell(changes, added, anew, rows) {
    const read = new Set(anew);
    for (const { file, one, code, other } of changes) {
      const { path } = one;
      if (!code) {
        if (read.has(file)) notices.alert("read_anew", file, packed(path) ? "The packed file has changed." : "The file has changed.", packed(path) ? "There is no way into its middle: it is read from its start at every change." : "What it held before was not known, so it was read from its start.");
        continue;
      }
      const text = code === "truncated" ? "The file was truncated: it is shorter than what had been read of it."
        : other ? "The file was replaced: another one has taken its place." : "The file was replaced: it no longer begins with what had been read of it.";
      state.alerts = state.alerts.filter((a) => a.path !== path || !["truncated", "replaced"].includes(a.code));
      notices.alert(code, file, text, `It was read anew, and has ${one.size.toLocaleString("en-US")} bytes now.`);
    }
    const words = [];
    if (changes.some(({ code }) => code)) words.push("read anew");
    else if (rows > 0) words.push(counted(rows, "new row"));
    if (added.length) words.push(counted(added.length, "new file") + ": " + added.slice(0, 3).map(({ path }) => path.slice(path.lastIndexOf("/") + 1)).join(", ") + (added.length > 3 ? " …" : ""));
    const others = changes.filter(({ file, code }) => !code && ![...state.sources.values()].includes(file)).length;
    if (!words.length && others) words.push(counted(others, "file has changed", "files have changed"));
    if (!words.length) return;
    news = words.join(", ");
    since = performance.now();
    if (since - spoken > LOUD || added.length) {
      spoken = since;
      notices.say(news);
    }
  }

  const packed = (path) => /\.gz$/i.test(path);

  // ---- place ---------------------------------------------------------------------------------------------

  /** The row that is the first in sight, and the one that has the focus: rows can come in above them. */
  function anchor() {
    const table = $("[data-table=rollouts][data-window]");
    if (!table) return null;
    const top = table.getBoundingClientRect().top + ($("thead", table)?.offsetHeight || 0);
    const row = [...$$("[data-index]", table)].find((r) => r.getBoundingClientRect().bottom > top);
    if (!row || !table.scrollTop) return null;
    const focused = document.activeElement.closest?.("[data-table=rollouts] [data-rollout]");
    return { table, index: Number(row.dataset.index), rollout: row.dataset.rollout, focused: focused?.dataset.rollout };
  }

  let moving = null;
  async function keep(place) {
    const { answer } = await crew.call({ op: "where", fragment: location.hash, host: view.host(), text: place.rollout });
    const shift = answer.at - place.index;
    if (answer.at < 0 || shift === 0) return;
    lists.windows.set("rollouts", Math.max(0, (lists.windows.get("rollouts") || 0) + shift));
    moving = { ...place, shift };
  }

  parts.seen.push(() => {
    if (!moving || state.stepping) return;
    const { table, shift, focused } = moving;
    moving = null;
    if (table.isConnected) table.scrollTop += shift * (Number(table.dataset.height) || 27);
    const row = focused && $(`[data-rollout="${CSS.escape(focused)}"]`, table);
    if (row && row !== document.activeElement) { row.tabIndex = 0; row.focus({ preventScroll: true }); }
  });

  parts.settled.push(() => {
    if (generation !== state.generation && (state.files.length || generation < 0)) {
      const again = first !== undefined && state.files[0] === first; // a desk that has died reads the same files
      generation = state.generation;
      marks.clear();
      running = null;
      news = trouble = "";
      if (!again) on = ever = served();
      if (on) look(); else strip();
    } else if (!state.files.length) {
      strip();
    }
    first = state.files[0] || first;
    if (mode() && !busy()) hold();
  });

  // ---- switch --------------------------------------------------------------------------------------------

  /** The line that says what is followed. The module does not know of it. */
  let line = null;
  function strip() {
    const said = (on || ever) && possible();
    root.dataset.following = trouble ? "trouble" : on ? "on" : "paused";
    if (!said) {
      delete root.dataset.following;
      line?.box.replaceWith(line.box.lastChild);
      line = null;
      return;
    }
    if (!line) {
      // It stands in the place of the progress region, or of the listing around that, which it has below it.
      const make = (name, values) => Object.assign(document.createElement(name), values);
      const strip = make("div", { id: "follow", className: "reading" }), below = $("#listing") || $("#region-progress");
      line = { box: make("div", {}), word: make("b", {}), text: make("span", {}), button: make("button", { type: "button" }) };
      line.button.dataset.action = "live";
      strip.append(line.word, line.text, make("span", { className: "room" }), line.button);
      below.replaceWith(line.box);
      line.box.append(strip, below);
    }
    const ago = Math.round((performance.now() - since) / 1000);
    const when = ago < 2 ? "just now" : ago < 120 ? `${ago} s ago` : `${Math.round(ago / 60)} min ago`;
    line.word.textContent = on ? "Following" : "Paused";
    line.text.textContent = on && trouble ? trouble : news ? `${news} ${when}` : on ? "nothing new so far" : "";
    line.text.classList.toggle("muted", !trouble);
    line.button.textContent = on ? "Pause" : "Follow";
  }

  actions.live = () => {
    if (!possible() && !on) return;
    on = !on;
    ever = true;
    state.version++;               // the desk gets the handles, or gives them back
    if (on) look();
    else {
      serial++;                    // a look under way shows nothing any more
      clearTimeout(timer);
      trouble = "";
    }
    notices.say(on ? "following the files" : "no longer following the files");
    strip();
    view.schedule();
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) clearTimeout(timer); else if (on) look();
  });

  Object.assign(follow, { mode, look, on: () => on });
})();
