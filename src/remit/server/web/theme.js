/* Theme: dark, light, or as the system has it. Owns the attribute on the root element. It is no module, so that it runs
   before the first paint. */
"use strict";

(() => {
  const KEY = "remit-theme";
  const ORDER = ["system", "light", "dark"];

  function load() {
    try {
      const kept = localStorage.getItem(KEY);
      return ORDER.includes(kept) ? kept : "system";
    } catch {
      return "system"; // storage can be switched off
    }
  }

  function set(theme) {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // it holds until the page is left
    }
  }

  document.documentElement.dataset.theme = load();
  globalThis.remitTheme = {
    get: () => document.documentElement.dataset.theme,
    turn: () => set(ORDER[(ORDER.indexOf(document.documentElement.dataset.theme) + 1) % ORDER.length]),
  };
})();
