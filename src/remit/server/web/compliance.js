/**
 * Compliance: how well agents keep to what they are held to.
 */

import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { cost, count, duration, empty, tokens, whole } from "./format.js";
import { keepFocus, keepFresh } from "./fresh.js";
import { makePlot } from "./plot.js";
import { go, withQuery } from "./route.js";

const PARTS = [
  { key: "at_once", name: "at once", why: "The first answer was accepted as it was." },
  { key: "repaired", name: "repaired", why: "The first answer was accepted once its form was repaired." },
  { key: "reasked", name: "asked again", why: "A later answer was accepted." },
  { key: "unproven", name: "unproven", why: "Remit could not verify a file that it claims." },
  { key: "rejected", name: "rejected", why: "No answer was accepted." },
  { key: "timed_out", name: "timed out", why: "Its time was up." },
  { key: "false_claim", name: "false claim", why: "It reported files that were not created or changed." },
  { key: "cancelled", name: "cancelled", why: "A user or a caller cancelled it." },
  { key: "other", name: "other", why: "It crashed, was refused, was lost or ran out of its budget." },
];
const SPANS = { 7: "7 days", 30: "30 days", 90: "90 days", 366: "A year" };
const USUAL = "30";
const COLUMNS = [
  { key: "agent", name: "Agent", isText: true },
  { key: "total", name: "Settled" },
  { key: "share", name: "How", get: (row) => share(row, "at_once"), title: "Sorted by how many were accepted at once" },
  ...PARTS.map(({ key, name, why }) => ({ key, name, title: why, isPart: true })), // all, so that rows add up
  { key: "median_ms", name: "Median", render: duration, title: "Half of them took less time" },
  { key: "tokens", name: "Tokens", render: tokens },
  { key: "cost_usd", name: "Cost", render: cost },
  { key: "kept_out_tokens", name: "Kept out", render: (value) => (value ? `≈ ${tokens(value)}` : ""),
    title: "Tokens that callers did not have to read: an estimate" },
];

/** @param {HTMLElement} root @param {{query: URLSearchParams}} params */
export function page(root, params) {
  const place = h("div", { class: "matter" });
  let query = params.query;
  let told = null;
  let plot = null;
  replace(root, place);

  const getDays = () => (Object.hasOwn(SPANS, query.get("days") ?? "") ? query.get("days") : USUAL);

  function draw() {
    if (!told) return;
    plot?.end();
    plot = null;
    if (told.total.total > 0) {
      const isUnfolded = place.querySelector(".as-table")?.open;
      plot = makePlot({ days: told.days, parts: PARTS, label: "Finished runs by day", isUnfolded });
    }
    keepFocus(place, () => replace(place, renderHead(told, query, getDays()), plot
      ? [renderTiles(told.total), plot.element, renderTable(told, query)] : renderNone(query)));
  }

  const fresh = keepFresh({ place, draw: (now) => {
    told = now;
    draw();
  }, ask: (signal) => get("/compliance", { days: getDays(), agent: query.get("agent") }, { signal }) });
  const end = () => {
    fresh.end();
    plot?.end();
  };
  end.update = (now) => {
    const isOther = ["days", "agent"].some((name) => now.query.get(name) !== query.get(name));
    query = now.query;
    if (isOther) fresh.reload();
    else draw();
    return true;
  };
  return end;
}

function renderHead(told, query, days) {
  const agent = query.get("agent");
  return h("header", { class: "matter-head" },
    h("div", { class: "matter-top" }, h("h1", null, "Compliance"),
      h("p", { class: "soft" }, `${count(told.total.total, "run")} finished`)),
    h("div", { class: "chips", role: "group", "aria-label": "How far back" }, Object.entries(SPANS).map(([key, name]) =>
      h("a", { class: "chip", href: withQuery({ days: key === USUAL ? null : key }), "data-key": `days-${key}`,
        "aria-current": String(key === days) }, name)),
    agent && h("a", { class: "chip foreign", href: withQuery({ agent: null }), "aria-current": "true",
      title: "Show all agents" }, agent, " ×")));
}

function renderNone(query) {
  return query.get("agent") || query.get("days")
    ? h("div", { class: "empty" }, h("h2", null, "Nothing was settled in this time"),
      h("a", { href: withQuery({ agent: null, days: "366" }) }, "Show a year"))
    : empty("There are no finished runs yet", "Results of agents are counted here when a run is finished:",
      'remit run AGENT "PROMPT"');
}

function share(row, key) {
  return row.total ? row[key] / row.total : 0;
}

function percent(part) {
  return part > 0 && part < 0.01 ? "<1 %" : `${Math.round(part * 100)} %`;
}

function renderTiles(total) {
  const accepted = total.at_once + total.repaired + total.reasked;
  const tile = (value, name, note) => h("div", { class: "tile" }, h("dt", null, name), h("dd", null,
    h("strong", { class: "num" }, value), h("span", { class: "faint" }, note)));
  return h("dl", { class: "tiles" },
    tile(percent(share(total, "at_once")), "Accepted at once", `${whole(total.at_once)} of ${whole(total.total)}`),
    tile(percent(total.total ? accepted / total.total : 0), "Accepted in the end", "repaired or asked again too"),
    tile(whole(total.false_claim), "False claims", "reported files that were not created or changed"),
    tile(duration(total.median_ms) || "–", "Median time", "half took less"),
    tile(`≈ ${tokens(total.kept_out_tokens)}`, "Tokens kept out", "of callers' context; an estimate"));
}

// --- by agent --------------------------------------------------------------------------------------------------------

function readSort(query) {
  const [key, way] = (query.get("sort") ?? "total-down").split("-");
  const column = COLUMNS.find((each) => each.key === key) ?? COLUMNS[1];
  return { column, isUp: way === "up" };
}

function renderTable(told, query) {
  const { column, isUp } = readSort(query);
  const value = column.get ?? ((row) => row[column.key]);
  const compare = (one, other) => (column.isText ? one.localeCompare(other) : (one ?? -1) - (other ?? -1));
  const rows = [...told.agents].sort((one, other) => (isUp ? 1 : -1) * compare(value(one), value(other))
    || one.agent.localeCompare(other.agent));
  return h("div", { class: "scroll-x" }, h("table", { class: "by-agent" },
    h("caption", { class: "only-read" }, "By agent. The heads of the columns sort."),
    h("thead", null, h("tr", null, COLUMNS.map((each) => renderColumn(each, column, isUp)))),
    h("tbody", null, rows.map((row) => renderRow(row, row.agent))),
    rows.length > 1 && h("tfoot", null, renderRow(told.total, null))));
}

function renderColumn(each, column, isUp) {
  const isOn = each === column;
  const next = isOn ? !isUp : Boolean(each.isText);
  return h("th", { scope: "col", class: each.isText || each.key === "share" ? null : "at-end",
    "aria-sort": isOn ? (isUp ? "ascending" : "descending") : null },
    h("button", { class: "sorter", type: "button", title: each.title ?? null, "data-key": `sort-${each.key}`,
      onclick: () => go(withQuery({ sort: `${each.key}-${next ? "up" : "down"}` }), { replace: true }) },
      each.name, isOn && h("span", { "aria-hidden": "true" }, isUp ? " ↑" : " ↓")));
}

function renderRow(row, agent) {
  return h("tr", null, COLUMNS.map((column) => {
    if (column.isText) {
      return h("th", { scope: "row", class: "foreign" }, agent === null ? "All"
        : h("a", { href: withQuery({ agent }), title: "Only this one" }, agent));
    }
    if (column.key === "share") return h("td", { class: "share" }, renderBar(row));
    const value = row[column.key];
    const told = column.render ? column.render(value) : whole(value ?? 0);
    return h("td", { class: ["at-end", "num", column.isPart && !value && "faint"],
      title: column.isPart ? percent(share(row, column.key)) : null }, told);
  }));
}

/** The parts of a whole, one beside the other. */
function renderBar(row) {
  const told = PARTS.filter((each) => row[each.key] > 0);
  const label = told.map((each) => `${percent(share(row, each.key))} ${each.name}`).join(", ");
  return h("div", { class: "share-bar", role: "img", "aria-label": label, title: label },
    told.map((each) => h("span", { class: `part-${each.key}`, style: { "flex-grow": String(row[each.key]) } })));
}
