/**
 * Route: which page the address bar names.
 *
 * Owns the history. A page asks for another with `go`; main.js is told and draws it.
 */

const LIST = "/runs";
let draw = () => {};
let list = LIST;

/** Who draws when the address has changed. */
export function onRoute(act) {
  draw = act;
  addEventListener("popstate", () => draw());
}

/**
 * Go to a page of ours.
 * @param {string} path with its query
 * @param {{replace?: boolean, quiet?: boolean}} [how] replace: no new step to go back to; quiet: nothing is drawn
 */
export function go(path, how = {}) {
  if (path === location.pathname + location.search && !how.replace) return;
  if (location.pathname === LIST) list = location.pathname + location.search;
  if (how.replace || how.quiet) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  if (!how.quiet) draw();
}

/** The list of runs as it was left, with its filters. */
export function getList() {
  return list;
}

/**
 * The path of this page with other things in its query; null takes one out.
 * @param {Object<string, string|null>} changes
 */
export function withQuery(changes) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  const told = query.toString();
  return location.pathname + (told ? `?${told}` : "");
}

/** Clicks on links to our own pages do not load the page anew; with a modifier they do what browsers do. */
export function catchLinks() {
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!link || link.target || link.hasAttribute("download")) return;
    const href = link.getAttribute("href");
    if (!href.startsWith("/") || href.startsWith("/api/") || href.startsWith("/web/")) return;
    event.preventDefault();
    go(href);
  });
}
