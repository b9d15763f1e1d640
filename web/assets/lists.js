// Long lists: of a table the rows around those in sight are in the document, of a transcript the turns near the window.
"use strict";

(() => {
  const { $, $$, parts, crew, notices, view, lists } = window.rollscope.page;

  const windows = new Map();       // table id → first row in sight

  // A list keeps its place for as long as filter and order stay, and gets it back by going back.
  const tops = new Map();          // list and key → pixels
  const froms = new Map();         // list and key → first row of the window
  let listed = "";
  const listKey = () => location.hash.replace(/^#/, "").split("&").filter((p) => /^(filter|sort|order|drop|apart|run)=/.test(p)).join("&");
  const placeOf = (table) => table.dataset.table + "?" + listed;

  /** Where the lists are others now, begin them at the top, or where they were when they were left; tells whether. */
  function takePlaces() {
    const key = listKey();
    if (key === listed) return false;
    listed = key;
    windows.clear();
    for (const [key, from] of froms) {
      const [id, of] = [key.slice(0, key.indexOf("?")), key.slice(key.indexOf("?") + 1)];
      if (of === listed) windows.set(id, from);
    }
    return true;
  }

  const stands = new WeakMap();    // table → pixels where it stands, as far as has been seen

  /** Scroll the lists to their places. */
  function place() {
    for (const table of $$("[data-table][data-window]")) put(table);
  }

  /** Scroll a list to its place. Asking for it or setting it takes a layout, even where it is there already. */
  function put(table) {
    const top = tops.get(placeOf(table)) || 0;
    if ((stands.get(table) || 0) === top) return;
    table.scrollTop = top;
    stands.set(table, top);
  }

  // A transcript is a row of chunks. Those near the window hold their turns, the others keep their height.
  const scrollers = new WeakMap(), watched = new WeakSet();
  function watch(chunk) {
    const box = chunk.closest("[data-scroller]");
    if (chunk.firstElementChild) {
      if (chunk.dataset.of === undefined) chunk.dataset.of = location.hash;
      else if (chunk.dataset.of !== location.hash) fill(chunk);
    } else if (!chunk.style.height) {
      chunk.style.height = Number(chunk.dataset.turns) * 240 + "px";
    }
    if (watched.has(chunk)) return;
    watched.add(chunk);
    if (!scrollers.has(box)) {
      scrollers.set(box, new IntersectionObserver((entries) => {
        for (const { target, isIntersecting, boundingClientRect } of entries) {
          if (isIntersecting) {
            if (!target.firstElementChild) fill(target);
          } else if (target.firstElementChild && target.isConnected) {
            target.style.height = boundingClientRect.height + "px";
            target.replaceChildren();
          }
        }
      }, { root: box, rootMargin: "1500px 0px" }));
    }
    scrollers.get(box).observe(chunk);
  }

  // Turns of a row that is another now are asked for again when the page is drawn.
  parts.renewed.push(() => { for (const chunk of $$("[data-chunk]")) chunk.dataset.of = ""; });

  async function fill(chunk) {
    const of = location.hash;
    chunk.dataset.of = of;
    try {
      const { answer } = await crew.call({ op: "window", fragment: of, host: view.host(), table: "transcript", from: Number(chunk.dataset.chunk) });
      if (!chunk.isConnected || chunk.dataset.of !== of) return;
      view.patch(chunk, answer.html);
      chunk.style.height = "";
      for (const inner of $$("[data-chunk]", chunk)) watch(inner); // a group of chunks holds their places
    } catch (error) {
      if (error.dead) await crew.died(error); else notices.fatal(error);
    }
  }

  // A window table shows a few rows of many; the rest is the height of two spacers.
  const attached = new WeakSet();
  function attach(table) {
    size(table);
    if (attached.has(table)) return;
    attached.add(table);
    put(table);
    table.addEventListener("scroll", () => moved(table), { passive: true });
    new ResizeObserver(() => moved(table)).observe(table);
  }

  function measure(table) {
    const height = Number(table.dataset.height) || 27;
    const total = Number(table.dataset.total) || 0;
    const sight = Math.ceil(table.clientHeight / height) + 1;
    const first = Math.max(0, Math.floor(table.scrollTop / height));
    return { height, total, sight, first };
  }

  // Browsers give up on elements of tens of millions of pixels, so very long tables scroll in scale.
  const TALLEST = 8_000_000;

  function size(table) {
    // Nothing here may ask for a layout: with new rows and old spacers the table would be shorter, and lose its place.
    const height = Number(table.dataset.height) || 27, total = Number(table.dataset.total) || 0;
    const from = Number(table.dataset.from) || 0;
    const body = $("[data-rows]", table) || table;
    const rows = body.querySelectorAll("[data-index]").length;
    const scale = Math.min(1, TALLEST / Math.max(1, total * height));
    stretch($("[data-space=above]", table), from * height * scale);
    stretch($("[data-space=below]", table), Math.max(0, total - from - rows) * height * scale);
  }

  /** Give a spacer its height: a table's is a cell, others are boxes. */
  function stretch(space, pixels) {
    if (!space) return;
    const cell = $("td", space);
    if (cell) cell.setAttribute("height", Math.round(pixels));
    else space.style.height = Math.round(pixels) + "px";
  }

  let moving = new Map();
  async function moved(table) {
    if (!table.isConnected) return; // it has left the page and is at the top of nothing
    const id = table.dataset.table;
    const { height, total, sight } = measure(table);
    const scale = Math.min(1, TALLEST / Math.max(1, total * height));
    const first = Math.min(Math.max(0, total - sight), Math.floor(table.scrollTop / (height * scale)));
    const from = Math.max(0, first - sight), to = Math.min(total, first + 2 * sight);
    const have = Number(table.dataset.from) || 0;
    const rows = table.querySelectorAll("[data-index]").length;
    windows.set(id, from);
    tops.set(placeOf(table), table.scrollTop);
    stands.set(table, table.scrollTop);
    froms.set(placeOf(table), from);
    for (const part of parts.scrolled) part(table, first);
    if (first >= have && Math.min(first + sight, total) <= have + rows) return;
    if (moving.get(id)) { moving.set(id, "again"); return; }
    moving.set(id, "now");
    const at = table.scrollTop;
    const fair = view.current(); // the address may name another tab already, which has no such table
    try {
      const { answer } = await crew.call({ op: "window", fragment: location.hash, host: view.host(), table: id, from, to });
      if (table.isConnected && table.dataset.table === id) {
        const body = $("[data-rows]", table);
        view.patch(body, answer.html);
        table.dataset.from = answer.from;
        table.dataset.total = answer.total;
        size(table);
        for (const part of parts.scrolled) part(table, first);
      }
    } catch (error) {
      if (error.dead) await crew.died(error);
      else if (fair) notices.fatal(error);
    }
    // Somebody may have scrolled meanwhile, to where the rows before these were in sight.
    const more = moving.get(id) === "again" || table.scrollTop !== at;
    moving.delete(id);
    if (more && table.isConnected) moved(table);
  }

  Object.assign(lists, { windows, takePlaces, place, attach, watch, measure, moved, TALLEST });
})();
