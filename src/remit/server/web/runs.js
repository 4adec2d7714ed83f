/**
 * Runs: what people or programs have asked for, newest first.
 *
 * Owns the list of runs, its filters, and the form for a new one. The server filters and searches; pages of the list
 * are fetched as they come into sight, and what changes is fetched again.
 */

import { follow, get, isAborted, part, post } from "./api.js";
import { renderRunning, renderUnmet } from "./checks.js";
import { ask, notify } from "./dialogs.js";
import { debounce, h, pick, replace, throttle } from "./dom.js";
import { ago, badge, cost, count, describe, empty, icon, problem, shortId, tokens, took, whole } from "./format.js";
import { bind } from "./keys.js";
import { makeList } from "./list.js";
import { go, withQuery } from "./route.js";

const PAGE = 200;
const FRESH = 60; // newest rows that are fetched again at a change
const MOST_ALONE = 6; // older rows fetched one by one at a change
const REFRESH_MS = 100;
const TYPING_MS = 150;
const LOOK_MS = 15_000;
const NARROW = matchMedia("(max-width: 760px)");

const CHIPS = {
  "": { name: "All", params: {} },
  open: { name: "Open", params: { state: "open" }, mark: "run" },
  completed: { name: "Completed", params: { status: "completed" }, mark: "check" },
  failed: { name: "Failed", params: { status: "failed" }, mark: "cross" },
  false_claim: { name: "False claim", params: { verdict: "fabricated" }, mark: "flag" },
  unproven: { name: "Unproven", params: { verdict: "unproven" }, mark: "question" },
  timeout: { name: "Timed out", params: { stop_reason: "timeout" }, mark: "clock" },
  partial: { name: "Partial", params: { status: "partial" }, mark: "half" },
  blocked: { name: "Blocked", params: { status: "blocked" }, mark: "block" },
  cancelled: { name: "Cancelled", params: { stop_reason: "cancelled" }, mark: "slash" },
};

/** Where the list was left, for who comes back to it. */
let left = { search: "", top: 0, chosen: "" };

/** @param {HTMLElement} root @param {{query: URLSearchParams}} params */
export function page(root, params) {
  const rows = makeRows(() => list);
  const list = makeRunList(rows);
  const note = h("div", { class: "runs-note", role: "status" });
  const body = h("div", { class: "runs-body" }, list.element);
  const filters = makeFilters(params.query, reload);
  let unfollow = () => {};
  let isOver = false;
  let search = "";

  replace(root, h("div", { class: "runs" },
    h("div", { class: "runs-top" }, h("h1", { class: "only-read" }, "Runs"), filters.element,
      h("button", { class: "button main", type: "button", title: "n", onclick: () => askNew(rows.agents) },
        icon("plus"), "New run")),
    h("div", { class: "runs-under" }, filters.chips, note), body));

  async function reload() {
    try {
      search = location.search;
      await rows.begin(filters.read());
      if (isOver) return;
      show();
      goBack();
      unfollow();
      unfollow = follow({ after: rows.event, onChange: take, onReset: reload });
    } catch (error) {
      if (!isAborted(error) && !isOver) replace(body, problem(error, reload));
    }
  }

  function take(change) {
    if (change.kind === "forgotten") {
      reload();
      return;
    }
    rows.touch(change);
    refresh();
  }

  /** To where the list was left; only when the page is drawn. */
  function goBack() {
    if (left.search === location.search && left.top) list.scroller.scrollTop = left.top;
    const at = left.search === location.search ? rows.find(left.chosen) : -1;
    if (at >= 0) list.choose(at, { quiet: true, scroll: false });
    left = { search: "", top: 0, chosen: "" };
  }

  function show() {
    const told = rows.total === null ? "" : count(rows.total, "run");
    if (note.textContent !== told) replace(note, told); // screen readers say it at every change
    filters.offer(rows.agents);
    if (rows.total === 0) replace(body, filters.isOn ? renderNoMatch(filters.clear) : renderNothing(rows.agents));
    else if (!list.element.isConnected) replace(body, list.element);
    list.setCount(rows.total ?? 0);
    list.refresh();
  }

  const refresh = throttle(async () => {
    try {
      await rows.refresh();
      if (!isOver) show();
    } catch {
      // the banner says when the connection is lost; the next change tries again
    }
  }, REFRESH_MS);

  // That nobody drives one any more is no event of the ledger.
  const timer = setInterval(() => document.hidden || (rows.touchOpen() && refresh()), LOOK_MS);
  const unbind = bind("Runs", {
    j: { help: "Down", act: () => list.move(1) }, ArrowDown: { help: "Down", act: () => list.move(1) },
    k: { help: "Up", act: () => list.move(-1) }, ArrowUp: { help: "Up", act: () => list.move(-1) },
    Enter: { help: "Open the run", act: () => rows.at(list.chosen) && go(pathOf(rows.at(list.chosen))) },
    "/": { help: "Search", act: () => filters.focus() },
    n: { help: "New run", act: () => askNew(rows.agents) },
    Escape: { help: "Clear the filters", act: () => filters.isOn && filters.clear() },
  });
  reload();

  const end = () => {
    isOver = true;
    left = { search, top: list.scroller.scrollTop, chosen: rows.at(list.chosen)?.session_id ?? "" };
    unfollow();
    unbind();
    clearInterval(timer);
    refresh.cancel();
    rows.end();
    list.end();
  };
  end.update = (now) => {
    filters.set(now.query);
    reload();
    return true;
  };
  return end;
}

// --- what is known of the rows ---------------------------------------------------------------------------------------

/** The rows as far as they are fetched: from the newest to the oldest that was in sight. */
function makeRows(getList) {
  let items = [];
  let params = {};
  let cursor = null;
  let abort = new AbortController();
  let isFetching = false;
  let wanted = 0;
  let turn = 0;
  const touched = new Set();

  const rows = {
    total: /** @type {number|null} */ (null),
    event: 0,
    agents: /** @type {string[]} */ ([]),
    at: (index) => items[index],
    find: (session_id) => items.findIndex((each) => each.session_id === session_id),

    async begin(now) {
      abort.abort();
      abort = new AbortController();
      turn += 1;
      params = now;
      touched.clear();
      const told = await get("/runs", { ...params, limit: PAGE }, { signal: abort.signal });
      items = told.items;
      take(told);
      cursor = told.next_cursor;
      getList().scroller.scrollTop = 0;
      getList().choose(-1, { quiet: true });
    },

    /** Rows came into sight: fetch until they are known. */
    async want(last) {
      wanted = last;
      if (isFetching || cursor === null) return;
      isFetching = true;
      const own = turn;
      try {
        while (own === turn && cursor !== null && items.length < wanted) {
          const limit = wanted - items.length > PAGE ? 500 : PAGE;
          const told = await get("/runs", { ...params, limit, cursor }, { signal: abort.signal });
          if (own !== turn) break;
          const known = new Set(items.map((each) => each.session_id));
          items = items.concat(told.items.filter((each) => !known.has(each.session_id)));
          cursor = told.next_cursor;
          getList().refresh();
        }
      } catch {
        // tried again when the list is scrolled or changes
      } finally {
        isFetching = false;
      }
    },

    /** Remember whose rows a change may be seen in. */
    touch(change) {
      touched.add(change.root_id ?? change.session_id);
      touched.add(change.session_id);
    },

    /** Whether some are open; their rows are looked at again. */
    touchOpen() {
      const open = items.filter((each) => each.state !== "finished" || each.open_below > 0);
      for (const each of open) touched.add(each.session_id);
      return open.length > 0;
    },

    /** Fetch the newest again, and of the older ones those that have changed. */
    async refresh() {
      const own = turn;
      const changed = new Set(touched);
      touched.clear();
      const told = await get("/runs", { ...params, limit: FRESH }, { signal: abort.signal });
      if (own !== turn) return;
      const before = items.length;
      const chosen = items[getList().chosen]?.session_id;
      const first = items[0]?.session_id;
      items = merge(items, told);
      take(told);
      if (cursor === null && before < FRESH) cursor = told.next_cursor;
      getList().shift(Math.max(0, items.findIndex((each) => each.session_id === first)));
      await refreshOlder(told.items, changed, own);
      if (chosen) getList().choose(items.findIndex((each) => each.session_id === chosen),
        { quiet: true, scroll: false });
    },

    end() {
      turn += 1;
      abort.abort();
    },
  };

  function take(told) {
    rows.total = told.total ?? items.length;
    rows.event = told.event;
    rows.agents = told.agents ?? [];
  }

  async function refreshOlder(fresh, changed, own) {
    const newest = new Set(fresh.map((each) => each.session_id));
    const older = items.filter((each) => changed.has(each.session_id) && !newest.has(each.session_id))
      .map((each) => each.session_id);
    for (const late of older.slice(MOST_ALONE)) touched.add(late);
    for (const session_id of older.slice(0, MOST_ALONE)) {
      const told = await get("/runs", { ...params, q: session_id, limit: 1 }, { signal: abort.signal });
      if (own !== turn) return;
      const found = told.items.find((each) => each.session_id === session_id);
      items = found
        ? items.map((each) => (each.session_id === session_id ? found : each))
        : items.filter((each) => each.session_id !== session_id);
    }
  }

  return rows;
}

/** The newest rows in place of those that were there; what comes after the last of them stays. */
function merge(items, told) {
  if (told.next_cursor === null) return told.items;
  const fresh = new Set(told.items.map((each) => each.session_id));
  const last = told.items.at(-1)?.session_id;
  const at = items.findIndex((each) => each.session_id === last);
  return told.items.concat(items.slice(at + 1).filter((each) => !fresh.has(each.session_id)));
}

// --- what is shown of them -------------------------------------------------------------------------------------------

const COLUMNS = ["State", "Agent", "Work", "Below", "Took", "Tokens", "Cost", "Age"];

function makeRunList(rows) {
  const head = h("div", { class: "run-row run-head", role: "row", "aria-rowindex": "1" },
    COLUMNS.map((name) => h("span", { role: "columnheader", class: `col-${name.toLowerCase()}` }, name)));
  return makeList({
    label: "Runs", kind: "grid", head,
    height: () => (NARROW.matches ? 62 : 36),
    render: (index) => renderRow(rows.at(index)),
    stamp: (index) => stampRow(rows.at(index)),
    onRange: (_first, last) => rows.want(last),
  });
}

function pathOf({ session_id }) {
  return `/runs/${part(session_id)}`;
}

function stampRow(run) {
  if (!run) return "";
  return [run.session_id, run.state, run.status, run.verdict, run.started_ms, run.ended_ms, run.tree_tokens,
    run.tree_cost_usd, run.children, run.open_below, run.work, run.worker, run.check?.name, run.unmet_checks].join("|");
}

function renderRow(run) {
  if (!run) return h("div", { class: "run-row is-loading", "aria-busy": "true" }, h("span", { role: "gridcell" }, "…"));
  const cell = (name, ...children) => h("span", { role: "gridcell", class: [`col-${name}`] }, children);
  return h("a", { class: "run-row", href: pathOf(run), tabindex: "-1",
    title: [describe(run).why, run.summary].filter(Boolean).join(": ") || null },
    cell("state", badge(run)),
    cell("agent clip", run.agent),
    cell("work clip foreign",
      (run.task_number ?? run.task_id) && h("span", { class: "pill" }, `task ${run.task_number ?? run.task_id}`),
      run.worker && h("span", { class: "pill", title: "The worker that has it" }, run.worker),
      renderUnmet(run), run.check ? renderRunning(run) : run.work || shortId(run.session_id)),
    cell("below num", renderBelow(run)),
    cell("took num", took(run)),
    cell("tokens num", tokens(run.tree_tokens ?? run.tokens)),
    cell("cost num", cost(run.tree_cost_usd ?? run.cost_usd)),
    cell("age", ago(run.created_ms)));
}

function renderBelow(run) {
  if (!run.children) return "";
  const told = `${count(run.children, "nested run")}, ${run.open_below} open`;
  return h("span", { title: told, "aria-label": told },
    run.open_below ? `${whole(run.open_below)} of ${whole(run.children)}` : whole(run.children));
}

// --- filters ---------------------------------------------------------------------------------------------------------

function makeFilters(query, onChange) {
  const field = h("input", { type: "search", placeholder: "Search agent, work, id, summary",
    "aria-label": "Search runs", spellcheck: "false", maxlength: "200", title: "/" });
  const agent = h("select", { "aria-label": "Agent" });
  const nested = h("input", { type: "checkbox" });
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Which runs" });
  let now = new URLSearchParams();

  function change(changes) {
    go(withQuery(changes), { quiet: true });
    set(new URLSearchParams(location.search));
    onChange();
  }

  const typed = debounce(() => change({ q: field.value.trim() }), TYPING_MS);
  field.addEventListener("input", typed);
  agent.addEventListener("change", () => change({ agent: agent.value }));
  nested.addEventListener("change", () => change({ nested: nested.checked ? "1" : null }));

  function set(query) {
    now = query;
    if (document.activeElement !== field) field.value = now.get("q") ?? "";
    nested.checked = now.has("nested");
    const chosen = Object.hasOwn(CHIPS, now.get("show") ?? "") ? (now.get("show") ?? "") : "";
    replace(chips, Object.entries(CHIPS).map(([key, { name, mark }]) =>
      h("button", { class: "chip", type: "button", "aria-pressed": String(key === chosen),
        onclick: () => change({ show: key }) }, mark && icon(mark), name)),
    now.get("task") && h("button", { class: "chip", type: "button", "aria-pressed": "true",
      title: "Take this filter out", onclick: () => change({ task: null }) }, `Task ${now.get("task")}`,
      icon("close")));
  }

  /** The agents to choose from; the one that is chosen stays, even where nothing of it is found. */
  function offer(names) {
    const chosen = now.get("agent") ?? "";
    const all = ["", ...new Set(chosen ? [chosen, ...names] : names)];
    const told = all.join("\n");
    if (agent.dataset.told !== told) {
      agent.dataset.told = told;
      replace(agent, all.map((name) => h("option", { value: name }, name || "All agents")));
    }
    agent.value = chosen;
  }

  set(query);
  return {
    element: h("div", { class: "filters" }, h("div", { class: "search" }, icon("search"), field), agent,
      h("label", { class: "check", title: "Also those that agents have handed on" }, nested, "nested too")),
    chips,
    set,
    offer,
    focus: () => field.select(),
    clear: () => {
      typed.cancel();
      field.value = "";
      change({ q: null, show: null, agent: null, task: null });
    },
    read: () => ({ ...(pick(CHIPS, now.get("show"))?.params ?? {}), q: now.get("q"), agent: now.get("agent"),
      task: now.get("task"), roots: String(!now.has("nested")) }),
    get nested() {
      return now.has("nested");
    },
    get isOn() {
      return ["q", "show", "agent", "task"].some((name) => now.get(name));
    },
  };
}

function renderNoMatch(clear) {
  return h("div", { class: "empty" }, h("h2", null, "Nothing matches"), h("p", null, "No run is like that."),
    h("button", { class: "button", type: "button", onclick: clear }, "Clear the filters"));
}

function renderNothing(agents) {
  const box = empty("There are no runs yet", "Start a run here, or in a terminal:", 'remit run AGENT "PROMPT"');
  box.append(h("button", { class: "button main", type: "button", onclick: () => askNew(agents) }, icon("plus"),
    "New run"));
  return box;
}

// --- a new run -------------------------------------------------------------------------------------------------------

/** Ask what is to be done, by whom; then show it. */
async function askNew(known) {
  const names = h("datalist", { id: "agent-names" });
  const runners = h("select", { name: "runner" }, h("option", { value: "" }, "As is set"));
  const key = makeKey();
  ask({
    title: "New run",
    action: "Start",
    wide: true,
    fields: h("div", { class: "fields" },
      h("label", null, "Agent (optional)", h("input", { name: "agent", list: "agent-names", autofocus: true,
        maxlength: "200", spellcheck: "false" })), names,
      h("label", null, "Prompt", h("textarea", { name: "prompt", rows: "7", required: true,
        placeholder: "What is to be done" })),
      h("div", { class: "pair" },
        h("label", null, "Task (optional)",
          h("input", { name: "task", maxlength: "64", placeholder: "12 or T1234", spellcheck: "false" })),
        h("label", null, "Minutes it may take (optional)",
          h("input", { name: "minutes", type: "number", min: "0.1", step: "any" })),
        h("label", null, "Runner", runners)),
      h("label", null, "Inputs (optional), one name=value a line",
        h("textarea", { name: "inputs", rows: "2", spellcheck: "false" }))),
    act: async (form) => {
      const made = await post("/runs", readForm(form), { key });
      notify(`${made.agent} was started`, "good");
      go(pathOf(made));
    },
  });
  const there = await loadChoice(known);
  replace(names, there.agents.map((name) => h("option", { value: name })));
  runners.append(...there.runners.map((name) => h("option", { value: name }, name)));
}

function readForm(form) {
  const body = { prompt: String(form.get("prompt")) };
  const agent = String(form.get("agent")).trim();
  if (agent) body.agent = agent;
  if (form.get("runner")) body.runner = String(form.get("runner"));
  const task = String(form.get("task") ?? "").trim();
  if (task) body.task = /^\d+$/.test(task) ? Number(task) : task;
  if (form.get("minutes")) body.timeout = Number(form.get("minutes")) * 60;
  const inputs = readInputs(String(form.get("inputs")));
  return Object.keys(inputs).length ? { ...body, inputs } : body;
}

function readInputs(text) {
  const pairs = text.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => {
    const at = line.indexOf("=");
    if (at < 1) throw new Error(`'${line}' isn't of the form name=value`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return Object.fromEntries(pairs);
}

/** Agents with a file and those that have worked before, and who can run them. */
async function loadChoice(known) {
  try {
    const { items, runners } = await get("/agents");
    return { agents: [...new Set([...items.map((each) => each.name).filter(Boolean), ...known])], runners };
  } catch {
    return { agents: known, runners: [] };
  }
}

/** A key by which the server knows that the same form was sent twice. */
function makeKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16).padStart(2, "0")).join("");
}
