/**
 * Main: the frame around every page.
 *
 * Owns which page is drawn for an address, the bar at the top, the keys that work everywhere, and what is said when the
 * connection is lost or the session is over. A page is a module with `page(root, params)`: it draws into `root` and
 * returns a function that ends it. `params` holds `id`, where the address has one, and `query`.
 */

import { follow, get, reconnect, watchLink } from "./api.js";
import { show } from "./dialogs.js";
import { h, replace } from "./dom.js";
import { icon, problem } from "./format.js";
import { bind, listen, renderHelp } from "./keys.js";
import { catchLinks, go, onRoute } from "./route.js";

const PAGES = [
  { path: "/runs", name: "Runs", key: "r", load: () => import("./runs.js") },
  { path: "/agents", name: "Agents", key: "a", load: () => import("./agents.js") },
  { path: "/tasks", name: "Tasks", key: "t", load: () => import("./tasks.js") },
  { path: "/findings", name: "Findings", key: "f", load: () => import("./findings.js") },
  { path: "/errors", name: "Errors", key: "e", load: () => import("./errors.js") },
  { path: "/compliance", name: "Compliance", key: "c", load: () => import("./compliance.js") },
  { path: "/workers", name: "Workers", key: "w", load: () => import("./workers.js") },
];
const RUN = { path: "/runs", name: "Run", load: () => import("./run.js") };
const LOST_MS = 1500;

const root = h("main", { id: "page", tabindex: "-1" });
const banner = h("div", { id: "banner", role: "status", "aria-live": "polite" });
const place = h("a", { class: "place", href: "/runs" });
const dot = h("span", { class: "link-dot", role: "img", "aria-label": "not connected" });
const links = PAGES.map((each) => h("a", { href: each.path, title: `g ${each.key}`,
  class: each.path === "/workers" && "hidden" }, each.name)); // other machines are shown where there are any
let end = null;
let drawn = "";
let turn = 0;

// --- the frame -------------------------------------------------------------------------------------------------------

function drawFrame() {
  const theme = h("button", { class: "button plain", type: "button", id: "theme", onclick: turnTheme }, icon("theme"));
  const help = h("button", { class: "button plain", type: "button", title: "Keys (?)", "aria-label": "Keys",
    onclick: showHelp }, "?");
  document.body.replaceChildren(
    h("a", { class: "skip", href: "#page" }, "Skip to the page"),
    h("header", { id: "bar" },
      h("a", { class: "brand", href: "/runs" }, "remit"), place,
      h("nav", { "aria-label": "Pages" }, links), h("div", { class: "tools" }, dot, theme, help)),
    banner, root);
  nameTheme();
}

function nameTheme() {
  const button = document.getElementById("theme");
  const told = `Theme: ${globalThis.remitTheme.get()} (t)`;
  button?.setAttribute("title", told);
  button?.setAttribute("aria-label", told);
}

function turnTheme() {
  globalThis.remitTheme.turn();
  nameTheme();
  dispatchEvent(new CustomEvent("remit:theme"));
}

function showHelp() {
  show("Keys", h("div", { class: "key-groups" }, renderHelp()), { wide: true });
}

/** Say where we are; and from now on the stream is kept open, whichever page is drawn. */
async function nameWorkspace() {
  try {
    const told = await get("/status");
    const name = told.root ?? told.name ?? "";
    replace(place, name, told.branch && h("span", { class: "branch" }, told.branch));
    links.at(-1).classList.toggle("hidden", told.backend === "local");
    place.title = told.version ? `remit ${told.version}` : "";
    follow({ after: told.event });
  } catch {
    // the page itself says what is wrong
  }
}

// --- which page ------------------------------------------------------------------------------------------------------

/** @returns {{page: typeof RUN, id: string|null}|null} */
function find(path) {
  const [, first, id] = path.split("/");
  if (!first) return { page: PAGES[0], id: null };
  const page = PAGES.find((each) => each.path === `/${first}`);
  if (!page) return null;
  try {
    return { page: first === "runs" && id ? RUN : page, id: id ? decodeURIComponent(id) : null };
  } catch {
    return null; // a stray % in the address
  }
}

/** Draw the page that the address names; a page that is there already and can take a new query is asked to. */
async function draw() {
  const found = find(location.pathname);
  const params = { id: found?.id ?? null, query: new URLSearchParams(location.search) };
  for (const [at, link] of links.entries()) {
    if (found?.page.path === PAGES[at].path) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (drawn === location.pathname && end?.update?.(params)) return;
  leave();
  const own = ++turn;
  drawn = location.pathname;
  if (!found) {
    drawUnknown();
    return;
  }
  document.title = `${found.page.name} · Remit`;
  try {
    const module = await found.page.load();
    if (own !== turn) return; // another page was asked for meanwhile
    replace(root);
    root.className = `page-${found.page.name.toLowerCase()}`;
    end = module.page(root, params) ?? null;
    if (own > 1) root.focus({ preventScroll: true }); // a screen reader goes on at the new page
  } catch (error) {
    if (own === turn) replace(root, problem(error, () => location.reload()));
  }
}

function drawUnknown() {
  root.className = "";
  replace(root, h("div", { class: "empty" }, h("h2", null, "There is no such page"),
    h("p", null, h("a", { href: "/runs" }, "To the runs"))));
}

function leave() {
  const last = end;
  end = null;
  drawn = "";
  last?.();
  root.scrollTop = 0;
}

// --- when it breaks --------------------------------------------------------------------------------------------------

let lostTimer = 0;

/** Short breaks are not worth a word. */
function showLink(link) {
  const told = { live: "live", connecting: "connecting", lost: "connection lost", off: "not connected" }[link];
  dot.dataset.link = link;
  dot.setAttribute("aria-label", told);
  dot.title = told;
  if (link === "lost") {
    lostTimer ||= setTimeout(() => {
      replace(banner, icon("alert"), h("span", null, "The connection to the server is lost. What you see may be old. "),
        h("button", { class: "button", type: "button", onclick: reconnect }, "Connect now"));
    }, LOST_MS);
  } else if (link !== "connecting") {
    clearTimeout(lostTimer);
    lostTimer = 0;
    replace(banner);
  }
}

function showSignedOut() {
  turn += 1;
  leave();
  replace(banner);
  root.className = "";
  replace(root, h("div", { class: "empty" }, h("h2", null, "This browser is not signed in any more"),
    h("p", null, "The server was restarted, or your session has expired. In the project's folder, run:"),
    h("pre", { class: "command" }, "remit serve --open"),
    h("button", { class: "button", type: "button", onclick: () => location.reload() }, "Try again")));
}

// --- begin -----------------------------------------------------------------------------------------------------------

drawFrame();
catchLinks();
listen();
bind("Everywhere", {
  ...Object.fromEntries(PAGES.map((each) => [`g ${each.key}`, { help: each.name, act: () => go(each.path) }])),
  t: { help: "Theme: system, light, dark", act: turnTheme },
  "?": { help: "This list", act: showHelp },
});
addEventListener("remit:signed-out", showSignedOut, { once: true });
watchLink(showLink);
onRoute(draw);
if (location.pathname === "/") history.replaceState(null, "", "/runs");
draw();
nameWorkspace();
