// The service worker of a static folder. It keeps the files of one version of the viewer, all of them or none, and
// answers with them, so that the page opens without a network. A new version waits until somebody wants it.
//
// What belongs to the version stands in front of this text:
//
//   VERSION  what all files of the viewer together are known by
//   FILES    the files by name: [media type, SHA-256]
//   DATA     folder of the blocks that are kept as they are read; "" where there are none or too many
//
// Versions never mix: each has a cache of its own, the document names its scripts with the version behind a question
// mark, and so do they the files that they fetch. Whoever asks is answered from the cache of the version in the
// address, whichever version this worker is of.
"use strict";

(() => {
  const SCOPE = registration.scope, DOCUMENT = "index.html", VERSIONED = "assets/";
  const PREFIX = `rollscope ${SCOPE} `;      // an origin can have several viewers below different paths

  const nameOf = (version) => PREFIX + version;
  const address = (name) => new URL(name, SCOPE).href;

  // ---- filling -------------------------------------------------------------------------------------------

  addEventListener("install", (event) => event.waitUntil(fill()));

  async function fill() {
    const name = nameOf(VERSION), files = Object.entries(FILES);
    try {
      const cache = await caches.open(name);
      await Promise.all(files.map(async ([file, [type, sha256]]) => cache.put(address(file), await fetched(file, type, sha256))));
      const there = await Promise.all(files.map(([file]) => kept(VERSION, file)));
      if (!there.every(Boolean)) throw new Error("the browser has dropped a file again");
    } catch (error) {
      await caches.delete(name);
      throw error;
    }
  }

  /** A file as its version has it. What the page has just loaded need not be loaded again, unless it is another one. */
  async function fetched(file, type, sha256) {
    const url = address(file) + (file.startsWith(VERSIONED) ? "?" + VERSION : "");
    for (const cache of ["default", "reload"]) {
      const response = await fetch(url, { cache });
      const bytes = await response.arrayBuffer();
      if (!response.ok || await hash(bytes) !== sha256) continue;
      const headers = new Headers(response.headers);
      for (const about of ["content-encoding", "content-length", "vary"]) headers.delete(about); // the way here
      headers.set("content-type", type);
      return new Response(bytes, { headers });
    }
    throw new Error(`${file} is not that of this version`);
  }

  async function hash(bytes) {
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return Array.from(sum, (b) => b.toString(16).padStart(2, "0")).join("");
  }

  // ---- versions ------------------------------------------------------------------------------------------

  // A first visit has no worker yet; its page takes this one at once. Pages of an older version keep theirs until the
  // person in front of one of them asks for the new one.
  addEventListener("activate", (event) => event.waitUntil(clients.claim()));

  addEventListener("message", (event) => {
    if (event.data === "use") event.waitUntil(skipWaiting());
    if (event.data === "tidy") event.waitUntil(tidy());
  });

  /** Remove the caches of versions that no page is of. Every page holds a lock with the name of its cache. */
  async function tidy() {
    const others = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== nameOf(VERSION));
    if (!others.length || !navigator.locks || registration.installing || registration.waiting) return;
    const { held, pending } = await navigator.locks.query();
    const used = new Set([...held, ...pending].map(({ name }) => name));
    for (const name of others) if (!used.has(name)) await caches.delete(name);
  }

  // ---- answering -----------------------------------------------------------------------------------------

  const kept = (version, file) => caches.match(address(file), { cacheName: nameOf(version) });

  addEventListener("fetch", (event) => {
    const { request } = event, url = new URL(request.url);
    if (request.method !== "GET" || !url.href.startsWith(SCOPE)) return;
    const name = (url.origin + url.pathname).slice(SCOPE.length) || DOCUMENT;
    if (request.mode === "navigate") {
      if (name === DOCUMENT) event.respondWith(answer(request, VERSION, name));
    } else if (DATA && name.startsWith(DATA) && !FILES[name]) {
      event.respondWith(block(event, name));
    } else if (FILES[name]) {
      event.respondWith(answer(request, url.search.slice(1) || VERSION, name));
    }
  });

  const answer = async (request, version, name) => await kept(version, name) || fetch(request);

  // ---- blocks of a bundle --------------------------------------------------------------------------------

  async function block(event, name) {
    const there = await kept(VERSION, name);
    if (there) return there;
    const response = await fetch(event.request);
    if (response.ok) event.waitUntil(keep(name, response.clone()).catch(() => {})); // no room is no reason to complain
    return response;
  }

  /** Keep a block if it is the one that the index means. */
  async function keep(name, response) {
    const sha256 = (await hashes()).get(name);
    const bytes = await response.arrayBuffer();
    if (!sha256 || await hash(bytes) !== sha256) return;
    const cache = await caches.open(nameOf(VERSION));
    await cache.put(address(name), new Response(bytes));
  }

  let known = null;

  /** The hashes of blocks by name, from the index. */
  async function hashes() {
    if (known) return known;
    const index = await (await kept(VERSION, DATA + "index.json")).json();
    known = new Map(index.blocks.map(({ sha256 }, n) => [`${DATA}${String(n + 1).padStart(5, "0")}.zst`, sha256]));
    return known;
  }
})();
