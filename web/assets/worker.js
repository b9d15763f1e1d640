// One worker is one module instance: a scanner or the desk. It stands behind Go's support script in a Blob.
//
// The page sends {id, op, …} and gets {id, ok: true, …} or {id, ok: false, error, name, stack, dead}. Scans
// also send {event: 'progress' | 'partial'}. Bytes of files exist here and nowhere else on the page.
"use strict";

const OP = { SCAN: 1, TAKE: 2, FINISH: 3, ADD: 4, BYTES: 5, CALL: 6, SLICE: 7, HASH: 8, WARM: 9, BLOCK: 10, PARCEL: 11 };
const BUFFER = 4 << 20;   // one piece of a stream
const TAIL = 256 << 10;   // how much is read at first behind a range for its last line
const STALL = 1500;       // ms without a byte until a stream is given up
const FIRST_TAKE = 40;    // ms until the first rows are shown
const TAKE_EVERY = 250;   // ms between later ones

let wasm = null;          // exports
let go = null;
let cancelled = 0;        // scans with a smaller serial are over
let serial = 0;

/** Start the instance. Messages can overtake this, so every operation waits for it. */
let begin;
const ready = new Promise((resolve, reject) => { begin = { resolve, reject }; });
ready.catch(() => {});

async function init(message) {
  blocks = message.blocks || [];
  go = new Go();
  const stderr = [];
  // Go's support script prints through the console; a fatal error is kept for the page.
  const log = console.log;
  console.log = (...parts) => { stderr.push(parts.join(" ")); if (stderr.length > 200) stderr.shift(); log(...parts); };
  go.exit = (code) => { go.exitCode = code; };
  const instance = await WebAssembly.instantiate(message.module, go.importObject);
  go.run(instance);
  go.stderr = stderr;
  wasm = instance.exports;
  return wasm.version();
}

class Dead extends Error {}

/** A call that went through an exited instance returns nonsense, so its state is looked at every time. */
function check() {
  if (go.exited || go.exitCode !== undefined) {
    throw new Dead(go.stderr.join("\n").slice(0, 4000) || "the module has stopped");
  }
}

function answer() {
  const at = wasm.out() >>> 0, length = wasm.outlen() >>> 0;
  return new Uint8Array(wasm.mem.buffer, at, length);
}

function failure() {
  let text = new TextDecoder().decode(answer());
  try {
    const { error, stack } = JSON.parse(text);
    const e = new Error(error);
    e.goStack = stack;
    return e;
  } catch {
    return new Error(text || "the module failed");
  }
}

/** Put bytes into the module's input buffer. */
function put(bytes) {
  const at = wasm.buf(bytes.length) >>> 0;
  check();
  new Uint8Array(wasm.mem.buffer, at, bytes.length).set(bytes);
}

/** Run one operation and copy its answer out; needs tells that it asks for bytes of a file first. */
let needs = false;
function call(op, bytes) {
  check();
  let status;
  try {
    put(bytes);
    status = wasm.call(op, bytes.length);
  } catch (e) {
    throw e instanceof Dead ? e : new Dead(String(e));
  }
  check();
  if (status < 0) throw failure();
  needs = status === 1;
  return answer().slice();
}

const encode = (value) => new TextEncoder().encode(JSON.stringify(value));
const decode = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

/** What an operation is told, as a line of JSON, with bytes behind it. */
function framed(told, bytes) {
  const head = encode(told);
  const whole = new Uint8Array(head.length + 1 + bytes.length);
  whole.set(head);
  whole[head.length] = 10;
  whole.set(bytes, head.length + 1);
  return whole;
}

/**
 * The bytes of a part of a file. What a handle gave is void once the file has been written to; a file that is followed
 * is asked for again then, and holds what it held, or the page notices that it was replaced.
 */
async function part(file, from, to) {
  for (let tries = 0; ; tries++) {
    try {
      return await file.blob.slice(from, to).arrayBuffer();
    } catch (error) {
      if (error.name !== "NotReadableError" || !file.handle || tries === 3) throw error;
      const blob = await file.handle.getFile();
      if (blob.size < file.size) throw error;
      file.blob = blob;
    }
  }
}

/** Pieces of a file by slices: each is memory of its own, but they always come. */
function sliced(file, from, to) {
  return {
    async read() {
      const value = from < to ? new Uint8Array(await part(file, from, Math.min(from + BUFFER, to))) : null;
      if (!value || value.length === 0) return { done: true };
      from += value.length;
      return { done: false, value };
    },
    cancel() {},
  };
}

/** Pieces of a file as a stream, into one buffer that is used again where the browser can. */
function streamed(blob, from, to) {
  const stream = blob.slice(from, to).stream();
  let reader;
  try {
    reader = stream.getReader({ mode: "byob" });
  } catch {
    // No byte readers here: pieces come as the browser cuts them.
    reader = stream.getReader();
    return { read: () => reader.read(), cancel: () => reader.cancel().catch(() => {}) };
  }
  let buffer = new ArrayBuffer(BUFFER);
  return {
    async read() {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (value) buffer = value.buffer;
      return { done, value };
    },
    cancel: () => reader.cancel().catch(() => {}),
  };
}

/** Pieces of a range that a server hands out. */
async function served(file, from, to) {
  const stop = new AbortController();
  let response;
  try {
    response = await fetch(file.url, { headers: { Range: `bytes=${from}-${to - 1}` }, signal: stop.signal, cache: "no-store" });
  } catch {
    throw fault("ServerError", "the server does not answer");
  }
  const problem = refused(response, file, from);
  if (problem) {
    stop.abort();
    throw problem;
  }
  const reader = response.body.getReader();
  return { read: () => reader.read(), cancel: () => stop.abort() };
}

// ---- a bundle ------------------------------------------------------------------------------------------------

let blocks = [];                          // of the bundle: {at, size, packed, sha256, place, url | blob}
let held = { at: 0, plain: new Uint8Array(0) }; // the block that was opened last

/** The block of the bundle with a byte of its content, opened and held against its hash. */
async function blockWith(byte) {
  if (byte >= held.at && byte < held.at + held.plain.length) return held;
  let low = 0, high = blocks.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (blocks[middle].at <= byte) low = middle; else high = middle;
  }
  const { at, size, packed, sha256, place, codec, url, blob } = blocks[low];
  let bytes;
  if (url !== undefined) {
    let response;
    try {
      response = await fetch(url);
    } catch {
      throw fault("ServerError", `${place}: the server does not answer`);
    }
    if (!response.ok) throw fault("ServerError", `${place}: the server answered ${response.status}`);
    bytes = new Uint8Array(await response.arrayBuffer());
  } else if (blob) {
    bytes = new Uint8Array(await blob.arrayBuffer());
  } else {
    throw fault("BundleError", `${place}: it is not in this file, which was cut`);
  }
  try {
    held = { at, plain: call(OP.BLOCK, framed({ codec, size, packed, sha256, place }, bytes)) };
  } catch (e) {
    throw e instanceof Dead ? e : fault("BundleError", e.message);
  }
  return held;
}

/** Pieces of a file of the bundle. */
function bundled(file, from, to) {
  let next = file.at + from;
  const end = file.at + to;
  return {
    async read() {
      if (next >= end) return { done: true };
      const { at, plain } = await blockWith(next);
      const value = plain.subarray(next - at, Math.min(plain.length, end - at));
      next += value.length;
      return { done: false, value };
    },
    cancel() {},
  };
}

const fault = (name, text) => Object.assign(new Error(text), { name });

/** Why an answer does not begin with the byte that was asked for; nothing when it does. */
function refused({ status, headers }, { size }, from) {
  const shorter = (now) => fault("ChangedError", `the file was listed with ${size} bytes and has ${now}`);
  switch (status) {
    case 206: {
      const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get("Content-Range") || "");
      if (!range || Number(range[1]) !== from) return fault("ServerError", `the server sent other bytes than those from ${from} on`);
      return Number(range[2]) < size ? shorter(range[2]) : null;
    }
    case 200: {
      if (from > 0) return fault("ServerError", "the server hands out the file as a whole only, and it is read in parts");
      const now = headers.get("Content-Encoding") ? null : headers.get("Content-Length");
      return now !== null && Number(now) < size ? shorter(now) : null;
    }
    case 416: {
      const now = /^bytes \*\/(\d+)$/.exec(headers.get("Content-Range") || "");
      return now ? shorter(now[1]) : fault("ChangedError", `the server has no byte ${from} of the file`);
    }
    case 404:
    case 410: return fault("NotFoundError", "the server no longer has the file");
  }
  return fault("ServerError", `the server answered ${status}`);
}

/**
 * Open a range of a file or served file as a reader of pieces. Chromium's streams of slices stall now and then
 * and never go on, so one that gives nothing for a while is replaced by slices.
 */
async function open(file, from, to) {
  if (file.at !== undefined) return bundled(file, from, to);
  if (file.url !== undefined) return served(file, from, to);
  if (to - from <= BUFFER || file.handle) return sliced(file, from, to);
  let source = streamed(file.blob, from, to);
  return {
    async read() {
      let timer;
      const stalled = new Promise((resolve) => { timer = setTimeout(resolve, STALL, null); });
      let piece = await Promise.race([source.read(), stalled]);
      clearTimeout(timer);
      if (!piece) {
        source.cancel();
        source = sliced(file, from, to);
        piece = await source.read();
      }
      if (piece.value) from += piece.value.length;
      return piece;
    },
    cancel: () => source.cancel(),
  };
}

/** Hand a piece of a file to what was begun last; true means that it needs no more. */
function feed(bytes) {
  let status;
  try {
    put(bytes);
    status = wasm.feed(bytes.length);
  } catch (e) {
    throw e instanceof Dead ? e : new Dead(String(e));
  }
  check();
  if (status < 0) throw failure();
  return status === 1;
}

/** Scan one range of one file. A packed file is read from its start; its range counts bytes that are unpacked. */
async function scan({ source, file, from, to, maxLine, packed, query }) {
  const mine = ++serial;
  check();
  const { next } = decode(call(OP.SCAN, encode({ source, from, to, maxLine, packed, query })));
  let at = next, last = performance.now(), wait = FIRST_TAKE, shown = packed ? 0 : from;
  const take = (op) => {
    const bytes = call(op, new Uint8Array(0));
    if (bytes.length) postMessage({ event: "partial", source, bytes: bytes.buffer }, [bytes.buffer]);
    const reached = packed ? at : Math.min(Math.max(at, from), to);
    postMessage({ event: "progress", source, bytes: reached - shown });
    shown = reached;
    last = performance.now();
    wait = TAKE_EVERY;
  };
  // The range itself, then as much as its last line still has.
  let done = !packed && from >= to, stretch = packed ? file.size : to - at;
  while (!done && at < file.size) {
    const end = Math.min(at + stretch, file.size);
    const reader = await open(file, at, end);
    try {
      while (!done) {
        const piece = await reader.read();
        if (mine <= cancelled) return { cancelled: true };
        if (piece.done) break;
        done = feed(piece.value);
        at += piece.value.length;
        if (!done && performance.now() - last > wait) take(OP.TAKE);
      }
    } finally {
      reader.cancel();
    }
    if (!done && at < end) throw fault("ChangedError", `it ended at byte ${at} of ${file.size}`);
    stretch = Math.min(Math.max(TAIL, 2 * (at - to)), 8 * BUFFER);
  }
  at = packed ? file.size : Math.max(at, to);
  take(OP.FINISH);
  return {};
}

/** Read a range of a file whole. */
async function slice(file, offset, length) {
  if (file.url === undefined && file.at === undefined) return new Uint8Array(await part(file, offset, offset + length));
  const bytes = new Uint8Array(length);
  if (length === 0) return bytes;
  const reader = await open(file, offset, offset + length);
  let at = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || at >= length) break; // who sends the whole file sends more than was asked for
      bytes.set(value.subarray(0, length - at), at);
      at += value.length;
    }
  } finally {
    reader.cancel();
  }
  return bytes.subarray(0, at);
}

/** Feed a packed file to the module from where it wants it, until it has what it needs. */
async function unpack(file, need) {
  let { next, done } = decode(call(OP.SLICE, encode(need)));
  while (!done && next < file.size) {
    const end = Math.min(next + 2 * BUFFER, file.size);
    const reader = await open(file, next, end);
    try {
      for (;;) {
        const piece = await reader.read();
        if (piece.done) break;
        next += piece.value.length;
        // The stretch is read to its end, whatever of it is needed.
        if (!done) done = feed(piece.value);
      }
    } finally {
      reader.cancel();
    }
    if (next < end) break;
  }
  if (!done) call(OP.FINISH, new Uint8Array(0));
}

let listed = [];          // the files of the page, as the desk was told last

/**
 * One operation of the desk. When the answer names bytes that it needs, they are read and the operation is
 * run again; raw answers come back as bytes.
 */
async function desk({ request, files, once, raw }) {
  if (files) listed = files;
  files = once || listed;
  for (let round = 0; round < 8; round++) {
    const bytes = call(OP.CALL, encode(request));
    if (!needs) {
      if (raw) return { bytes: bytes.buffer };
      return { answer: decode(bytes) };
    }
    for (const need of decode(bytes).need) {
      let data = new Uint8Array(0), problem = "";
      try {
        if (need.packed) {
          await unpack(files[need.file], need);
          continue;
        }
        data = await slice(files[need.file], need.offset, need.length);
        if (data.length !== need.length) problem = "the file is shorter than when it was read";
      } catch (e) {
        problem = `${e.name}: ${e.message}`;
      }
      call(OP.BYTES, framed({ ...need, problem }, data));
    }
  }
  throw new Error("the page asks for the same bytes again and again");
}

/** The sampled hash of a file as it lies there, packed or not. */
async function hash({ file }) {
  const { blocks } = decode(call(OP.CALL, encode({ op: "blocks", size: file.size })));
  const bytes = new Uint8Array(blocks.reduce((n, [, length]) => n + length, 0));
  let at = 0;
  for (const [offset, length] of blocks) {
    const block = await slice(file, offset, length);
    if (block.length !== length) throw fault("ChangedError", "the file is shorter than when it was listed");
    bytes.set(block, at);
    at += length;
  }
  return { hash: new TextDecoder().decode(call(OP.HASH, bytes)) };
}

/** Run out of memory: two buffers of half of what can be addressed do not fit beside each other. */
function crash() {
  try { wasm.buf(0x7fff0000); wasm.buf(0x7fffffff); } catch (e) { throw new Dead(String(e)); }
  check();
  return {};
}

async function handle(message) {
  if (message.op === "init") {
    try {
      const protocol = await init(message);
      begin.resolve();
      return { protocol };
    } catch (e) {
      begin.reject(e);
      throw e;
    }
  }
  if (message.op === "cancel") {
    cancelled = serial;
    return {};
  }
  await ready;
  if (message.op === "crash") return crash();
  switch (message.op) {
    case "blocks": blocks = message.blocks; return {};
    case "scan": return scan(message);
    case "add": return { answer: decode(call(OP.ADD, new Uint8Array(message.bytes))) };
    case "desk": return desk(message);
    case "hash": return hash(message);
    case "warm": call(OP.WARM, new Uint8Array(0)); return {};
    case "sample": return sample(message);
    case "parcel": return parcel(message);
    case "memory": return { bytes: wasm.mem.buffer.byteLength };
  }
  throw new Error(`unknown operation ${message.op}`);
}

// The desk's operations must not overtake each other: each may come back for bytes in between.
let queue = Promise.resolve();

onmessage = ({ data: message }) => {
  const run = async () => {
    try {
      const result = await handle(message);
      const move = result.bytes instanceof ArrayBuffer ? [result.bytes] : [];
      postMessage({ id: message.id, ok: true, ...result }, move);
    } catch (e) {
      postMessage({ id: message.id, ok: false, error: String(e.message || e), name: e.name, stack: e.goStack, dead: e instanceof Dead });
    }
  };
  if (["init", "cancel", "crash"].includes(message.op)) run();
  else queue = queue.then(run);
};
