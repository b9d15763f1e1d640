// Notes on rollouts. They are kept by the browser for the file that they were written on, which is known by its sampled
// hash, so they are there again wherever the same file is opened. What cannot be kept stays in the page, and is said.
"use strict";

(() => {
  const { $, $$, state, actions, crew, kept, notes, notices, parts, view } = window.rollscope.page;

  const PREFIX = "rollscope.notes.";
  const PAUSE = 400;               // ms without a key until a note is kept
  const LONGEST = 5_000_000;       // characters of a note that is imported: browsers keep no more

  // A set is what is written on one file: {name, size, hash, notes, unkept, risk}. notes are {line, task, repeat, text,
  // at} by their lines, unkept the lines that the browser did not take, risk tells that they are in no saved file either.
  const made = (name, size, hash, list = []) => ({ name, size, hash, notes: new Map(list.map((n) => [n.line, n])), unkept: new Set(), risk: false });

  const loose = new Map();         // by hash: sets of which something is not kept
  const mine = new Map();          // open file → its set
  let others = [];                 // {file, set}: sets of other versions of open files
  const shown = new Set();         // hashes of those that somebody wants to see

  // ---- the storage ---------------------------------------------------------------------------------------

  const good = (n) => Number.isSafeInteger(n?.line) && n.line > 0 && typeof n.text === "string" && n.text.trim() &&
    ["task", "repeat"].every((key) => typeof (n[key] ?? "") === "string");
  const plain = ({ line, task, repeat, text, at }) => ({ line, task: task ?? "", repeat: repeat ?? "", text, at: typeof at === "string" && at.length < 40 && Date.parse(at) ? at : "" });

  function parsed(hash, text) {
    try {
      const { name, size, notes: list } = JSON.parse(text);
      return made(String(name), Number(size), hash, list.filter(good).map(plain));
    } catch { return null; }       // damaged, or of another version
  }

  /** All sets there are: those in the storage, with what is in this page alone. */
  function all() {
    const sets = new Map();
    try {
      for (let n = 0; n < localStorage.length; n++) {
        const key = localStorage.key(n);
        if (!key.startsWith(PREFIX)) continue;
        const set = parsed(key.slice(PREFIX.length), localStorage.getItem(key));
        if (set) sets.set(set.hash, set);
      }
    } catch { /* nothing is stored here */ }
    for (const [hash, set] of loose) sets.set(hash, set);
    return [...sets.values()];
  }

  let refused = "";                // why the browser did not take a note

  /** Keep some lines of a set. Another tab may have written others meanwhile, and these stay. */
  function keep(set, lines) {
    const key = PREFIX + set.hash;
    for (const line of lines) set.unkept.add(line);
    try {
      const text = localStorage.getItem(key), there = text && parsed(set.hash, text);
      const merged = new Map(there ? there.notes : []);
      for (const line of there ? set.unkept : set.notes.keys()) {
        if (set.notes.has(line)) merged.set(line, set.notes.get(line)); else merged.delete(line);
      }
      if (merged.size) {
        localStorage.setItem(key, JSON.stringify({ name: set.name, size: set.size, notes: [...merged.values()].sort((a, b) => a.line - b.line) }));
      } else {
        localStorage.removeItem(key);
      }
      set.notes = merged;
      set.unkept.clear();
      set.risk = false;
      loose.delete(set.hash);
    } catch (error) {
      refused = error.name === "QuotaExceededError" ? "the browser has no room left for them" : "this browser lets the page store nothing";
      set.risk = true;
      loose.set(set.hash, set);
    }
    warn();
  }

  /** Say loudly what is not kept, for as long as that is so. */
  function warn() {
    const before = state.alerts.find((a) => a.code === "unkept_note")?.text;
    state.alerts = state.alerts.filter((a) => a.code !== "unkept_note");
    const n = [...loose.values()].reduce((sum, set) => sum + set.unkept.size, 0);
    if (n) {
      notices.alert("unkept_note", undefined, `${n === 1 ? "1 note is" : `${n} notes are`} not kept: ${refused}.`,
        `Leaving this page loses ${n === 1 ? "it" : "them"}. “Notes” saves all notes to a file.`);
    }
    const now = state.alerts.find((a) => a.code === "unkept_note")?.text;
    if (now !== before) view.schedule();
  }

  addEventListener("beforeunload", (e) => {
    flush();
    if (!pending.size && ![...loose.values()].some((set) => set.risk)) return;
    e.preventDefault();
    e.returnValue = true;
  });

  // ---- the files -----------------------------------------------------------------------------------------

  const hashes = new WeakMap();    // file → {size, hash}

  /** The sampled hash of an open file as it is now. */
  async function hashOf(file) {
    const known = hashes.get(file);
    if (known?.size === file.size) return known.hash;
    const { size } = file, hash = await crew.hashOf(file);
    hashes.set(file, { size, hash });
    return hash;
  }

  const baseOf = (path) => path.slice(path.lastIndexOf("/") + 1);

  /** Whether two paths can be of the same file: one is the end of the other. */
  const sameName = (a, b) => a === b || a.endsWith("/" + b) || b.endsWith("/" + a);

  /** Find the sets of the files that are open, and tell the desk. */
  let meeting = 0;
  async function meet() {
    const turn = ++meeting, found = new Map(), besides = [];
    let sets = all();
    for (const file of new Set([...state.sources.values()].map((n) => state.files[n]))) {
      if (!file || !sets.length) continue;
      const same = sets.filter((s) => s.size === file.size), named = sets.filter((s) => sameName(s.name, file.path));
      // Who cannot be read has no notes.
      const hash = same.length ? await hashOf(file).catch(() => "") : "";
      let set = hash && same.find((s) => s.hash === hash);
      for (const s of named) {
        if (s.size >= file.size || await crew.hashOf(file, s.size).catch(() => "") !== s.hash) continue;
        // More has come behind what the notes are on, so they are on this file as well.
        const now = await hashOf(file).catch(() => "");
        if (turn !== meeting) return;
        if (!now) continue;
        set = set || made(file.path, file.size, now);
        for (const [line, note] of s.notes) if (!set.notes.has(line)) set.notes.set(line, note);
        keep(set, s.notes.keys());
        if (!set.unkept.size) forget(s);
        sets = sets.filter((one) => one !== s);
      }
      if (turn !== meeting) return;
      if (set) found.set(file, set);
      for (const s of named) if (s !== set && sets.includes(s)) besides.push({ file, set: s });
    }
    // Of files with the same name the set belongs to the one it was written on.
    const taken = new Set([...found.values()].map((set) => set.hash));
    mine.clear();
    for (const [file, set] of found) mine.set(file, set);
    others = besides.filter(({ set }) => !taken.has(set.hash));
    await tell();
    warn();
  }

  /** What a set held is kept elsewhere now. */
  function forget({ hash }) {
    loose.delete(hash);
    try { localStorage.removeItem(PREFIX + hash); } catch { /* it stays, and is found again */ }
  }

  let told = false;                // the desk has notes
  async function tell() {
    const list = [];
    const add = (file, set, other) => {
      const n = state.files.indexOf(file);
      if (n >= 0) for (const { line, task, repeat, text } of set.notes.values()) list.push({ file: n, line, task, repeat, text, other });
    };
    for (const [file, set] of mine) add(file, set, false);
    for (const { file, set } of others) if (shown.has(set.hash)) add(file, set, true);
    if (!list.length && !told) return mark();
    told = list.length > 0;
    await crew.call({ op: "notes", notes: list });
    mark();
    view.schedule();
  }

  /** The number of notes, on the button beside the filter. */
  function mark() {
    const button = $("[data-kept=count-notes]");
    if (!button) return;
    const n = [...mine.values()].reduce((sum, set) => sum + set.notes.size, 0), more = beside();
    const text = n ? `Notes ${n}` : "Notes";
    if (button.textContent !== text) button.textContent = text;
    button.title = more ? `E – ${more} on another version of a file` : "E";
  }

  const beside = () => others.reduce((sum, { set }) => sum + (shown.has(set.hash) ? 0 : set.notes.size), 0);

  // ---- the field -----------------------------------------------------------------------------------------

  const field = () => $("[data-note]");
  const pending = new Map();       // what is typed and not yet kept: section's place → {file, note, timer}

  /** What the field on the page is about. */
  function placeOf(section) {
    const { file, line, task, repeat } = section.dataset;
    return { file: state.files[Number(file)], line: Number(line), task, repeat };
  }

  const keyOf = ({ file, line }) => `${file?.path}\n${line}`;

  function typed(section, text) {
    const place = placeOf(section), key = keyOf(place);
    if (!place.file) return;
    clearTimeout(pending.get(key)?.timer);
    const note = { line: place.line, task: place.task, repeat: place.repeat, text: text.trim() ? text : "", at: new Date().toISOString() };
    pending.set(key, { file: place.file, generation: state.generation, note, timer: setTimeout(() => settle(key), PAUSE) });
  }

  /** Keep what is typed, as soon as the hash of the file is known. */
  async function settle(key) {
    const one = pending.get(key);
    if (!one) return;
    const file = asNow(one);
    try {
      await hashOf(file);
    } catch {
      hashes.set(file, { size: file.size, hash: `unread-${file.size}-${baseOf(file.path)}` }); // it goes by its name then
    }
    flush(key);
  }

  /** The file of a note; one that has grown meanwhile is another entry of the list. */
  function asNow({ file, generation }) {
    return generation === state.generation && state.files.find(({ path }) => path === file.path) || file;
  }

  /** Keep at once what can be kept: of one place, or of all. */
  function flush(only) {
    for (const [key, one] of [...pending]) {
      if (only && key !== only) continue;
      const { note, timer } = one, file = asNow(one), known = hashes.get(file);
      if (known?.size !== file.size) continue;
      clearTimeout(timer);
      pending.delete(key);
      put(file, known.hash, note);
    }
  }

  /** Take a note in, or away where it has no text. */
  function put(file, hash, note) {
    const set = mine.get(file) || all().find((s) => s.hash === hash) || made(file.path, file.size, hash);
    const before = set.notes.get(note.line);
    if (!before && !note.text || before?.text === note.text) return;
    if (note.text) set.notes.set(note.line, note); else set.notes.delete(note.line);
    keep(set, [note.line]);
    if (state.files.includes(file)) {
      mine.set(file, set);
      const { line, task, repeat, text } = note;
      told = true;
      crew.call({ op: "notes", add: true, notes: [{ file: state.files.indexOf(file), line, task, repeat, text }] }).then(() => view.schedule(120)).catch((e) => { if (!e.dead) notices.failed(e); });
    }
    mark();
    fill();
  }

  /** Bring the field on the page up to date; nobody's typing is touched. */
  function fill() {
    const section = field();
    if (!section) return;
    const inside = kept.filled("note"), area = $("textarea", inside), place = placeOf(section), key = keyOf(place);
    const set = mine.get(place.file), note = set?.notes.get(place.line), typing = pending.get(key)?.note;
    const text = typing ? typing.text : note ? note.text : "";
    if (area.dataset.of !== key || document.activeElement !== area && area.value !== text) area.value = text;
    area.dataset.of = key;
    $("[data-note-when]", inside).textContent = typing ? "not kept yet" : note ? `kept ${note.at ? kept.when(note.at) : ""}` : "";
    const lost = set?.unkept.has(place.line);
    const error = $("[data-note-unkept]", inside);
    error.hidden = !lost;
    if (lost) {
      error.textContent = `Not kept: ${refused.replace("for them", "for it")}. The note is lost when this page is left.`;
      $("[data-note-when]", inside).textContent = "in this page alone";
    }
  }

  addEventListener("input", (e) => {
    if (!e.target.matches?.("[data-note-text]")) return;
    typed(field(), e.target.value);
    $("[data-note-when]").textContent = "not kept yet";
  });
  addEventListener("focusin", (e) => {
    if (e.target.matches?.("[data-note-text]")) hashOf(placeOf(field()).file).catch(() => {}); // known before it is needed
  });
  addEventListener("focusout", (e) => {
    if (e.target.matches?.("[data-note-text]")) for (const key of [...pending.keys()]) settle(key);
  });
  for (const name of ["pagehide", "hashchange"]) addEventListener(name, () => flush());
  document.addEventListener("visibilitychange", () => flush());
  addEventListener("storage", (e) => { if (e.key === null || e.key.startsWith(PREFIX)) meet().catch(notices.failed); });

  // ---- the list ------------------------------------------------------------------------------------------

  const dialog = $("#notes"), find = $("[data-notes-find]", dialog);

  /** The sets that the list is about: those of the open files, or all there are where none is open. */
  const listed = () => state.files.length ? [...mine].map(([file, set]) => ({ file, set })) : all().map((set) => ({ set }));

  async function list() {
    const answer = state.files.length && told ? (await crew.call({ op: "noted", fragment: location.hash, host: view.host() })).answer.list : [];
    const at = new Map(answer.filter((n) => n.rollout).map((n) => [`${n.file} ${n.line} ${n.other}`, n]));
    const rows = [];
    const add = ({ file, set }, other) => {
      for (const note of [...set.notes.values()].sort((a, b) => a.line - b.line)) {
        const row = $("[data-note-item]", dialog).content.firstElementChild.cloneNode(true);
        const link = $("a", row), there = at.get(`${state.files.indexOf(file)} ${note.line} ${other}`);
        const name = note.task || note.repeat ? `${note.task}-${note.repeat}` : `line ${note.line}`;
        link.textContent = name;
        if (there?.href) link.href = there.href; else link.removeAttribute("href");
        $(".muted", row).textContent = [there?.rollout || `${set.name}:${note.line}`, note.at && kept.when(note.at), other && "of another version", set.unkept.has(note.line) && "not kept"].filter(Boolean).join(" · ");
        $(".text", row).textContent = note.text;
        const button = $("button", row);
        button.setAttribute("aria-label", `Remove the note on ${name}`);
        Object.assign(button.dataset, { of: set.hash, line: note.line });
        rows.push(row);
      }
    };
    for (const one of listed()) add(one, false);
    for (const one of others) if (shown.has(one.set.hash)) add(one, true);
    $("[data-notes-list]", dialog).replaceChildren(...rows);
    $("[data-notes-others]", dialog).replaceChildren(...others.filter(({ set }) => !shown.has(set.hash)).map(({ file, set }) => {
      const row = $("[data-notes-other]", dialog).content.firstElementChild.cloneNode(true), n = set.notes.size;
      const last = [...set.notes.values()].map((note) => note.at).sort().at(-1);
      $("span", row).textContent = `${n === 1 ? "1 note belongs" : `${n} notes belong`} to another version of this file: ${file.path}, ${set.size.toLocaleString("en-US")} bytes${last ? `, last written ${kept.when(last)}` : ""}.`;
      $("button", row).dataset.of = set.hash;
      return row;
    }));
    for (const name of ["notes.json", "notes.md"]) $(`[data-download="${name}"]`, dialog).disabled = !listed().some(({ set }) => set.notes.size);
    narrow();
  }

  function narrow() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean), rows = [...$$("[data-notes-list] li", dialog)];
    let n = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((w) => text.includes(w));
      if (!row.hidden) n++;
    }
    $("[data-notes-count]", dialog).textContent = !rows.length
      ? state.files.length ? "There is no note on what is open. “e” on the page of a rollout writes one." : "There are no notes in this browser."
      : words.length ? `${n} of ${rows.length} notes` : rows.length === 1 ? "1 note" : `${rows.length} notes`;
    find.parentElement.hidden = !rows.length;
  }

  find.addEventListener("input", narrow);
  dialog.addEventListener("click", (e) => { if (e.target.closest("a[href]")) dialog.close(); });
  dialog.addEventListener("close", () => { find.value = ""; });

  const setOf = (hash) => listed().concat(others).map(({ set }) => set).find((set) => set.hash === hash);

  Object.assign(actions, {
    note: () => {
      const section = field();
      if (!section) return notices.tell("Open a rollout to write a note on it.");
      kept.filled("note");
      const area = $("textarea", section), facts = area.closest("[popover]");
      if (!area.getClientRects().length && facts) facts.showPopover();
      fill();
      area.focus();
      area.setSelectionRange(area.value.length, area.value.length);
    },
    notes: async () => {
      if (dialog.open) return dialog.close();
      flush();
      await list();
      dialog.showModal();
      if (!find.parentElement.hidden) find.focus();
    },
    "show-notes": async ({ dataset: { of } }) => {
      shown.add(of);
      await tell();
      await list();
      find.focus();
    },
    "remove-note": async ({ dataset: { of, line } }) => {
      const set = setOf(of), note = set.notes.get(Number(line));
      const again = async (change) => {
        change();
        keep(set, [note.line]);
        await tell();
        mark();
        fill();
        if (dialog.open) await list();
      };
      await again(() => set.notes.delete(note.line));
      (find.parentElement.hidden ? $("[data-action=notes]", dialog) : find).focus();
      kept.offer("The note is removed.", () => again(() => set.notes.set(note.line, note)));
    },
  });

  // ---- out and in ----------------------------------------------------------------------------------------

  const whole = ({ set: { name, size, hash, notes: map } }) => ({ name, size, hash, notes: [...map.values()].sort((a, b) => a.line - b.line) });
  const saved = () => { for (const { set } of listed()) set.risk = false; };

  parts.downloads["notes.json"] = () => {
    saved();
    return kept.json("notes", { files: listed().map(whole).filter((f) => f.notes.length) });
  };

  parts.downloads["notes.md"] = () => {
    saved();
    const texts = [];
    for (const one of listed().filter(({ set }) => set.notes.size)) {
      const { name, size, hash, notes: list } = whole(one);
      texts.push(`# Notes on ${name.replace(/[\\`*_[\]<>#]/g, "\\$&")}\n\n${size.toLocaleString("en-US")} bytes, sampled SHA-256 \`${hash}\`\n`);
      for (const { line, task, repeat, text, at } of list) {
        const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) || []).map((run) => run.length + 1)));
        texts.push(`## ${task || repeat ? `${task}-${repeat}`.replace(/[\\`*_[\]<>#]/g, "\\$&") + ", line " : "Line "}${line}\n\n${fence}text\n${text}\n${fence}\n${at ? `\n${at}\n` : ""}`);
      }
    }
    return texts.join("\n");
  };

  kept.readers.notes = async ({ files }) => {
    if (!Array.isArray(files)) throw new Error("it has no list of files with notes");
    files.forEach((f, n) => {
      const fine = typeof f?.name === "string" && Number.isSafeInteger(f.size) && f.size >= 0 && typeof f.hash === "string" && /^[0-9a-f]{16,64}$|^unread-/.test(f.hash) && Array.isArray(f.notes);
      if (!fine) throw new Error(`its file ${n + 1} has no name, size, hash or notes`);
      f.notes.forEach((note, k) => {
        if (!good(note)) throw new Error(`note ${k + 1} of its file ${n + 1} has no line or text`);
        if (note.text.length > LONGEST) throw new Error(`note ${k + 1} of its file ${n + 1} is too long`);
      });
    });
    const sets = new Map([...all(), ...mine.values()].map((set) => [set.hash, set])), undo = [];
    let added = 0, newer = 0, stood = 0;
    for (const f of files) {
      const set = sets.get(f.hash) || made(f.name, f.size, f.hash), lines = [];
      sets.set(set.hash, set);
      for (const note of f.notes.map(plain)) {
        const before = set.notes.get(note.line);
        if (before && (before.text === note.text || before.at >= note.at)) { stood++; continue; }
        if (before) newer++; else added++;
        lines.push(note.line);
        undo.push({ set, line: note.line, before });
        set.notes.set(note.line, note);
      }
      if (lines.length) keep(set, lines);
    }
    const refresh = async () => {
      await meet();
      if (dialog.open) await list();
    };
    await refresh();
    const counts = [`${added} ${added === 1 ? "note" : "notes"} imported`, newer && `${newer} replaced by a later one`, stood && `${stood} left as they were`].filter(Boolean).join(", ") + ".";
    if (!undo.length) return notices.tell(counts);
    kept.offer(counts, async () => {
      for (const { set, line, before } of undo) if (before) set.notes.set(line, before); else set.notes.delete(line);
      for (const set of new Set(undo.map((u) => u.set))) keep(set, undo.filter((u) => u.set === set).map((u) => u.line));
      await refresh();
    });
  };

  // Files come, go and grow; each of that is seen at the next drawing.
  let met = "";
  parts.settled.push(() => {
    let bytes = 0;
    for (const n of state.sources.values()) bytes += state.files[n]?.size || 0;
    const now = `${state.generation} ${state.version} ${state.sources.size} ${bytes}`;
    if (now !== met) {
      if (!now.startsWith(met.split(" ")[0] + " ")) told = false; // the desk begins anew
      met = now;
      meet().catch((error) => { if (!error.dead) notices.failed(error); });
    }
    mark();
    fill();
  });

  Object.assign(notes, { all });
})();
