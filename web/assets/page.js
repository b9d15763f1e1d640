// The page's script begins here: what its parts share, and the start. It knows nothing of rollouts. Markup comes
// finished from the module and says in data-* attributes what a click does.
//
// A part stands in a file of its own behind this one and puts what others may use of it into the object of its name:
// crew.js into crew, and so on. Parts come in the order of their names, so they use each other only when they run.
"use strict";

(() => {
  const root = document.documentElement;
  const script = document.currentScript;
  document.getElementById("unstarted")?.remove();

  // Ways out of this document that a policy does not close.
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel"]) {
    try { delete window[name]; Object.defineProperty(window, name, { value: undefined }); } catch { /* not here */ }
  }

  const runsURL = root.dataset.runs || "";
  const bundle = root.dataset.bundle || "";   // id of the bundle that came with the page
  const bundled = {}, crew = {}, scan = {}, intake = {}, notices = {}, offline = {}, view = {}, lists = {}, kept = {}, recent = {}, follow = {}, views = {}, notes = {}, share = {};

  const state = {
    files: [],                     // {path, size, blob | url | at, handle}; see intake.handleOf
    alerts: [],                    // {code, file, text, help}
    tasks: [],                     // ranges that nobody scans yet
    active: 0,                     // ranges that are being scanned
    query: null,                   // the second scan that the filter needs
    sources: new Map(),            // source → file index
    started: 0, ended: 0, bytes: 0, total: 0, cancelled: false,
    generation: 0,                 // of the list of files; what belongs to an older one is dropped
    version: 0,                    // of the handles and addresses of files
    stepping: false,               // the desk goes over to files as they are now, see follow.js
    given: [],                     // handles that a person has picked
    opening: 0, opened: 0,         // lists of files that are on their way in, that are in
    listing: null,                 // the drop whose folders are being listed
    lost: 0,                       // dropped entries that could not be opened
    deskDeaths: 0,                 // since these files came in
    baseline: 0,                   // requests of the page's own loading
    failed: "",
  };

  const $ = (selector, from = document) => from.querySelector(selector);
  const $$ = (selector, from = document) => from.querySelectorAll(selector);
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  const unkept = new Map();        // settings that the browser does not keep, for as long as the document is there

  /** Settings survive where the browser lets them. */
  const settings = {
    get(key) {
      if (unkept.has(key)) return unkept.get(key);
      try { return localStorage.getItem("rollscope." + key) || ""; } catch { return ""; }
    },
    /** Tells whether the setting will be there on the next visit. */
    set(key, value) {
      try {
        localStorage.setItem("rollscope." + key, value);
        unkept.delete(key);
      } catch {
        unkept.set(key, value);
      }
      return !unkept.has(key);
    },
    /** The same for what a person has chosen and expects to find again. */
    choose(key, value) {
      if (!settings.set(key, value)) notices.unkept();
    },
  };

  /** What this tab has shown: the sample, or files of somebody. */
  const session = {
    get() { try { return sessionStorage.getItem("rollscope.shows") || ""; } catch { return ""; } },
    set(value) { try { sessionStorage.setItem("rollscope.shows", value); } catch { /* the next load begins with the sample */ } },
  };

  /** A text with its %XX read; one that holds none that can be read stays as it is. */
  function decoded(text, read = decodeURI) {
    try { return read(text); } catch { return text; }
  }

  /** A text as it stands in a fragment; half a surrogate pair has no place there. */
  function encoded(text) {
    return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
  }

  /** A number of things in words. */
  const counted = (n, one, many = one + "s") => `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;

  /** Bytes that are written as base64. */
  const bytesOf = (base64) => Uint8Array.fromBase64 ? Uint8Array.fromBase64(base64) : Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

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

  /** Keep a choice for later visits: what a link says for "columns.<tab>" or "profile". */
  function keep(name, href) {
    settings.choose(name, decoded(params(href)[name.split(".")[0]] || "", decodeURIComponent));
  }

  /** The values of a fragment as they are written there. */
  function params(hash) {
    return Object.fromEntries(hash.replace(/^[#?]/, "").split("&").filter(Boolean).map((p) => [p.split("=", 1)[0], p.slice(p.indexOf("=") + 1)]));
  }

  /** Go to a fragment; quiet leaves the history as it is. */
  function goTo(hash, quiet) {
    if (quiet) { history.replaceState(null, "", hash); view.schedule(); } else location.hash = hash;
  }

  /** Change one value of the State in the URL, without others that mean nothing beside the new one. */
  function setParam(key, value, quiet, without = []) {
    const gone = [key, ...without];
    const others = location.hash.replace(/^#/, "").split("&").filter((p) => p && !gone.some((k) => p.startsWith(k + "=")));
    if (value) others.push(key + "=" + encoded(value));
    const hash = "#" + others.join("&");
    if (hash !== location.hash) goTo(hash, quiet);
  }

  const visible = (el) => el.getClientRects().length > 0;

  window.rollscope = {
    page: {
      $, $$, root, script, runsURL, bundle, state, settings, session, sleep, encoded, decoded, counted, bytesOf, visible, closePanels, params, goTo, setParam, keep,
      // What parts do after a drawing, once the browser lays it out, and as a table moves. What measures belongs to the second.
      // What they forget when rows that were read are others now.
      // Downloads that a part makes itself, by their names; commands that are there for now, for the palette.
      parts: { settled: [], seen: [], scrolled: [], renewed: [], downloads: {}, commands: [] },
      actions: {},                          // by the name in data-action
      bundled, crew, scan, intake, notices, offline, view, lists, kept, recent, follow, views, notes, share,
    },
    // For tests and the curious: a worker can be made to fail, as the browser does it when memory runs out.
    status: () => ({ ...scan.status(), ...view.status(), opening: state.opening }),
    memory: async () => ({ desk: await crew.memory(), scanners: await scan.memory() }),
    look: () => follow.look(),
    crashScanner: () => scan.crash(),
    crashDesk: () => crew.crash(),
  };

  // ---- start ---------------------------------------------------------------------------------------------

  // The parts are all here when this script has ended.
  queueMicrotask(start);

  function start() {
    view.theme();
    recent.show();
    // What stands behind the question mark is a State as well. Without any, the rules are those chosen before.
    if (location.hash.length < 2) {
      const first = location.search.slice(1) || (settings.get("profile") ? "profile=" + settings.get("profile") : "");
      if (first) history.replaceState(null, "", location.pathname + "#" + first);
    }
    const loading = $("[data-loading]");
    if (loading) loading.textContent = "Reader loading. Files dropped now are queued.";
    crew.booted = crew.boot();
    crew.booted.then(async (listed) => {
      // Whoever has looked at files of their own is not shown the sample in their place: they find the list of what was opened.
      const sample = root.dataset.sample !== undefined && session.get() !== "files" && !params(location.hash).files;
      const opens = state.opening || state.listing || listed || sample;
      root.dataset.state = opens ? "scanning" : "idle";
      if (loading) loading.textContent = "";
      for (const input of $$("[data-intake]")) {
        if (input.files && input.files.length) intake.openFiles([...input.files].map((f) => intake.asFile(f))).catch(notices.fatal);
      }
      if (state.opening || state.opened || state.listing) {
        // What a person has given while the page started is what they want to see.
      } else if (listed) {
        await intake.openFiles(listed);
      } else if (sample) {
        await intake.openSample(true);
      }
      view.schedule();
      // Requests since loading are counted in the lock; the entries of workers are not seen here, their policy is.
      performance.setResourceTimingBufferSize?.(10_000);
    }).catch((error) => {
      state.failed = error.message;
      notices.fatal(error);
    });
  }
})();
