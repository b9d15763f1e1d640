// What the page says on its own account: alerts of the host, words for the live region, its own failure.
"use strict";

(() => {
  const { $, root, state, notices } = window.rollscope.page;

  function alert(code, file, text, help) {
    const path = file === undefined ? "" : state.files[file]?.path || "";
    if (state.alerts.some((a) => a.code === code && a.path === path && a.text === text)) return;
    state.alerts.push({ code, path, text, help: help || "" });
  }

  function fatal(error) {
    console.error(error);
    root.dataset.state = "failed";
    const at = $("#region-alerts") || document.body;
    $("#broken")?.remove();
    const box = document.createElement("div");
    box.id = "broken";
    box.setAttribute("role", "alert");
    box.className = "alert";
    box.textContent = `Something went wrong inside the page: ${error.message || error}`;
    at.append(box);
  }

  /** Tell people who listen and people who look. */
  function say(text) {
    const live = $("#live");
    if (live) live.textContent = text;
  }

  Object.assign(notices, { alert, say, fatal });
})();
