/**
 * Findings: what agents have found out, by the manifest.
 *
 * The server searches while somebody types; older entries are fetched when the end of the list comes into sight.
 */

import { follow, get, isAborted, part } from "./api.js";
import { debounce, h, pick, replace, throttle } from "./dom.js";
import { count, empty, icon, problem, whole } from "./format.js";
import { keepFocus } from "./fresh.js";
import { bind } from "./keys.js";
import { section } from "./parts.js";
import { go, withQuery } from "./route.js";

const PAGE = 60;
const TYPING_MS = 150;
const AGAIN_MS = 2000;
const MOST_TOPICS = 24;
const STATUSES = { complete: ["good", "check"], partial: ["warn", "half"], blocked: ["bad", "block"] };
const FILTERS = ["q", "topic", "status", "task", "pending"];

/** @param {HTMLElement} root @param {{query: URLSearchParams}} params */
export function page(root, params) {
  const field = h("input", { type: "search", placeholder: "Search titles, topics, key findings",
    "aria-label": "Search findings", spellcheck: "false", maxlength: "400", title: "/",
    value: params.query.get("q") ?? "" });
  const note = h("p", { class: "soft", role: "status" });
  const filters = h("div", { class: "chips", role: "group", "aria-label": "Which findings" });
  const list = h("ul", { class: "cards" });
  const foot = h("div", { class: "more" });
  const body = h("div", { class: "matter-body" }, list, foot);
  const unfolded = new Set();
  let query = params.query;
  let abort = new AbortController();
  let cursor = null;
  let shown = "";
  let isFetching = false;

  replace(root, h("div", { class: "matter" }, h("header", { class: "matter-head" },
    h("div", { class: "matter-top" }, h("h1", null, "Findings"), note,
      h("div", { class: "search" }, icon("search"), field)), filters), body));

  const read = () => Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]));

  function change(changes) {
    go(withQuery(changes), { quiet: true });
    query = new URLSearchParams(location.search);
    load();
  }

  /** The first page; one that is the same as what is shown changes nothing. */
  async function load(isAgain = false) {
    abort.abort();
    abort = new AbortController();
    try {
      const told = await get("/manifest", { ...read(), limit: PAGE }, { signal: abort.signal });
      const stamp = JSON.stringify(told);
      if (isAgain && stamp === shown) return;
      shown = stamp;
      cursor = told.next_cursor;
      draw(told);
    } catch (error) {
      if (!isAborted(error) && !isAgain) replace(body, problem(error, () => load()));
    }
  }

  function draw(told) {
    const isNarrowed = FILTERS.some((name) => query.get(name));
    replace(note, told.total !== null ? count(told.total, "entry", "entries")
      : `${whole(told.items.length)}${told.next_cursor ? " and more" : ""} found`,
      told.manifest && [" in ", h("code", { class: "foreign" }, told.manifest)],
      told.bad_lines > 0 && [", ", h("span", { class: "badge tone-warn", title: "remit findings validate" },
        icon("warning"), `${count(told.bad_lines, "line")} cannot be read`)]);
    keepFocus(filters, () => replace(filters, renderFilters(told, query, change)));
    if (!told.items.length) {
      replace(body, isNarrowed ? renderNoMatch(clear) : empty("Nothing was found out yet",
        "Research adds its findings here. Start research, or add a finding:",
        'remit run RESEARCHER "QUESTION"\nremit findings add --help'));
      return;
    }
    replace(body, list, foot);
    replace(list, told.items.map((each) => renderEntry(each, unfolded, change)));
    if (query.get("entry")) showOne(query.get("entry"));
    drawFoot();
  }

  function drawFoot() {
    replace(foot, cursor !== null && h("button", { class: "button", type: "button", onclick: more }, "Show more"));
    sight.unobserve(foot); // it tells of changes only: an end that stayed in sight is looked at anew
    sight.observe(foot);
  }

  async function more() {
    if (isFetching || cursor === null) return;
    isFetching = true;
    try {
      const told = await get("/manifest", { ...read(), limit: PAGE, cursor }, { signal: abort.signal });
      cursor = told.next_cursor;
      list.append(...told.items.map((each) => renderEntry(each, unfolded, change)));
      drawFoot();
    } catch (error) {
      if (!isAborted(error)) replace(foot, problem(error, more));
    } finally {
      isFetching = false;
    }
  }

  /** One entry that the address names, above all others. */
  async function showOne(id) {
    try {
      const told = await get(`/manifest/${part(id)}`, {}, { signal: abort.signal });
      unfolded.add(told.id);
      list.prepend(renderEntry(told, unfolded, change));
    } catch (error) {
      if (!isAborted(error)) list.prepend(h("li", null, problem(error)));
    }
  }

  function clear() {
    field.value = "";
    change(Object.fromEntries([...FILTERS, "entry"].map((name) => [name, null])));
  }

  const typed = debounce(() => change({ q: field.value.trim(), entry: null }), TYPING_MS);
  field.addEventListener("input", typed);
  const sight = new IntersectionObserver((seen) => seen.some((each) => each.isIntersecting) && more(),
    { root, rootMargin: "400px" });
  sight.observe(foot);
  const again = throttle(() => load(true), AGAIN_MS);
  const unfollow = follow({ onChange: (told) => told.kind === "finished" && again(), onReset: again });
  addEventListener("focus", again);
  const unbind = bind("Findings", {
    "/": { help: "Search", act: () => field.select() },
    Escape: { help: "Clear the filters", act: clear },
  });
  load();

  const end = () => {
    abort.abort();
    typed.cancel();
    again.cancel();
    sight.disconnect();
    removeEventListener("focus", again);
    unfollow();
    unbind();
  };
  end.update = (now) => {
    query = now.query;
    if (document.activeElement !== field) field.value = query.get("q") ?? "";
    load();
    return true;
  };
  return end;
}

function renderNoMatch(clear) {
  return h("div", { class: "empty" }, h("h2", null, "Nothing matches"), h("p", null, "No entry is like that."),
    h("button", { class: "button", type: "button", onclick: clear }, "Clear the filters"));
}

function renderFilters(told, query, change) {
  const chip = (name, value, label, tail) => h("button", { class: "chip foreign", type: "button",
    "aria-pressed": String(query.get(name) === value), "data-key": `${name}-${value}`,
    onclick: () => change({ [name]: query.get(name) === value ? null : value }) }, label, tail);
  const topic = query.get("topic");
  const topics = told.topics.slice(0, MOST_TOPICS);
  if (topic && !topics.some((each) => each.topic === topic)) topics.unshift({ topic, count: null });
  return [
    Object.entries(STATUSES).map(([status, [tone, mark]]) => chip("status", status, [icon(mark, tone), status])),
    chip("pending", "true", "needs follow-up"),
    query.get("task") && chip("task", query.get("task"), `task ${query.get("task")}`, icon("close")),
    topics.length > 0 && h("span", { class: "chip-gap", role: "presentation" }),
    topics.map((each) => chip("topic", each.topic, `#${each.topic}`,
      each.count !== null && h("span", { class: "faint num" }, String(each.count)))),
  ];
}

// --- an entry --------------------------------------------------------------------------------------------------------

function renderEntry(entry, unfolded, change) {
  const [tone, mark] = pick(STATUSES, entry.status) ?? ["off", "dots"];
  const details = h("details", { class: "entry", open: unfolded.has(entry.id) },
    h("summary", null, icon(mark, tone), h("span", { class: "entry-title foreign" }, entry.title || entry.id),
      entry.pending && h("span", { class: "pill tone-warn" }, "follow-up"),
      h("span", { class: "faint num" }, entry.date)),
    h("div", { class: "entry-body" },
      entry.key_findings.length > 0 && h("ul", { class: "plain-list" }, entry.key_findings.map((each) =>
        h("li", { class: "foreign" }, String(each)))),
      renderFacts(entry)));
  details.addEventListener("toggle", () => (details.open ? unfolded.add(entry.id) : unfolded.delete(entry.id)));
  return h("li", { class: "card" }, details,
    h("div", { class: "entry-foot" },
      entry.topics.map((each) => h("button", { class: "as-link foreign", type: "button",
        onclick: () => change({ topic: String(each) }) }, `#${each}`)),
      entry.linked_tasks.map((each) => renderTask(each))));
}

function renderTask(name) {
  return /^\d{1,9}$/.test(String(name)) ? h("a", { href: `/tasks?task=${name}` }, `task ${name}`)
    : h("span", { class: "faint foreign" }, `task ${name}`);
}

function renderFacts(entry) {
  const facts = [
    ["File", entry.file && h("code", { class: "foreign" }, entry.findings_file ?? entry.file)],
    ["Follow-up", entry.needs_followup.length > 0 && entry.needs_followup.map((each) => [renderFollowUp(each), " "])],
    ["Status", entry.status], ["By", entry.agent_type && String(entry.agent_type)],
    ["Id", h("code", { class: "foreign" }, entry.id)],
    ["Trouble", entry.trouble],
  ].filter(([, value]) => value);
  return section("Entry", h("dl", { class: "terms" }, facts.map(([name, value]) =>
    h("div", null, h("dt", null, name), h("dd", { class: "foreign" }, value)))));
}

function renderFollowUp(told) {
  return /^\d{1,9}$/.test(String(told)) ? renderTask(told) : String(told);
}
