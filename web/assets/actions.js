// What clicks do: data-action, data-download, data-copy and data-href say it in the markup.
"use strict";

(() => {
  const { $, settings, state, keep, closePanels, parts, actions, crew, scan, intake, notices, view } = window.rollscope.page;

  function save(name, bytes, type = "application/octet-stream") {
    const url = URL.createObjectURL(new Blob([bytes], { type }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }

  async function download(name, table) {
    if (parts.downloads[name]) return save(name, await parts.downloads[name](), "text/plain");
    if (table) {
      const { blob, rows } = await takeAlong(table, name.slice(name.lastIndexOf(".") + 1));
      save(name, blob);
      notices.tell(`${name} saved: ${rows} ${rows === 1 ? "row" : "rows"}.`);
      return;
    }
    const what = view.dark() ? "dark" : "light";
    const { bytes } = await crew.call({ op: "download", fragment: location.hash, host: view.host(), name, what }, { raw: true });
    save(name, bytes);
    notices.tell(name + " saved.");
  }

  /** The whole of a table in one of its forms, put together part by part. Bytes of files stay where they are. */
  async function takeAlong(table, form) {
    const pieces = [], fragment = location.hash, there = new Set();
    for (let from = 0; ;) {
      const { answer } = await crew.call({ op: "export", fragment, host: view.host(), table, form, from });
      if (answer.text) pieces.push(new Blob([answer.text]));
      for (const [file, offset, length] of answer.ranges) {
        if (!there.has(file)) await stillThere(file);
        there.add(file);
        pieces.push(await rangeOf(file, offset, length), "\n");
      }
      from = answer.next;
      if (answer.done) return { blob: new Blob(pieces, { type: "text/plain" }), rows: answer.next };
      notices.tell(`${answer.next} of ${answer.total} rows`);
    }
  }

  /** A part of a handle is read when it is saved, too late to say that the file is gone. */
  async function stillThere(file) {
    const { blob } = state.files[file];
    if (blob) await blob.slice(0, 1).arrayBuffer().catch((error) => { throw Object.assign(error, { file }); });
  }

  /** A range of a file: a part of its handle, or its bytes where they have to be fetched or unpacked. */
  async function rangeOf(file, offset, length) {
    const { blob, path } = state.files[file];
    if (blob && !/\.gz$/i.test(path)) return blob.slice(offset, offset + length);
    const { bytes } = await crew.call({ op: "bytes", file, offset, length }, { raw: true }).catch((error) => {
      if (error.dead) throw error;
      // What the reader met comes back as a text.
      const [, name = "ChangedError", text = error.message] = /^(\w+Error): (.*)$/s.exec(error.message) || [];
      throw Object.assign(new Error(text), { name, file });
    });
    return new Blob([bytes]);
  }

  /** A link that others can open: with the names, sizes and hashes of the files. */
  async function linkOf() {
    for (;;) {
      const { answer } = await crew.call({ op: "link", fragment: location.hash, host: view.host() });
      if (!answer.hash.length) return new URL(answer.fragment ? "#" + answer.fragment : "#", location.href).href;
      await crew.hashFiles(answer.hash);
    }
  }

  async function copy(what, table) {
    let text;
    if (what === "link") {
      text = await linkOf();
    } else if (table) {
      text = await (await takeAlong(table, what)).blob.text();
    } else {
      const { bytes } = await crew.call({ op: "copy", fragment: location.hash, host: view.host(), what }, { raw: true });
      text = new TextDecoder().decode(bytes);
    }
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "offscreen";
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    notices.tell(what === "link" ? "Link copied." : "Copied.");
  }

  Object.assign(actions, {
    save,
    "open-files": () => intake.choose("files"),
    "open-folder": () => intake.choose("folder"),
    sample: () => intake.openSample(),
    cancel: () => { if (!intake.stop()) scan.cancel(); },
    close: async () => { location.hash = ""; await intake.reset(); view.schedule(); },
    theme: () => {
      settings.choose("theme", view.dark() ? "light" : "dark");
      view.theme();
      view.schedule();
    },
    keys: () => { const d = $("#keys"); if (d.open) d.close(); else d.showModal(); },
    skip: () => { const main = $("#region-main"); main.focus(); main.scrollIntoView(); },
    filter: () => {
      const box = $("[data-filter]");
      if (box) box.hidden = false;
      const input = $("[data-filter-input]");
      if (input) { input.focus(); input.select(); }
    },
    link: () => copy("link"),
    // Out of a rollout, never out of the page: what was opened would be gone.
    back: () => { const way = $(".rollout-head .title a"); if (way) way.click(); },
  });

  addEventListener("click", (e) => {
    if (e.target.matches("a[download]")) return; // the page saves something itself
    if (!e.target.closest("#take-back")) closePanels(e.target);
    const menu = e.target.closest("a") && e.target.closest("[popover]");
    if (menu && menu.matches(":popover-open")) menu.hidePopover();
    const way = e.target.closest("a[data-target]");
    if (way && way.getAttribute("href") === location.hash) view.reveal(way.dataset.target);
    const kept = e.target.closest("[data-save] a");
    if (kept) keep(kept.closest("[data-save]").dataset.save, kept.getAttribute("href"));
    const at = e.target.closest("[data-action],[data-download],[data-copy],[data-href]");
    if (!at) return;
    if (at.dataset.href !== undefined) {
      if (e.target.closest("a,button,input,summary,label") && e.target.closest("a,button,input,summary,label") !== at) return;
      if (String(getSelection())) return;
      location.hash = at.dataset.href;
      return;
    }
    e.preventDefault();
    if (at.closest("details.runs")) closePanels(null);
    const { action, download: name, copy: what, of } = at.dataset;
    const work = name ? download(name, of) : what ? copy(what, of) : actions[action] && actions[action](at);
    Promise.resolve(work).catch(notices.failed);
  });
})();
