// What the page says on its own account: alerts of the host, words for the live region, its own failure.
"use strict";

(() => {
  const { $, root, counted, state, notices, view } = window.rollscope.page;

  function alert(code, file, text, help) {
    const path = file === undefined ? "" : state.files[file]?.path || "";
    if (state.alerts.some((a) => a.code === code && a.path === path && a.text === text)) return;
    state.alerts.push({ code, path, text, help: help || "" });
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
    if (codeOf(error)) box.dataset.code = codeOf(error);
    box.textContent = `Something went wrong inside the page: ${error.message || error}`;
    at.append(box);
  }

  // What a reader of files met, by the name of its error.
  const CODES = { NotFoundError: "vanished", ServerError: "vanished", NotReadableError: "changed_while_reading", ChangedError: "changed_while_reading", BundleError: "damaged_bundle" };
  const WHAT = { vanished: "The file is no longer there or cannot be opened.", changed_while_reading: "The file changed while it was read.", damaged_bundle: "The bundle is damaged or was changed." };

  /** The code of an error that a file is the reason of, nothing for others. */
  const codeOf = (error) => CODES[error.name];

  /** Say that a file, or a part of it, could not be read. */
  function unread(code, file, help) {
    alert(code, file, WHAT[code] || "Part of the file could not be read.", help);
  }

  /** What somebody asked for has failed: a file is the reason, and the page goes on, or the page itself is. */
  function failed(error) {
    const code = codeOf(error);
    if (!code) return fatal(error);
    unread(code, error.file, `${error.message}. What was read before stays; what was asked for now was not done.`);
    view.schedule();
  }

  /** Tell people who listen. */
  function say(text) {
    $("#live").textContent = text;
  }

  const LASTS = 5000;              // ms that a word stays in sight
  let fading = 0;

  /** Tell people who listen and, for a moment, people who look. */
  function tell(text) {
    say(text);
    show(true);
    clearTimeout(fading);
    fading = setTimeout(show, LASTS, false);
  }

  function show(on) {
    $("#live").classList.toggle("vh", !on);
    $("#live").classList.toggle("toast", on);
  }

  let warned = false;
  /** A choice is lost when the document is left; that is said once. */
  function unkept() {
    if (warned) return;
    warned = true;
    tell("This browser lets the page store nothing: choices are not remembered for the next visit.");
  }

  // ---- a folder that is being listed ---------------------------------------------------------------------

  // Milliseconds until a listing is worth a line, between two numbers in sight, between two that are spoken.
  const WORTH = 250, EVERY = 100, LOUD = 2000;
  let line = null, since = 0, drawn = 0, spoken = 0;


  /** Show how many entries of a folder are known, above how far reading is; none take the line away. */
  function listing(entries) {
    const now = performance.now();
    if (!entries) {
      if (line) line.box.replaceWith($("#region-progress"));
      line = null;
      since = 0;
      return;
    }
    since ||= now;
    if (now - since < WORTH) return;
    if (!line) {
      line = makeLine();
      spoken = now - LOUD;
    } else if (now - drawn < EVERY) {
      return;
    }
    drawn = now;
    line.number.textContent = counted(entries, "entry", "entries");
    if (now - spoken < LOUD) return;
    spoken = now;
    say("reading the folder: " + counted(entries, "entry", "entries"));
  }

  /** The line stands in the place of the progress region, with the region below it. */
  function makeLine() {
    const make = (name, values) => Object.assign(document.createElement(name), values);
    const box = make("div", { id: "listing" }), number = make("span", {});
    const strip = make("div", { className: "reading" }), button = make("button", { type: "button", textContent: "Cancel" });
    button.dataset.action = "cancel";
    strip.append(make("b", { textContent: "Reading the folder" }), number, make("span", { className: "room" }), button);
    const region = $("#region-progress");
    region.replaceWith(box);
    box.append(strip, region);
    return { box, number };
  }

  Object.assign(notices, { alert, fatal, codeOf, unread, failed, say, tell, unkept, listing });
})();
