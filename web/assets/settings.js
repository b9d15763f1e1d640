// Choices of a tab: lists that lead somewhere, and boxes whose value becomes a setting of the State.
"use strict";

(() => {
  const { params, setParam, decoded } = window.rollscope.page;

  /** The settings in the address, as pairs. A comma inside one has a backslash in front, as a backslash has. */
  function settings() {
    const text = decoded((params(location.hash).set || "").replace(/\+/g, " "), decodeURIComponent);
    const items = text.match(/(?:\\.|[^,\\])+/gs) || [];
    return items.map((item) => item.replace(/\\(.)/gs, "$1")).map((item) => [item.split("=", 1)[0], item.slice(item.indexOf("=") + 1)]);
  }

  function choose(name, value) {
    const others = settings().filter(([other]) => other !== name);
    if (value) others.push([name, value]);
    setParam("set", others.map((pair) => pair.join("=").replace(/[\\,]/g, "\\$&")).join(","));
  }

  addEventListener("change", (e) => {
    if (!(e.target instanceof Element)) return;
    if (e.target.matches("select[data-go]")) location.hash = e.target.value;
    if (e.target.matches("input[data-set]")) choose(e.target.dataset.set, e.target.value.trim());
  });
})();
