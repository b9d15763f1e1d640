// What the browser keeps for a person, and how it leaves and comes back: views, notes and names of files stay in the
// storage of this document. Nothing of it is written into the data, and nothing is sent.
"use strict";

(() => {
  const { $, actions, kept, notices, view } = window.rollscope.page;

  // ---- taking back ---------------------------------------------------------------------------------------
  // Nobody is asked before something is replaced or removed: it is done, said, and can be undone.

  const place = $("#take-back"), box = place.firstElementChild;
  let back = null;

  /** Say what was done, with the way back. */
  function offer(text, undo) {
    back = undo;
    $("span", box).textContent = text;
    // What stands outside of an open dialog cannot be reached.
    ($("dialog[open]") || document.body).append(place);
    box.hidden = false;
  }

  function leave() {
    back = null;
    if (box.contains(document.activeElement)) document.activeElement.blur();
    box.hidden = true;
  }

  Object.assign(actions, {
    "take-back": async () => {
      const undo = back;
      if (!undo) return notices.tell("There is nothing to undo.");
      leave();
      await undo();
      notices.tell("Undone.");
    },
    "leave-back": leave,
  });
  addEventListener("hashchange", leave);
  for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("close", () => { if (dialog.contains(place)) document.body.append(place); });

  // ---- out and in ----------------------------------------------------------------------------------------

  const readers = {};              // by kind: takes what a file holds, or throws why not

  /** What is saved begins like this, so that it is known again. */
  const json = (kind, content) => JSON.stringify({ rollscope: kind, version: 1, ...content }, null, 2) + "\n";

  const LARGEST = 64 << 20;        // bytes of a file of views or notes

  async function bring(file) {
    try {
      if (file.size > LARGEST) throw new Error("it is too large to be a list of views or notes");
      let content;
      try { content = JSON.parse(await file.text()); } catch { throw new Error("it is no JSON"); }
      const kind = content?.rollscope;
      if (typeof kind !== "string" || !Object.hasOwn(readers, kind)) throw new Error("it does not say that it holds views or notes");
      if (content.version !== 1) throw new Error(`it is of version ${String(JSON.stringify(content.version)).slice(0, 40)}, and version 1 is read here`);
      await readers[kind](content);
    } catch (error) {
      notices.alert("refused_import", undefined, `${file.name} was not imported: ${error.message}.`, "Choose a file that was saved by “Save views” or by “notes.json”. What is kept here stays as it is.");
      notices.say(`${file.name} was not imported: ${error.message}.`);
      view.schedule();
    }
  }

  const input = $("[data-import]");
  actions.import = () => input.click();
  input.addEventListener("change", async () => {
    const files = [...input.files];
    input.value = "";
    for (const file of files) await bring(file);
  });

  /** The part of the document whose content is made here and stays when the document is patched. */
  function filled(name) {
    const at = $(`[data-kept=${name}]`);
    if (at && !at.firstElementChild) at.append($(`#kept-${name}`).content.cloneNode(true));
    return at;
  }

  const when = (at) => new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

  Object.assign(kept, { offer, leave, readers, json, filled, when });
})();
