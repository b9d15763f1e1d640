// The page of one rollout: its timeline with zoom and selection, the strip of tokens, the search in its JSON.
"use strict";

(() => {
  const { $, $$, settings, params, setParam, decoded, encoded, parts, actions, crew, notices, view, lists } = window.rollscope.page;

  const ROW = 22, HEIGHT = 18;     // of a line and of a span, as in the markup
  const CLOSEST = 1 / 20000;       // share of the whole that fills the window at most

  const box = () => $("[data-timeline]");
  const rollout = () => params(location.hash).rollout || "";

  // ---- links ---------------------------------------------------------------------------------------------

  /** The fragment with other values; empty ones are left out. */
  function changed(values) {
    const keep = location.hash.replace(/^#/, "").split("&").filter((p) => p && !(p.split("=", 1)[0] in values));
    for (const [key, value] of Object.entries(values)) if (value) keep.push(key + "=" + encoded(String(value)));
    return "#" + keep.join("&");
  }

  /** Change the fragment without a step in the history. */
  function quietly(hash) {
    if (hash === location.hash) return;
    history.replaceState(null, "", hash);
    view.schedule();
  }

  const go = (at, turn) => { location.hash = changed({ part: "", at, turn, token: "", find: "", hit: "" }); };

  // ---- what is in sight ----------------------------------------------------------------------------------

  let of = "", range = { from: 0, to: 1 }, spans = null, here = 0;

  function look(from, to) {
    const width = Math.min(1, Math.max(CLOSEST, to - from));
    from = Math.min(1 - width, Math.max(0, from));
    range = { from, to: from + width };
    arrange();
  }

  function zoom(by, at = (range.from + range.to) / 2) {
    look(at - (at - range.from) * by, at + (range.to - at) * by);
  }

  /** Times of an axis of some seconds, about eight in sight. */
  function ticks(seconds) {
    const sight = seconds * (range.to - range.from);
    if (!(sight > 0)) return [[0, "0:00"]];
    const steps = [];
    for (let s = 1e-6; s < 60; s *= 10) steps.push(s, 2 * s, 5 * s);
    for (let s = 15; s < 1e13; s *= 2) steps.push(s);
    const step = steps.filter((s) => s < 10 || s >= 15).sort((a, b) => a - b).find((s) => sight / s <= 9) || sight;
    const list = [];
    for (let n = Math.max(0, Math.ceil(range.from * seconds / step - 1e-9)); n * step <= range.to * seconds * (1 + 1e-12) && list.length < 40; n++) list.push([n * step / seconds, clock(n * step, step)]);
    return list;
  }

  function clock(s, step) {
    const digits = step < 1 ? Math.min(6, Math.ceil(-Math.log10(step) - 1e-9)) : 0;
    if (s < 60 && digits) return Number(s.toFixed(digits)) + " s";
    const rest = (s % 60).toFixed(digits);
    return Math.floor(s / 60) + ":" + (Number(rest) < 10 ? "0" : "") + rest;
  }

  const shape = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  };

  let arranging = 0;
  /** Put the timeline into the range that is looked at, once a frame. */
  function arrange() {
    if (!arranging) arranging = requestAnimationFrame(() => { arranging = 0; arrangeNow(); });
  }

  function arrangeNow() {
    const timeline = box();
    if (!timeline) return;
    const width = range.to - range.from, seconds = Number(timeline.dataset.seconds), list = ticks(seconds);
    for (const inner of $$("[data-zoom]", timeline)) {
      inner.setAttribute("x", -range.from / width * 100 + "%");
      inner.setAttribute("width", 100 / width + "%");
    }
    const lines = $("[data-view] [data-zoom]", timeline), axis = $("[data-axis] [data-zoom]", timeline);
    if (lines) {
      for (const old of $$(".tick", lines)) old.remove();
      lines.prepend(...list.map(([at]) => shape("line", { class: "tick", x1: at * 100 + "%", x2: at * 100 + "%", y1: 0, y2: "100%" })));
    }
    if (axis) axis.replaceChildren(...list.map(([at, text]) => shape("text", { x: at * 100 + "%", y: 12 }, text)));
    mark();
    paint(list);
  }

  // ---- the turn in sight ---------------------------------------------------------------------------------

  /** Mark the turn that the transcript shows. */
  function mark() {
    const timeline = box(), band = timeline && $("[data-here]", timeline);
    if (!band) return;
    const turn = here && $(`[data-span][data-kind=turn][data-turn="${here}"] .box`, timeline);
    band.setAttribute("x", turn ? turn.getAttribute("x") : 0);
    band.setAttribute("width", turn ? turn.getAttribute("width") : 0);
  }

  function turnInSight() {
    const read = $(".read[data-scroller]");
    if (!read) return 0;
    const { top, bottom } = read.getBoundingClientRect();
    for (const turn of $$(".turn[data-turn]", read)) {
      const place = turn.getBoundingClientRect();
      if (place.bottom > top + 40 && place.top < bottom) return Number(turn.dataset.turn);
    }
    return 0;
  }

  let following = 0;
  function follow() {
    cancelAnimationFrame(following);
    following = requestAnimationFrame(() => {
      const now = turnInSight();
      if (!now || now === here) return;
      here = now;
      mark();
      paint();
      for (const link of $$(".rail a")) link.classList.toggle("now", link.dataset.target === "turn-" + here);
    });
  }
  document.addEventListener("scroll", (e) => { if (e.target.matches && e.target.matches(".read[data-scroller]")) follow(); }, { capture: true, passive: true });

  // ---- many spans ----------------------------------------------------------------------------------------

  const at = (i, field) => spans.data[i * 7 + field];
  const START = 0, LENGTH = 1, LINE = 2, KIND = 3, FLAGS = 4, TURN = 5, LABEL = 6;

  async function fetchSpans() {
    const fragment = location.hash, wanted = rollout();
    try {
      const { answer } = await crew.call({ op: "window", fragment, host: view.host(), table: "timeline", from: 0, to: 0 });
      if (wanted !== rollout()) return;
      spans = answer;
      spans.of = wanted;
      spans.data = Float64Array.from(spans.data);
      spans.order = spans.numbers.map((_, i) => i).sort((a, b) => at(a, START) - at(b, START) || a - b);
      arrange();
    } catch (error) {
      if (error.dead) await crew.died(error); else notices.failed(error);
    }
  }

  /** Which span the page stands at. */
  function chosen() {
    const { at: spot = "", turn = "" } = params(location.hash);
    const letter = /^[ctisk]/.test(spot) ? spot[0] : " ";
    const number = Number(letter === " " ? turn : spot.slice(1).split(".")[0]);
    return spans ? spans.numbers.findIndex((n, i) => n === number && spans.letters[i] === letter) : -1;
  }

  function paint(list) {
    const timeline = box(), canvas = timeline && $("[data-spans]", timeline);
    if (!canvas) return;
    if (!spans || spans.of !== rollout()) {
      if (!canvas.dataset.asked || canvas.dataset.asked !== rollout()) { canvas.dataset.asked = rollout(); fetchSpans(); }
      return;
    }
    const scroll = $("[data-time]", timeline), holder = canvas.parentElement;
    holder.style.height = spans.rows * ROW + "px";
    const width = holder.clientWidth, height = Math.min(scroll.clientHeight, spans.rows * ROW), dense = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
      canvas.width = Math.round(width * dense);
      canvas.height = Math.round(height * dense);
      canvas.style.height = height + "px";
    }
    const pen = canvas.getContext("2d"), css = getComputedStyle(timeline), colour = (name) => css.getPropertyValue("--" + name);
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.clearRect(0, 0, width, height);
    const whole = spans.seconds * 1000, sight = range.to - range.from, first = scroll.scrollTop;
    const x = (ms) => (whole ? ms / whole - range.from : 0) / sight * width;
    pen.fillStyle = colour("grid");
    for (const [share] of list || ticks(spans.seconds)) pen.fillRect(Math.round((share - range.from) / sight * width), 0, 1, height);
    const fills = ["bg-3", "accent-bg", "s1", "s2", "s4", "s4"].map(colour), bad = colour("unhealthy"), fg = colour("fg"), bg = colour("bg"), edge = colour("edge");
    pen.font = "11px " + css.fontFamily;
    pen.textBaseline = "middle";
    const now = chosen(), last = new Map(); // line → the pixel that is drawn already
    for (let i = 0; i < spans.numbers.length; i++) {
      const y = at(i, LINE) * ROW + 2 - first;
      if (y > height || y + HEIGHT < 0) continue;
      const left = x(at(i, START)), wide = Math.max(2, whole ? at(i, LENGTH) / whole / sight * width : 2);
      if (left > width || left + wide < 0) continue;
      if (wide <= 2 && i !== now && !(at(i, FLAGS) & 1)) {
        // Of many in one pixel one is enough.
        const pixel = Math.round(left);
        if (last.get(at(i, LINE)) === pixel) continue;
        last.set(at(i, LINE), pixel);
      }
      const kind = at(i, KIND), from = Math.max(left, -2), to = Math.min(left + wide, width + 2);
      pen.fillStyle = at(i, FLAGS) & 1 ? bad : fills[kind];
      pen.fillRect(from, y, to - from, HEIGHT);
      if (kind < 2 && wide > 3) { pen.strokeStyle = edge; pen.lineWidth = 0.5; pen.strokeRect(from + 0.5, y + 0.5, to - from - 1, HEIGHT - 1); }
      if (here && kind === 1 && at(i, TURN) === here) { pen.globalAlpha = 0.14; pen.fillStyle = colour("accent"); pen.fillRect(from, 0, to - from, height); pen.globalAlpha = 1; }
      if (i === now) { pen.strokeStyle = fg; pen.lineWidth = 2; pen.strokeRect(from + 1, y + 1, Math.max(1, to - from - 2), HEIGHT - 2); }
      const label = spans.labels[at(i, LABEL)];
      if (label && to - from > 26) {
        pen.save();
        pen.beginPath();
        pen.rect(from, y, to - from - 2, HEIGHT);
        pen.clip();
        pen.fillStyle = kind < 2 && !(at(i, FLAGS) & 1) ? fg : bg;
        pen.fillText(label, Math.max(from, 0) + 4, y + HEIGHT / 2 + 0.5);
        pen.restore();
      }
    }
  }

  /** The span under a pointer. */
  function hit(canvas, e) {
    if (!spans) return -1;
    const place = canvas.getBoundingClientRect(), scroll = $("[data-time]");
    const row = Math.floor((e.clientY - place.top + scroll.scrollTop) / ROW);
    const pixel = spans.seconds * 1000 * (range.to - range.from) / place.width;
    const ms = (range.from + (e.clientX - place.left) / place.width * (range.to - range.from)) * spans.seconds * 1000;
    let best = -1, near = Infinity;
    for (let i = 0; i < spans.numbers.length; i++) {
      if (at(i, LINE) !== row) continue;
      const off = Math.max(at(i, START) - ms, ms - at(i, START) - at(i, LENGTH), 0) / (pixel || 1);
      if (off < 4 && off < near) { best = i; near = off; }
    }
    return best;
  }

  function select(i) {
    if (i < 0 || i >= spans.numbers.length) return;
    if (spans.letters[i] === " ") go("", String(spans.numbers[i]));
    else go(spans.letters[i] + spans.numbers[i], String(at(i, TURN) || ""));
  }

  /** From span to span in the order of time. */
  function step(by) {
    if ($("[data-spans]")) {
      if (!spans) return;
      const now = spans.order.indexOf(chosen());
      const next = now < 0 ? (by > 0 ? 0 : spans.order.length - 1) : Math.min(spans.order.length - 1, Math.max(0, now + by));
      select(spans.order[next]);
      return;
    }
    const list = [...$$("[data-span]")].sort((a, b) => parseFloat($(".box", a).getAttribute("x")) - parseFloat($(".box", b).getAttribute("x")));
    const now = list.findIndex((a) => a.hasAttribute("aria-current"));
    const next = list[now < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, now + by))];
    if (next) location.hash = next.getAttribute("href");
  }

  // ---- pointer and keys ----------------------------------------------------------------------------------

  const share = (area, e) => {
    const place = ($("[data-view]", area) || $("[data-spans]", area)).getBoundingClientRect();
    return range.from + Math.min(1, Math.max(0, (e.clientX - place.left) / place.width)) * (range.to - range.from);
  };

  document.addEventListener("wheel", (e) => {
    const area = e.target.closest && e.target.closest("[data-time]");
    if (!area) return;
    const width = range.to - range.from;
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 120), share(area, e));
    } else if (Math.abs(e.deltaX) > Math.abs(e.deltaY) && width < 1) {
      e.preventDefault();
      look(range.from + e.deltaX / area.clientWidth * width, range.to + e.deltaX / area.clientWidth * width);
    }
  }, { passive: false });

  let drag = null;
  document.addEventListener("pointerdown", (e) => {
    const area = e.button === 0 && e.target.closest("[data-time]");
    if (area) drag = { x: e.clientX, range, area, moved: false };
  });
  document.addEventListener("pointermove", (e) => {
    const canvas = e.target.closest && e.target.closest("[data-spans]");
    if (canvas && !drag) {
      const i = hit(canvas, e);
      canvas.title = i < 0 ? "" : `${spans.kinds[at(i, KIND)]} ${spans.labels[at(i, LABEL)]}, ${Number((at(i, LENGTH) / 1000).toFixed(3))} s`;
      canvas.style.cursor = i < 0 ? "" : "pointer";
    }
    if (!drag || !(e.buttons & 1)) return;
    const by = (drag.x - e.clientX) / drag.area.clientWidth * (drag.range.to - drag.range.from);
    if (Math.abs(drag.x - e.clientX) < 4 && !drag.moved || drag.range.to - drag.range.from >= 1) return;
    drag.moved = true;
    look(drag.range.from + by, drag.range.to + by);
  });
  addEventListener("click", (e) => {
    if (drag && drag.moved) { e.preventDefault(); e.stopPropagation(); }
    drag = null;
  }, { capture: true });
  addEventListener("dragstart", (e) => { if (drag) e.preventDefault(); });

  document.addEventListener("click", (e) => {
    const canvas = e.target.closest("[data-spans]");
    if (canvas) return select(hit(canvas, e));
    const hitLink = e.target.closest("a[data-hit]");
    if (hitLink) { e.preventDefault(); return quietly(hitLink.getAttribute("href")); }
    const token = e.target.closest("[data-token]");
    if (token && !String(getSelection())) quietly(changed({ token: token.dataset.token }));
  });

  document.addEventListener("keydown", (e) => {
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    const inTime = e.target.closest("[data-time]"), inStrip = e.target.closest("[data-token-strip]");
    const way = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (inTime) {
      if (way && e.shiftKey) { const by = way * (range.to - range.from) / 4; look(range.from + by, range.to + by); }
      else if (way) step(way);
      else if (e.key === "Home" || e.key === "End") step(e.key === "End" ? 1e9 : -1e9);
      else if (e.key === "0") look(0, 1);
      else return;
      e.preventDefault();
    } else if (inStrip && (way || e.key === "Home" || e.key === "End")) {
      const list = [...$$("[data-token]", inStrip)];
      const now = Number(params(location.hash).token || list[0].dataset.token - 1);
      const to = e.key === "Home" ? Number(list[0].dataset.token) : e.key === "End" ? Number(list[list.length - 1].dataset.token) : now + way;
      if (to > 0) quietly(changed({ token: String(to) }));
      e.preventDefault();
    } else if (e.target.matches("[data-find]") && e.key === "Enter") {
      e.preventDefault();
      if (seek()) return;
      const link = $(`[data-hit=${e.shiftKey ? "previous" : "next"}]`);
      if (link) link.click();
    } else if (e.target.matches("[data-jump]") && e.key === "Enter") {
      e.preventDefault();
      jump(e.target);
    }
  });

  function jump(input) {
    const turn = parseInt(input.value, 10);
    input.value = "";
    if (turn > 0) go("", String(turn));
  }

  // ---- search in the JSON --------------------------------------------------------------------------------

  let seeking = 0;
  /** Look for what is written; tells whether that is something else than before. */
  function seek() {
    clearTimeout(seeking);
    const input = $("[data-find]");
    if (!input) return false;
    const hash = changed({ find: input.value, hit: "" }), before = params(location.hash).find || "";
    if (encoded(input.value) === encoded(decoded(before.replace(/\+/g, " "), decodeURIComponent))) return false;
    quietly(hash);
    return true;
  }
  document.addEventListener("input", (e) => {
    if (!e.target.matches("[data-find]")) return;
    clearTimeout(seeking);
    seeking = setTimeout(seek, 200);
  });

  // ---- actions -------------------------------------------------------------------------------------------

  Object.assign(actions, {
    timeline: () => {
      if (!box()) return;
      settings.set("timeline", settings.get("timeline") === "closed" ? "" : "closed");
      settle();
    },
    "zoom-in": () => { if (box()) zoom(0.5); },
    "zoom-out": () => { if (box()) zoom(2); },
    "zoom-all": () => { if (box()) look(0, 1); },
    "next-finding": () => finding(1),
    "previous-finding": () => finding(-1),
  });

  function finding(by) {
    const links = [...$$(".facts .found a[data-target]")];
    if (!links.length) return;
    const spot = params(location.hash).at || "";
    const now = links.findIndex((a) => params(a.getAttribute("href")).at === spot);
    links[now < 0 ? (by > 0 ? 0 : links.length - 1) : (now + by + links.length) % links.length].click();
  }

  // ---- after a drawing -----------------------------------------------------------------------------------

  let shown = "", token = "", railed = "", stood = "";
  function settle() {
    const { rollout: row = "", part = "", at: spot = "", token: now = "", turn = "" } = params(location.hash);
    // Lists inside a rollout begin at their top in another one.
    const place = [row, part, part === "calls" ? spot : ""].join(" ");
    for (const table of $$("[data-table=raw],[data-table=calls-of-row],[data-table=spans]")) {
      const goal = $("pre .on", table)?.id || "";
      if (place !== shown && (table.dataset.table === "raw" || !shown.startsWith(row + " "))) table.scrollTop = 0;
      // The rows around a new goal have come with it, and it is brought into sight next.
      if (!goal || goal === stood) lists.moved(table);
      if (table.dataset.table === "raw") stood = goal;
    }
    shown = place;
    if (now !== token) {
      token = now;
      const element = $("[data-token-strip] [aria-selected]");
      if (element) element.scrollIntoView({ block: "nearest" });
    }
    if (row + " " + turn !== railed) {
      railed = row + " " + turn;
      const link = $(".rail a[aria-current]");
      if (link) link.scrollIntoView({ block: "nearest" });
    }
    const timeline = box();
    if (!timeline) { of = ""; return; }
    if (of !== row) {
      of = row;
      range = { from: 0, to: 1 };
      here = 0;
      if (spans && spans.of !== row) spans = null;
    }
    here = Number(turn) || here || turnInSight();
    const closed = settings.get("timeline") === "closed";
    timeline.classList.toggle("closed", closed);
    $("[data-action=timeline]", timeline).setAttribute("aria-expanded", String(!closed));
    const scroll = $("[data-time]", timeline);
    if (scroll && !scroll.dataset.heard) {
      scroll.dataset.heard = "";
      scroll.addEventListener("scroll", () => paint(), { passive: true });
      new ResizeObserver(() => paint()).observe(scroll);
    }
    arrange();
  }
  parts.settled.push(settle);
  parts.renewed.push(() => {
    spans = null;
    for (const canvas of $$("[data-spans]")) delete canvas.dataset.asked;
  });
})();
