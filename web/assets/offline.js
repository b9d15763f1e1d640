// The copy of the viewer that the service worker of a static folder keeps, and the word about a newer one. Where there
// is no such worker, or the browser allows none, the page works as it does without.
"use strict";

(() => {
  const { $, root, script, counted, bundle, sleep, settings, offline, intake, notices, view } = window.rollscope.page;

  const PATIENCE = 2000;           // ms that a page waits for its copy at most
  const worker = root.dataset.offline;
  const version = script.src && new URL(script.src).search.slice(1);
  const scope = new URL(".", location.href).href;
  const cacheName = `rollscope ${scope} ${version}`; // as the worker calls it
  let registration = null, holds = "";

  /** Before nothing can be fetched any more: have the viewer kept, look for a newer one. Never fails, never takes long. */
  async function prepare() {
    if (!worker || !navigator.serviceWorker) return;
    const done = keep().catch(() => {}).then(look);
    await Promise.race([done, sleep(PATIENCE)]);
  }

  async function keep() {
    // As long as this page is there, its version is not removed.
    navigator.locks?.request(cacheName, { mode: "shared" }, () => new Promise(() => {})).catch(() => {});
    registration = await navigator.serviceWorker.register(worker, { updateViaCache: "none" });
    greet();
    registration.addEventListener("updatefound", () => watch(registration.installing));
    if (registration.active) {
      if (registration.waiting) tell();
      registration.active.postMessage("tidy");
      await registration.update();
    }
    await watch(registration.installing);
  }

  const known = "version " + scope;

  /** A newer version also comes when no page was left of the older one. Nobody shall wonder. */
  function greet() {
    const last = settings.get(known);
    settings.set(known, version);
    if (last && last !== version) strip("This viewer is a newer version than the last time.", "", "Close");
  }

  /** Wait until a new worker has its files, or has given up. */
  async function watch(fresh) {
    if (!fresh) return;
    const first = !registration.active;
    await new Promise((done) => {
      const settled = first ? ["activated", "redundant"] : ["installed", "activated", "redundant"];
      const check = () => { if (settled.includes(fresh.state)) done(); };
      fresh.addEventListener("statechange", check);
      check();
    });
    if (fresh.state === "installed") tell();
    if (first) look();
  }

  /** Say that there is a newer version. It is not used before somebody says so. */
  function tell() {
    strip("A new version of this viewer is ready.", "This page stays as it is until you reload it." + (bundle ? "" : " Files are to be opened again then."), "Later", "Reload", renew);
  }

  /** A line about the viewer itself, above what is shown: it can be closed, and something can be done about it. */
  function strip(text, more, close, act, run) {
    const make = (name, values) => Object.assign(document.createElement(name), values);
    const button = (name, click) => {
      const b = make("button", { type: "button", textContent: name });
      b.addEventListener("click", click);
      return b;
    };
    // The line stands in the place of the alerts, with the alerts below it.
    const alerts = $("#region-alerts");
    $("#fresh")?.replaceWith(alerts);
    const box = make("div", { id: "fresh" }), line = make("div", { className: "reading" });
    line.append(make("b", { textContent: text }), make("span", { textContent: more }), make("span", { className: "room" }));
    if (act) line.append(button(act, run));
    line.append(button(close, () => box.replaceWith(alerts)));
    alerts.replaceWith(box);
    box.append(line, alerts);
    notices.say(text);
  }

  function renew() {
    settings.set(known, "");       // who asks for it needs not be told
    const fresh = registration?.waiting;
    if (!fresh) return location.reload();
    fresh.addEventListener("statechange", () => { if (fresh.state === "activated") location.reload(); });
    fresh.postMessage("use");
  }

  /** What is kept in this browser, for the panel behind the lock. */
  async function look() {
    let names = [];
    try {
      if (await caches.has(cacheName)) names = (await (await caches.open(cacheName)).keys()).map(({ url }) => url);
    } catch { /* storage is forbidden */ }
    const folder = root.dataset.blocks && new URL(root.dataset.blocks, location.href).href;
    const blocks = names.filter((url) => folder && url.startsWith(folder) && url.endsWith(".zst")).length;
    const before = holds;
    holds = registration?.active && names.length
      ? `A service worker keeps version ${version} of this viewer in this browser (${counted(names.length - blocks, "file")}${folder ? ` and ${counted(blocks, "block")} of the bundle` : ""}), so that it opens without a network. A newer version is looked for when the page starts.`
      : "This browser keeps no copy of the viewer: the page needs its server at every start.";
    if (before !== holds && root.dataset.state !== "starting") view.schedule();
  }

  // The panel is asked for seldom; what it says is looked up then.
  addEventListener("toggle", (e) => { if (worker && navigator.serviceWorker && e.target.matches?.("details.lock[open]")) look(); }, true);

  // Files that the system hands to the installed viewer.
  if (worker && !bundle) {
    window.launchQueue?.setConsumer(({ files }) => {
      if (files.length) Promise.all(files.map(async (handle) => intake.asFile(await handle.getFile()))).then((list) => intake.openFiles(list)).catch(notices.fatal);
    });
  }

  Object.assign(offline, { prepare, holds: () => holds });
})();
