// Sharing: what is open, or the rows of the filter, as one HTML file with the viewer in it. The module says what goes
// along and makes the index, a worker of its own packs, and what the viewer consists of was kept when the page loaded.
"use strict";

(() => {
  const { $, $$, root, script, state, actions, crew, notices, view } = window.rollscope.page;

  const dialog = $("#share");
  const part = (name) => $(`[data-share-${name}]`, dialog);
  const field = (name) => $(`[data-share=${name}]`, dialog);

  // ---- what the viewer consists of -----------------------------------------------------------------------

  let texts = null, module = null;

  /** Keep the texts of the viewer; that of the worker is on its way. A page with an address asks for those it has loaded once more, out of the cache. */
  function keep(worker) {
    const scripts = [...$$("script")].filter((s) => s !== script && (!s.type || s.type === "text/javascript"));
    const text = async (url) => {
      const response = await fetch(url, { cache: "force-cache" });
      if (!response.ok) throw new Error(`${url}: the server answered ${response.status}`);
      return response.text();
    };
    texts = script.src
      ? Promise.all([text($("link[rel=stylesheet]").href), text(script.src), ...scripts.filter((s) => s.src).map((s) => text(s.src))])
      : Promise.resolve([$("style").textContent, script.textContent, ...scripts.filter((s) => !s.src).map((s) => s.textContent)]);
    texts = texts.then(async ([style, script, ...libraries]) => ({ style, script, worker: await worker, libraries }));
    return texts.catch(() => {});
  }

  /** Keep the module: a promise of its bytes as a Blob, packed with gzip or not. */
  function keepModule(blob, packed) {
    module = { blob, packed };
    Promise.resolve(blob).catch(() => {});
  }

  // ---- the choice ------------------------------------------------------------------------------------------

  let worker = null, job = null, sample = {}, made = null, looks = 0, name = "";

  const chosen = () => $("[name=share-rows]:checked", dialog).value;
  const choice = () => ({
    op: "give", fragment: location.hash, host: view.host(), what: chosen(), text: field("rules").value, title: field("title").value.trim(),
    size: sample.plain || 0, length: sample.packed || 0,
  });

  /** Say what a choice of rows is, in sight and as the name of its button. */
  function label(name, text) {
    part(name).textContent = text;
    part(name).parentElement.firstElementChild.ariaLabel = text;
  }

  /** Show what the choice means; only the latest question is answered. */
  async function look() {
    const mine = ++looks;
    const { answer } = await crew.call(choice());
    if (mine !== looks || !dialog.open) return;
    label("all", answer.all || "all rows");
    label("some", answer.some);
    part("filter").hidden = !answer.some;
    if (!answer.some && chosen() === "filter") {
      $("[name=share-rows][value=all]", dialog).checked = true;
      return look();
    }
    view.patch(part("plan"), answer.html);
    $("[data-action=share-make]", dialog).disabled = !answer.ok;
  }

  const again = () => look().catch(failed);

  let typing = 0;
  dialog.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(again, 150);
  });

  /** Which part of the dialog is there: the choice, the work, or what came of it. */
  function stage(at) {
    dialog.dataset.stage = at;
    part("form").hidden = part("plan").hidden = at !== "choice";
    part("work").hidden = at !== "work";
    part("done").hidden = at !== "done";
    for (const [action, there] of Object.entries({
      "share-make": at === "choice", "share-cancel": at === "work", "share-again": at === "done", "share-save": at === "done" && made,
    })) $(`[data-action=${action}]`, dialog).hidden = !there;
  }

  function begin() {
    stop();
    made = null;
    stage("choice");
    field("title").value = field("rules").value = "";
    const filtered = /[#&]filter=./.test(location.hash);
    $(`[name=share-rows][value=${filtered ? "filter" : "all"}]`, dialog).checked = true;
    part("filter").hidden = !filtered;
    part("plan").replaceChildren();
    $("[data-action=share-make]", dialog).disabled = true;
    dialog.showModal();
    field("title").focus();
    again();
    if (typeof CompressionStream === "undefined") return;
    const files = [...state.sources.values()].map((file) => state.files[file]);
    measure(files.filter((f) => f.size > 0 && !/\.gz$/i.test(f.path)).map(crew.handleOf));
  }

  /** How well the files can be packed. Nobody waits for it, and without it the size is said as a bound. */
  async function measure(files) {
    sample = {};
    const of = spawned();
    const { plain, packed } = await of.ask({ op: "sample", files }).catch((error) => {
      if (error.dead && of === worker) worker = null;
      return {};
    });
    if (of !== worker || !dialog.open) return;
    sample = { plain, packed };
    if (dialog.dataset.stage === "choice") again();
  }

  const spawned = () => worker ||= crew.spawn(progress);

  function stop() {
    worker?.end();
    worker = job = null;
  }

  // ---- the work --------------------------------------------------------------------------------------------

  const bytes = (n) => n < 1e6 ? Math.ceil(n / 1000) + " kB" : (n / 1e6).toFixed(2) + " MB";
  let spoken = 0;

  function progress({ of, done, total, size }) {
    const percent = total ? Math.floor(done * 100 / total) : 100;
    $("progress", dialog).value = percent;
    part("step").textContent = `${of}: ${percent} % of ${bytes(total)} read, ${bytes(size)} packed`;
    if (Math.floor(percent / 25) > spoken) {
      spoken = Math.floor(percent / 25);
      notices.say(`making the file, ${percent} %`);
    }
  }

  async function make() {
    const { answer } = await crew.call({ ...choice(), take: true });
    if (!answer.ok) return look();
    name = answer.name;
    spoken = 0;
    stage("work");
    progress({ of: "reading", done: 0, total: 1, size: 0 });
    $("[data-action=share-cancel]", dialog).focus();
    const mine = job = {};
    try {
      if (typeof CompressionStream === "undefined") throw new Error("this browser cannot pack, it is too old for that");
      const viewer = await texts, blob = await module.blob;
      const begin = { ...answer.begin, made: new Date().toISOString().replace(/\.\d+/, "") };
      const result = await spawned().ask({
        op: "parcel", begin, files: state.files.map(crew.handleOf), wanted: answer.wanted, viewer, module: { blob, packed: module.packed },
      });
      if (mine !== job) return;
      made = result;
      if (result.notes) done(`Look at this before ${name} is saved.`, result.html, "share-save"); else save();
    } catch (error) {
      if (mine === job) failed(error);   // else it was cancelled
    } finally {
      if (mine === job) stop();
    }
  }

  function save() {
    actions.save(name, made.blob, "text/html");
    const { html } = made, size = bytes(made.blob.size);
    made = null;
    done(`Saved ${name}, ${size}.`, html, "share-again");
    notices.say(`${name} saved, ${size}`);
  }

  function done(said, html, next, command) {
    part("said").textContent = said;
    part("result").innerHTML = html;
    part("command").textContent = command || "";
    part("command").hidden = !command;
    stage("done");
    $(`[data-action=${next}]`, dialog).focus();
  }

  const WHY = {
    NotFoundError: "A file is no longer there", NotReadableError: "A file changed since it was opened", ChangedError: "A file changed since it was opened",
    ServerError: "A file could not be read", BundleError: "The bundle that the files come from is damaged",
  };

  async function failed(error) {
    if (!dialog.open) return;
    made = null;
    if (error.name === "TooLargeError") {
      const command = await crew.call(choice()).then(({ answer }) => answer.command, () => "");
      return done("This is more than one file carries, which is about 100 MB of packed rows. Choose fewer rows, or make a directory with the command line:", "", "share-again", command);
    }
    if (error.dead) return done(`No file was made: the worker that packs has stopped, probably because memory ran out. Choose fewer rows. (${error.message.split("\n")[0]})`, "", "share-again");
    done(`No file was made. ${WHY[error.name] ? WHY[error.name] + ": " : ""}${error.message}.`, "", "share-again");
  }

  Object.assign(actions, {
    share: () => {
      if (dialog.open) return dialog.close();
      if (!["ready", "scanning"].includes(root.dataset.state) || !state.files.length) return notices.tell("There is nothing to share yet: open files first.");
      begin();
    },
    "share-make": make,
    "share-save": save,
    "share-again": () => { made = null; stage("choice"); field("title").focus(); return look(); },
    "share-cancel": () => { stop(); stage("choice"); $("[data-action=share-make]", dialog).focus(); notices.say("cancelled"); return look(); },
  });

  dialog.addEventListener("close", () => { if (!dialog.open) { stop(); made = null; } });

  Object.assign(window.rollscope.page.share, { keep, keepModule });
})();
