// The bundle that a page may come with: its index, and where its blocks are. They lie beside the page and are fetched
// one by one, or stand in the document. What an index says is checked by the module; blocks are opened in workers.
"use strict";

(() => {
  const { root, bytesOf, bundle, bundled, crew } = window.rollscope.page;

  bundled.blocks = [];

  /** Read the index; what it lists is opened like files of a server. */
  async function open() {
    const folder = root.dataset.blocks ? new URL(root.dataset.blocks, location.href) : null;
    const request = { op: "bundle", text: await text(folder), hash: bundle };
    const { answer: index } = await crew.ask({ op: "desk", request, files: [] }).catch((error) => {
      throw Object.assign(error, { name: "BundleError" });
    });
    for (const block of index.blocks) {
      if (folder) block.url = new URL(block.name, folder).href;
    }
    if (!folder) await inlined(index.blocks);
    bundled.blocks = index.blocks;
    await crew.ask({ op: "blocks", blocks: index.blocks });
    return index.files;
  }

  async function text(folder) {
    if (!folder) {
      const index = document.getElementById("rollscope-bundle");
      if (!index) throw Object.assign(new Error("the index of the bundle is not in this file: it was cut or changed"), { name: "BundleError" });
      return index.textContent;
    }
    const response = await fetch(new URL("index.json", folder));
    if (!response.ok) throw new Error(`the index of the bundle (${folder.pathname}index.json) is not there: the server answered ${response.status}`);
    return response.text();
  }

  /** Turn the texts of blocks in the document into handles. They stand behind the script, so they come in last. */
  async function inlined(blocks) {
    if (document.readyState === "loading") await new Promise((resolve) => addEventListener("DOMContentLoaded", resolve, { once: true }));
    for (let n = 0; n < blocks.length; n++) {
      const element = document.getElementById("rollscope-block-" + n);
      if (!element) continue;      // the file was cut; who wants the block is told
      const base64 = element.textContent.trim();
      element.remove();
      try {
        blocks[n].blob = new Blob([bytesOf(base64)]);
      } catch {
        blocks[n].blob = new Blob([]);
      }
      if (n % 16 === 15) await new Promise((resolve) => setTimeout(resolve)); // nobody waits for all of them at once
    }
  }

  Object.assign(bundled, { open });
})();
