// What the tests ask of a page. It runs before the page's first script and touches nothing of it.
"use strict";

globalThis.e2e = (() => {
  const violations = [];
  addEventListener("securitypolicyviolation", (e) => {
    violations.push(`policy: ${e.violatedDirective} refused ${e.blockedURI} at ${e.sourceFile}:${e.lineNumber}`);
  }, true);

  // Every value that data-state ever had, also one that was written again.
  const states = [];
  new MutationObserver((records) => {
    for (const r of records) if (r.type === "attributes" && r.target === document.documentElement) states.push(r.target.dataset.state);
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-state"] });

  // What became of the last drag: "dragover" once the page has let it pass, then "drop", or "dragleave" where the browser
  // took it back.
  let drag = "", dragged = () => {};
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) addEventListener(kind, () => { drag = kind; dragged(); }, true);

  /** Waits until the drag has come to one of some events, and tells which. */
  function dragTo(...kinds) {
    return new Promise((resolve) => {
      dragged = () => { if (kinds.includes(drag)) { dragged = () => {}; resolve(drag); } };
      dragged();
    });
  }

  /** The first true value of a test that is looked at after every change of the document and of the window. */
  function until(test) {
    return new Promise((resolve, reject) => {
      const end = (act, value) => { observer.disconnect(); removeEventListener("resize", look); act(value); };
      const look = () => {
        let value;
        try { value = test(); } catch (error) { end(reject, error); return; }
        if (value) end(resolve, value);
      };
      const observer = new MutationObserver(look);
      addEventListener("resize", look);
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      look();
    });
  }

  const visible = (el) => el.getClientRects().length > 0 && getComputedStyle(el).visibility === "visible";

  /** The middle of what a selector or a text names, brought into sight; nothing while it is not there. */
  function place(what) {
    const list = /[[.#]/.test(what) ? [...document.querySelectorAll(what)]
      : [...document.querySelectorAll("button,a,summary,label,[role=button]")].filter((el) => (el.innerText || "").trim() === what);
    const el = list.find(visible);
    if (!el) return null;
    el.scrollIntoView({ block: "nearest" });
    const box = el.getClientRects()[0];
    return [box.x + box.width / 2, box.y + box.height / 2];
  }

  function stats() {
    return [...document.querySelectorAll("[data-stat]")]
      .map((el) => [(el.dataset.run ? el.dataset.run + " " : "") + el.dataset.stat, el.dataset.value]);
  }

  return {
    violations, states, until, place, stats, dragTo,

    /** Whether the state is this one, and files that went in after so many changes are what it speaks of. */
    state(wanted, since) {
      if (since && !states.slice(since).includes("scanning")) return false;
      return document.documentElement.dataset.state === wanted;
    },

    has(wanted) {
      const have = Object.fromEntries(stats());
      return Object.entries(wanted).every(([name, value]) => have[name] === value);
    },

    alerts() {
      return [...document.querySelectorAll("[role=alert]")].filter(visible)
        .map((el) => ({ Code: el.dataset.code || "", Text: el.innerText.replace(/\s+/g, " ").trim() }));
    },

    describe() {
      const root = document.documentElement;
      return JSON.stringify({
        address: location.href.slice(0, 300), title: document.title, state: root.dataset.state, states: states.slice(-8), focus: document.activeElement?.outerHTML.slice(0, 160),
        stats: Object.fromEntries(stats().slice(0, 40)), alerts: this.alerts(),
        main: (document.querySelector("#region-main") || document.body).innerText.slice(0, 600),
      }, null, 1);
    },
  };
})();
