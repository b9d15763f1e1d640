// The grid of tasks: the cells of the rows in sight, drawn in the page's colours and shapes. The desk answers a few
// bytes a cell; what a cell means is asked for when somebody points at it.
"use strict";

(() => {
  const { $, $$, root, parts, crew, notices, view, lists } = window.rollscope.page;

  // As view.Desk.Cells has them.
  const HEAD = 16, VERDICT = 0x07, REWARD = 0x18, ZERO = 0x08, ONE = 0x10, OTHER = 0x18, MASKED = 0x20, REPEATED = 0x40, UNFITTING = 0x80;
  const VERDICTS = ["", "healthy", "unhealthy", "unobserved", "failed", "omitted", "unknown", "unscored"], FATES = 4;   // from FATES on there is no result
  const WIDE = 30, MARKED = 12;   // pixels from which on a cell has a number, a mark

  const grids = new WeakMap();    // canvas → its state

  function gridOf(canvas) {
    let grid = grids.get(canvas);
    if (!grid) {
      grid = { canvas, table: canvas.closest("[data-table]"), cells: null, at: null, hover: null, asking: 0, wanted: false };
      grids.set(canvas, grid);
      listen(grid);
    }
    return grid;
  }

  // ---- cells ---------------------------------------------------------------------------------------------

  function parse(bytes) {
    const words = new DataView(bytes);
    const from = words.getUint32(0, true), rows = words.getUint32(4, true), columns = words.getUint32(8, true);
    const flags = new Uint8Array(bytes, HEAD, rows * columns);
    const rewards = new Map();
    let at = HEAD + flags.length;
    for (let i = 0; i < flags.length; i++) {
      if ((flags[i] & REWARD) !== OTHER) continue;
      rewards.set(i, words.getFloat32(at, true));
      at += 4;
    }
    return { from, rows, columns, flags, rewards };
  }

  /** Ask for the cells around the rows in sight; one question at a time. */
  async function fetchCells(grid) {
    if (grid.busy) { grid.wanted = true; return; }
    grid.busy = true;
    const { first, sight } = inSight(grid);
    try {
      const from = Math.max(0, first - sight);
      const { bytes } = await crew.call({ op: "grid", fragment: location.hash, host: view.host(), from, to: first + 2 * sight }, { raw: true });
      grid.cells = parse(bytes);
    } catch (error) {
      if (error.dead) await crew.died(error); else if (grid.canvas.isConnected) notices.fatal(error);
    }
    grid.busy = false;
    if (grid.wanted) { grid.wanted = false; fetchCells(grid); }
    schedule(grid);
  }

  /** Rows in sight, by the rows that the table has in the document. */
  function inSight(grid) {
    const { height, sight } = lists.measure(grid.table);
    const row = $("[data-index]", grid.table);
    if (!row) return { first: 0, sight, height, top: 0, index: 0 };
    const top = row.getBoundingClientRect().top - grid.canvas.parentElement.getBoundingClientRect().top;
    const index = Number(row.dataset.index);
    return { first: Math.max(0, index + Math.floor(-top / height)), sight, height, top, index };
  }

  // ---- drawing -------------------------------------------------------------------------------------------

  function schedule(grid) {
    if (grid.frame) return;
    grid.frame = requestAnimationFrame(() => { grid.frame = 0; if (grid.canvas.isConnected) draw(grid); });
  }

  const shapes = new Map();
  /** The outline of a mark, as the legend has it. */
  function shapeOf(word) {
    if (!shapes.has(word)) {
      const path = $(`.key .m-${word} path`);
      shapes.set(word, new Path2D(path ? path.getAttribute("d") : "M1 1h8v8H1z"));
    }
    return shapes.get(word);
  }

  function draw(grid) {
    const { canvas, table } = grid;
    const head = $("th[data-column=cells]", table);
    const columns = Number(canvas.dataset.columns), cell = Number(canvas.dataset.cell);
    if (!head || !columns) return;
    const { first, sight, height, top, index } = inSight(grid);
    const pane = canvas.parentElement.getBoundingClientRect();
    const places = $(".places", head).getBoundingClientRect();
    const width = columns * cell, tall = Math.max(0, table.clientHeight - head.offsetHeight);
    const scale = window.devicePixelRatio || 1;
    canvas.style.left = `${places.left - pane.left}px`;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${tall}px`;
    const [w, h] = [Math.round(width * scale), Math.round(tall * scale)];
    if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
    const c = canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, width, tall);
    const cells = grid.cells;
    if (!cells) return;
    const style = getComputedStyle(root);
    const colour = (name) => style.getPropertyValue(name).trim();
    const ink = Object.fromEntries(["--fg", "--muted", "--line", "--solved", "--accent", "--healthy", "--unhealthy", "--unobserved", "--failed", "--omitted", "--unknown", "--unscored"].map((n) => [n.slice(2), colour(n)]));
    c.font = `12px ${colour("--sans")}`;
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.lineWidth = 1;
    for (let row = first; row <= first + sight; row++) {
      const y = top + (row - index) * height, n = row - cells.from;
      if (n < 0 || n >= cells.rows) continue;
      for (let column = 0; column < Math.min(columns, cells.columns); column++) {
        const i = n * cells.columns + column;
        if (cells.flags[i]) drawCell(c, ink, column * cell, y, cell, height, cells.flags[i], cells.rewards.get(i));
      }
    }
    const ring = document.activeElement === canvas && grid.at;
    if (ring) {
      c.strokeStyle = ink.accent;
      c.lineWidth = 2;
      c.strokeRect(ring.column * cell + 1, top + (ring.row - index) * height + 1, Math.max(cell - 2, 4), height - 3);
    }
  }

  function drawCell(c, ink, x, y, width, height, flags, other) {
    const word = VERDICTS[flags & VERDICT] || "unobserved", fate = (flags & VERDICT) >= FATES;
    const reward = flags & REWARD;
    const solved = reward === ONE && !(flags & MASKED);
    c.globalAlpha = flags & UNFITTING ? 0.28 : 1;
    const gap = width >= MARKED ? 1 : 0;
    if (solved) {
      c.fillStyle = ink.solved;
      c.fillRect(x + gap, y + 1, width - 2 * gap, height - 3);
    }
    if (width >= MARKED) {
      if (!fate) {
        c.strokeStyle = solved ? ink.solved : ink.line;
        c.strokeRect(x + 1.5, y + 1.5, width - 3, height - 4);
      }
      c.save();
      c.translate(width >= WIDE && !fate ? x + 5 : x + width / 2 - 5, y + height / 2 - 5.5);
      c.fillStyle = ink[word];
      c.fill(shapeOf(word), "evenodd");
      c.restore();
    } else {
      // Too narrow for a shape: the height tells them apart.
      const part = { healthy: 0.45, unhealthy: 0.8, unobserved: 0.2, failed: 0.8, omitted: 0.1, unknown: 0.3, unscored: 0.3 }[word];
      c.fillStyle = ink[word];
      c.fillRect(x, y + (height - 1) * (1 - part) / 2, Math.max(1, width - 1), (height - 1) * part);
    }
    if (width >= WIDE && !fate) {
      c.fillStyle = reward ? ink.fg : ink.muted;
      const text = reward === ONE ? "1" : reward === ZERO ? "0" : reward === OTHER ? short(other) : "–";
      c.fillText(flags & MASKED ? `(${text})` : text, x + width - 5, y + height / 2, width - 18);
    }
    if (flags & REPEATED && width >= MARKED) {
      c.fillStyle = ink.fg;
      c.beginPath();
      c.moveTo(x + width - 2, y + 2);
      c.lineTo(x + width - 8, y + 2);
      c.lineTo(x + width - 2, y + 8);
      c.fill();
    }
    c.globalAlpha = 1;
  }

  const short = (f) => Math.abs(f) >= 1000 || (f !== 0 && Math.abs(f) < 0.01) ? f.toExponential(0) : String(Number(f.toPrecision(2))).replace(/^(-?)0\./, "$1.");

  // ---- pointing ------------------------------------------------------------------------------------------

  let box = null;
  /** What a cell means, beside it for those who look and spoken for those who listen. */
  async function tell(grid, place, spoken) {
    const mine = ++grid.asking;
    const cell = await ask(place);
    if (mine !== grid.asking || !cell || !grid.canvas.isConnected) return;
    if (spoken) notices.say(cell.text);
    if (!box) {
      box = document.createElement("p");
      box.className = "tell";
      box.setAttribute("aria-hidden", "true");
      document.body.append(box);
    }
    box.textContent = cell.text;
    told = { grid, place };
    beside();
  }

  let told = null;
  /** The box stands beside its cell for as long as that is in sight. */
  function beside() {
    if (!told || !box) return;
    const { grid, place } = told;
    if (!grid.canvas.isConnected) return hush();
    const at = grid.canvas.getBoundingClientRect(), width = Number(grid.canvas.dataset.cell);
    const { top, index, height } = inSight(grid);
    const y = at.top + top + (place.row - index) * height;
    box.hidden = y < at.top - height || y > at.bottom;
    box.style.left = `${Math.max(4, Math.min(at.left + place.column * width, innerWidth - box.offsetWidth - 4))}px`;
    box.style.top = `${y + height + box.offsetHeight + 4 < innerHeight ? y + height + 2 : y - box.offsetHeight - 2}px`;
  }

  function hush() {
    told = null;
    if (box) box.hidden = true;
  }

  async function ask({ row, column }) {
    try {
      return (await crew.call({ op: "cell", fragment: location.hash, host: view.host(), row, column })).answer;
    } catch (error) {
      if (error.dead) await crew.died(error);
      return null;
    }
  }

  async function open(place) {
    const cell = await ask(place);
    hush();
    if (cell && cell.href) location.hash = cell.href;
  }

  function placeAt(grid, e) {
    const rect = grid.canvas.getBoundingClientRect();
    const { top, index, height } = inSight(grid);
    const row = index + Math.floor((e.clientY - rect.top - top) / height);
    const column = Math.floor((e.clientX - rect.left) / Number(grid.canvas.dataset.cell));
    const { total } = lists.measure(grid.table);
    return row >= 0 && row < total && column >= 0 && column < Number(grid.canvas.dataset.columns) ? { row, column } : null;
  }

  const same = (a, b) => Boolean(a && b && a.row === b.row && a.column === b.column);

  function listen(grid) {
    const { canvas, table } = grid;
    let wait = 0;
    canvas.addEventListener("pointermove", (e) => {
      const place = placeAt(grid, e);
      if (same(place, grid.hover)) return;
      grid.hover = place;
      clearTimeout(wait);
      if (place) wait = setTimeout(() => tell(grid, place, false), 60); else { grid.asking++; hush(); }
    });
    canvas.addEventListener("pointerleave", () => { clearTimeout(wait); grid.hover = null; grid.asking++; hush(); });
    canvas.addEventListener("click", (e) => {
      const place = placeAt(grid, e);
      if (place) { grid.at = place; open(place); }
    });
    canvas.addEventListener("focus", () => {
      if (!grid.at) grid.at = { row: inSight(grid).first, column: 0 };
      if (canvas.matches(":focus-visible")) tell(grid, grid.at, true);
      schedule(grid);
    });
    canvas.addEventListener("blur", () => { hush(); schedule(grid); });
    canvas.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const columns = Number(canvas.dataset.columns), { total, sight } = lists.measure(table);
      const at = { ...(grid.at || { row: 0, column: 0 }) };
      switch (e.key) {
        case "ArrowRight": at.column++; break;
        case "ArrowLeft": at.column--; break;
        case "ArrowDown": case "j": at.row++; break;
        case "ArrowUp": case "k": at.row--; break;
        case "PageDown": at.row += sight - 3; break;
        case "PageUp": at.row -= sight - 3; break;
        case "Home": at.column = 0; break;
        case "End": at.column = columns - 1; break;
        case "Enter": case " ": e.preventDefault(); open(at); return;
        default: return;
      }
      e.preventDefault();
      grid.at = { row: Math.min(total - 1, Math.max(0, at.row)), column: Math.min(columns - 1, Math.max(0, at.column)) };
      reveal(grid).then(() => tell(grid, grid.at, true));
    });
  }

  /** Bring the cell that the keyboard is at into sight. */
  async function reveal(grid) {
    const { table, canvas, at } = grid;
    const { height, total } = lists.measure(table);
    const head = $("thead", table).offsetHeight;
    const { top, index } = inSight(grid);
    const y = top + (at.row - index) * height, room = table.clientHeight - head;
    if (y < 0 || y + height > room) {
      const scale = Math.min(1, lists.TALLEST / Math.max(1, total * height));
      if (scale < 1) table.scrollTop = at.row * height * scale;
      else table.scrollTop += y < 0 ? y : y + height - room;
      await lists.moved(table);
    }
    const cell = Number(canvas.dataset.cell), left = canvas.getBoundingClientRect().left - table.getBoundingClientRect().left + at.column * cell;
    if (left < 0) table.scrollLeft += left;
    else if (left + cell > table.clientWidth) table.scrollLeft += left + cell - table.clientWidth;
    schedule(grid);
  }

  // ---- when to draw --------------------------------------------------------------------------------------

  const all = () => [...$$("canvas[data-grid]")].map(gridOf);

  parts.settled.push(() => {
    hush();
    for (const grid of all()) fetchCells(grid);
  });
  parts.scrolled.push((table) => {
    for (const grid of all()) {
      if (grid.table !== table) continue;
      const { first, sight } = inSight(grid);
      const have = grid.cells;
      if (!have || first < have.from || Math.min(first + sight, lists.measure(table).total) > have.from + have.rows) fetchCells(grid);
      draw(grid);
      beside();
    }
  });
  addEventListener("resize", () => all().forEach(schedule));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => all().forEach(schedule));
  matchMedia("(forced-colors: active)").addEventListener("change", () => all().forEach(schedule));
  new MutationObserver(() => all().forEach(schedule)).observe(root, { attributeFilter: ["data-theme"] });
})();
