/**
 * Errors: what went wrong in this workspace, by cause.
 */

import { get, part } from "./api.js";
import { h, pick, replace } from "./dom.js";
import { count, empty, icon, shortId, since } from "./format.js";
import { keepFocus, keepFresh } from "./fresh.js";
import { bind } from "./keys.js";
import { renderDiagnostics, section } from "./parts.js";
import { go, withQuery } from "./route.js";

const MOST_SESSIONS = 12;
const LOOKS = { open: ["bad", "alert"], investigating: ["warn", "search"], fixed: ["good", "check"],
  ignored: ["off", "slash"] };

/** @param {HTMLElement} root @param {{query: URLSearchParams}} params */
export function page(root, params) {
  const place = h("div", { class: "matter" });
  const unfolded = new Set();
  let query = params.query;
  let told = null;
  replace(root, place);

  function draw() {
    if (told) keepFocus(place, () => replace(place, renderPage(told, query.get("show") === "all", unfolded)));
  }

  const fresh = keepFresh({ place, ask: (signal) => get("/errors", {}, { signal }), draw: (now) => {
    told = now;
    draw();
  } });
  const unbind = bind("Errors", {
    o: { help: "Open ones or all", act: () => go(withQuery({ show: query.get("show") === "all" ? null : "all" })) },
  });
  const end = () => {
    fresh.end();
    unbind();
  };
  end.update = (now) => {
    query = now.query;
    draw();
    return true;
  };
  return end;
}

function renderPage(told, isAll, unfolded) {
  const open = told.items.filter((each) => each.open);
  const shown = isAll ? told.items : open;
  const chip = (name, number, isOn, show) => h("a", { class: "chip", href: withQuery({ show }),
    "aria-current": String(isOn), "data-key": `show-${show}` }, name, h("span", { class: "num" }, String(number)));
  return [
    h("header", { class: "matter-head" },
      h("div", { class: "matter-top" }, h("h1", null, "Errors"),
        h("p", { class: "soft" }, `${count(told.errors, "error")} of ${count(told.items.length, "cause")}`,
          told.file && [" in ", h("code", { class: "foreign" }, told.file)])),
      h("div", { class: "chips", role: "group", "aria-label": "Which errors" },
        chip("Open", open.length, !isAll, null), chip("All", told.items.length, isAll, "all"))),
    told.diagnostics.length > 0 && h("div", { class: "problem" }, h("strong", null, "The file is not as it should be"),
      renderDiagnostics(told.diagnostics)),
    shown.length ? h("ul", { class: "cards" }, shown.map((each) => renderGroup(each, unfolded))) : renderNone(told),
  ];
}

function renderNone(told) {
  if (told.items.length) {
    return h("div", { class: "empty" }, h("h2", null, "Nothing is open"),
      h("p", null, `All ${count(told.items.length, "cause")} are fixed or ignored.`),
      h("a", { href: withQuery({ show: "all" }) }, "Show them"));
  }
  return empty("There are no errors yet", "When a run fails, its error is logged here with its cause:",
    "remit errors list");
}

function renderGroup(group, unfolded) {
  const [tone, mark] = pick(LOOKS, group.fix_status) ?? LOOKS.open;
  const details = h("details", { class: "entry", open: unfolded.has(group.id) },
    h("summary", { "data-key": `cause-${group.id}` }, icon(mark, tone),
      h("span", { class: "entry-title foreign" }, group.message),
      group.recurrences > 0 && h("span", { class: "pill tone-bad" }, `came back ${group.recurrences} ×`),
      h("span", { class: "pill num", title: count(group.count, "time") }, `${group.count} ×`),
      h("span", { class: "faint" }, since(group.last_ms))),
    h("div", { class: "entry-body" },
      section("Errors", renderRecords(group)),
      section("Runs", renderSessions(group.sessions)),
      h("p", { class: "soft" }, group.open ? "Mark it as fixed: " : "Open it again: ", h("code", { class: "command" },
        `remit errors resolve ${group.id} ${group.open ? "--fixed" : "--open"}`))));
  details.addEventListener("toggle", () => (details.open ? unfolded.add(group.id) : unfolded.delete(group.id)));
  return h("li", { class: "card" }, details, h("div", { class: "entry-foot" },
    h("span", { class: ["badge", `tone-${tone}`] }, group.fix_status), h("code", { class: "foreign" }, group.code),
    group.tasks.map((each) => (/^\d{1,9}$/.test(String(each)) ? h("a", { href: `/tasks?task=${each}` }, `task ${each}`)
      : h("span", { class: "faint foreign" }, `task ${each}`)))));
}

function renderRecords(group) {
  const rows = group.records.map((each) => h("tr", null,
    h("td", { class: "faint" }, since(each.at_ms)),
    h("td", { class: "foreign" }, each.message !== group.message && h("div", null, each.message),
      each.suggested_action && h("div", { class: "hint" }, each.suggested_action),
      each.note && h("div", { class: "hint" }, each.note)),
    h("td", null, each.session_id ? h("a", { href: `/runs/${part(each.session_id)}`, title: each.session_id },
      each.delegation_path.at(-1) ?? shortId(each.session_id)) : h("span", { class: "faint" }, "no run")),
    h("td", { class: "faint" }, each.severity ?? "")));
  return [
    h("div", { class: "scroll-x" }, h("table", { class: "records" }, h("thead", null, h("tr", null,
      ["When", "What to do", "Run", "Severity"].map((name) =>
      h("th", { scope: "col" }, name)))), h("tbody", null, rows))),
    group.records.length < group.count && h("p", { class: "faint" },
      `The newest ${group.records.length} of ${group.count}. All: remit errors show ${group.id}`),
  ];
}

function renderSessions(sessions) {
  if (!sessions.length) return null;
  const newest = [...sessions].reverse();
  return h("p", { class: "session-ids" }, newest.slice(0, MOST_SESSIONS).map((each) => [
    h("a", { href: `/runs/${part(each)}`, title: each }, h("code", null, shortId(each))), " "]),
    newest.length > MOST_SESSIONS && h("span", { class: "faint" }, `and ${newest.length - MOST_SESSIONS} more`));
}
