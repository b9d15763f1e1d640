// Choices of a tab: lists that lead somewhere, and boxes whose value becomes a setting of the State.
"use strict";

(() => {
  const { params, setParam, decoded, view } = window.rollscope.page;

  /** The settings in a fragment, as pairs. A comma inside one has a backslash in front, as a backslash has. */
  function chosen(hash) {
    const text = decoded((params(hash).set || "").replace(/\+/g, " "), decodeURIComponent);
    const items = text.match(/(?:\\.|[^,\\])+/gs) || [];
    return items.map((item) => item.replace(/\\(.)/gs, "$1")).map((item) => [item.split("=", 1)[0], item.slice(item.indexOf("=") + 1)]);
  }

  const written = (pairs) => pairs.map((pair) => pair.join("=").replace(/[\\,]/g, "\\$&")).join(",");

  function choose(name, value) {
    const others = chosen(location.hash).filter(([other]) => other !== name);
    if (value) others.push([name, value]);
    setParam("set", written(others));
  }

  addEventListener("change", (e) => {
    if (!(e.target instanceof Element)) return;
    if (e.target.matches("select[data-go]")) location.hash = e.target.value;
    if (e.target.matches("input[data-set]")) choose(e.target.dataset.set, e.target.value.trim());
  });

  Object.assign(view, { chosen, written });
})();
