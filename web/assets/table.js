// Tables: which rows are in sight, and heads that are pulled wider or moved. What comes of a pull is a State, so that
// it is in the link and can be undone by going back; the same is done by the links of the chooser.
"use strict";

(() => {
  const { $, $$, setParam, params, keep, parts, lists } = window.rollscope.page;

  // ---- rows in sight -------------------------------------------------------------------------------------

  const number = new Intl.NumberFormat("en-US");

  /** Say which rows are in sight as a whole. */
  function tell(table) {
    const place = $(`[data-sight="${CSS.escape(table.dataset.table)}"]`);
    if (!place) return;
    const { height, total } = lists.measure(table), row = $("[data-index]", table);
    let text = "no rows";
    if (total && row) {
      const head = $("thead", table)?.offsetHeight || 0, index = Number(row.dataset.index);
      const top = row.getBoundingClientRect().top - table.getBoundingClientRect().top - head;
      const first = Math.max(0, index + Math.ceil(-top / height - 0.01));
      const last = Math.min(total, index + Math.floor((table.clientHeight - head - top) / height + 0.01));
      text = `rows ${number.format(Math.min(first + 1, total))}–${number.format(Math.max(last, first + 1))} of ${number.format(total)}`;
    }
    if (place.textContent !== text) place.textContent = text;
  }

  parts.scrolled.push(tell);
  parts.seen.push(() => {
    for (const table of $$("[data-table][data-window]")) tell(table);
  });

  // ---- columns -------------------------------------------------------------------------------------------

  const NARROWEST = 40, BROADEST = 1200, FAR = 6; // pixels
  const headsOf = (table) => [...$$("thead th[data-column]", table)];

  /** Write the heads of a table into the State, in their order. */
  function write(table, order, widths) {
    const text = order.map((key) => widths.get(key) ? `${key}:${widths.get(key)}` : key).join(",");
    setParam("columns", text, false);
    const tab = $("[data-tab][aria-current]")?.dataset.tab || params(location.hash).tab;
    if (tab) keep("columns." + tab, location.hash);
  }

  function columnsOf(table) {
    const order = [], widths = new Map();
    for (const th of headsOf(table)) {
      order.push(th.dataset.column);
      if (th.dataset.width) widths.set(th.dataset.column, Number(th.dataset.width));
    }
    return { order, widths };
  }

  let pull = null;

  addEventListener("pointerdown", (e) => {
    const th = e.button === 0 && e.target instanceof Element && e.target.closest("th[data-movable]");
    if (!th) return;
    const table = th.closest("[data-table]");
    pull = { th, table, x: e.clientX, id: e.pointerId, width: th.getBoundingClientRect().width, sizing: e.target.closest("[data-grip]"), on: false };
    if (pull.sizing) { e.preventDefault(); begin(); }
  });

  function begin() {
    pull.on = true;
    pull.th.setPointerCapture?.(pull.id);
    pull.th.classList.add(pull.sizing ? "sizing" : "moved");
  }

  addEventListener("pointermove", (e) => {
    if (!pull || e.pointerId !== pull.id) return;
    const by = e.clientX - pull.x;
    if (!pull.on && Math.abs(by) > FAR) begin();
    if (!pull.on) return;
    if (pull.sizing) {
      const col = $$("col", pull.table)[pull.th.cellIndex];
      pull.to = Math.round(Math.min(BROADEST, Math.max(NARROWEST, pull.width + by)));
      if (col) col.setAttribute("width", pull.to);
      return;
    }
    for (const th of headsOf(pull.table)) th.classList.remove("before", "behind");
    const over = headsOf(pull.table).find((th) => { const r = th.getBoundingClientRect(); return e.clientX >= r.left && e.clientX < r.right; });
    pull.over = over && over !== pull.th ? over : null;
    if (!pull.over) return;
    const { left, width } = pull.over.getBoundingClientRect();
    pull.behind = e.clientX > left + width / 2;
    pull.over.classList.add(pull.behind ? "behind" : "before");
  });

  function end(e, done) {
    if (!pull || e.pointerId !== pull.id) return;
    const { th, table, on, sizing, to, over, behind } = pull;
    pull = null;
    th.classList.remove("sizing", "moved");
    for (const head of headsOf(table)) head.classList.remove("before", "behind");
    if (!on) return;
    swallow = true;
    setTimeout(() => { swallow = false; }, 0);
    if (!done) return;
    const { order, widths } = columnsOf(table);
    if (sizing && to) {
      widths.set(th.dataset.column, to);
      write(table, order, widths);
    } else if (over) {
      const rest = order.filter((key) => key !== th.dataset.column);
      rest.splice(rest.indexOf(over.dataset.column) + (behind ? 1 : 0), 0, th.dataset.column);
      write(table, rest, widths);
    }
  }

  // The click that ends a pull is none.
  let swallow = false;
  addEventListener("click", (e) => { if (swallow) { e.preventDefault(); e.stopPropagation(); } }, true);

  addEventListener("pointerup", (e) => end(e, true));
  addEventListener("pointercancel", (e) => end(e, false));
  addEventListener("keydown", (e) => { if (e.key === "Escape" && pull?.on) { e.preventDefault(); end({ pointerId: pull.id }, false); } }, true);
})();
