/**
 * Run: one run with all nested runs.
 *
 * Owns the head of the page, the switch between tree and timeline, and what is chosen. The chosen run is shown
 * beside them by node.js. All of it is in the address, so that it can be sent around.
 */

import { renderActs } from "./acts.js";
import { follow, get, isAborted, part } from "./api.js";
import { renderRunning, renderUnmet } from "./checks.js";
import { escape, h, replace, throttle, tick } from "./dom.js";
import {
  badge, cost, count, describe, duration, empty, icon, problem, since, tokens, took, when, whole,
} from "./format.js";
import { bind } from "./keys.js";
import { makePanel } from "./node.js";
import { getList, go, withQuery } from "./route.js";
import { makeTimeline } from "./timeline.js";
import { makeTree } from "./tree.js";

const REFRESH_MS = 100;
const LOOK_MS = 15_000;
const VIEWS = { tree: "Tree", timeline: "Timeline" };

/** @param {HTMLElement} root @param {{id: string, query: URLSearchParams}} params */
export function page(root, params) {
  const run = makeRun(root, params);
  const unbind = bindKeys(run);
  const timer = setInterval(() => isWorthALook(run) && run.refresh(), LOOK_MS);
  begin(run);
  return () => {
    run.abort.abort();
    run.unfollow();
    unbind();
    clearInterval(timer);
    run.refreshTree.cancel();
    run.tree.end();
    run.timeline.end();
    run.panel.end();
  };
}

/** What the page knows and shows. */
function makeRun(root, params) {
  const asked = params.query.get("view") ?? "";
  const run = {
    root, asked: params.id, abort: new AbortController(), unfollow: () => {},
    items: [], rootId: "", chosen: "", rootNode: null, chosenNode: null,
    view: Object.hasOwn(VIEWS, asked) ? asked : "tree",
    tree: makeTree({ onChoose: (session_id) => choose(run, session_id) }),
    timeline: makeTimeline({ onChoose: (session_id) => choose(run, session_id) }),
    panel: makePanel({ tab: params.query.get("tab"), onTab: (tab) => go(withQuery({ tab }), { quiet: true }),
      onNode: (node) => takeNode(run, node), onActed: () => run.refresh() }),
    head: h("header", { class: "run-header" }),
    acts: h("div"),
    switches: h("div", { class: "switch", role: "group", "aria-label": "View" }),
    summary: h("span", { class: "soft num", role: "status" }),
    left: h("div", { class: "run-left-body" }),
    refreshTree: throttle(() => load(run).then(() => undefined, () => undefined), REFRESH_MS),
    refresh: () => refresh(run),
    get active() {
      return run.view === "tree" ? run.tree : run.timeline;
    },
  };
  run.split = h("div", { class: "run-split" },
    h("section", { class: "run-left", "aria-label": "Runs" },
      h("div", { class: "run-tools" }, run.switches, renderZooms(run.timeline), run.summary), run.left),
    run.panel.element);
  replace(root, h("div", { class: "run" }, run.head, run.split));
  return run;
}

function bindKeys(run) {
  const { timeline, tree, panel } = run;
  const isTree = () => run.view === "tree";
  return bind("Run", {
    j: { help: "Down", act: () => run.active.move(1) }, ArrowDown: { help: "Down", act: () => run.active.move(1) },
    k: { help: "Up", act: () => run.active.move(-1) }, ArrowUp: { help: "Up", act: () => run.active.move(-1) },
    ArrowLeft: { help: "Fold; earlier", act: () => (isTree() ? tree.fold(true) : timeline.pan(-0.2)) },
    ArrowRight: { help: "Unfold; later", act: () => (isTree() ? tree.fold(false) : timeline.pan(0.2)) },
    v: { help: "Tree or timeline", act: () => turnView(run, isTree() ? "timeline" : "tree") },
    "+": { help: "Closer", act: () => timeline.zoom(0.5) },
    "-": { help: "Further away", act: () => timeline.zoom(2) },
    0: { help: "All of it", act: () => timeline.fit() },
    ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((at) =>
      [String(at), { help: "A tab", act: () => panel.turn(at - 1) }])),
    Enter: { help: "Into the panel", act: () => panel.focus() },
    Escape: { help: "Back to the runs", act: () => go(getList()) },
  });
}

// --- what is known ---------------------------------------------------------------------------------------------------

async function begin(run) {
  try {
    const told = await load(run);
    const asked = new URLSearchParams(location.search).get("node") ?? run.asked;
    run.chosen = run.items.find((each) => each.session_id === asked || each.session_id.endsWith(asked))?.session_id
      ?? run.rootId;
    setView(run, run.view);
    show(run, run.chosen);
    if (run.chosen !== run.rootId) await loadRoot(run);
    run.unfollow();
    run.unfollow = follow({ after: told.event, onReset: () => begin(run),
      onChange: (change) => change.root_id === run.rootId && take(run, change) });
  } catch (error) {
    if (isAborted(error)) return;
    if (error.status === 404) replace(run.root, empty("There is no such run", error.message, "remit ps --all"));
    else replace(run.root, problem(error, () => go(location.pathname + location.search, { replace: true })));
  }
}

async function load(run) {
  const told = await get(`/runs/${part(run.asked)}/tree`, {}, { signal: run.abort.signal });
  run.items = told.items;
  run.rootId = told.root_id;
  run.active.set(run.items);
  const said = tellSummary(run.items, told.truncated);
  if (run.summary.textContent !== said) replace(run.summary, said);
  run.split.dataset.single = String(run.items.length === 1);
  run.split.style.setProperty("--rows", String(Math.min(run.items.length, 12)));
  drawHead(run);
  return told;
}

async function loadRoot(run) {
  run.rootNode = await get(`/runs/${part(run.rootId)}`, { format: "standard" }, { signal: run.abort.signal });
  drawActs(run);
}

/** Something has happened in this run. */
function take(run, change) {
  if (change.session_id === run.chosen) run.panel.refresh();
  if (change.session_id === run.rootId && run.chosen !== run.rootId) loadRoot(run).catch(() => {});
  run.refreshTree();
}

function refresh(run) {
  run.refreshTree();
  run.panel.refresh();
  if (run.chosen !== run.rootId) loadRoot(run).catch(() => {});
}

/** The panel has loaded what is chosen; of the first one the head needs to know, too. */
function takeNode(run, node) {
  run.chosenNode = node;
  run.timeline.setAttempts(node.run.session_id, node.attempts);
  if (node.run.session_id !== run.rootId) return;
  run.rootNode = node;
  drawActs(run);
}

/** That nobody drives it any more, or that nothing was heard for long, is no event of the ledger. */
function isWorthALook(run) {
  return !document.hidden && run.items.some((each) => each.state !== "finished");
}

// --- what is chosen --------------------------------------------------------------------------------------------------

function setView(run, now) {
  run.view = now;
  run.split.dataset.view = now;
  replace(run.switches, Object.entries(VIEWS).map(([key, name]) =>
    h("button", { class: "chip", type: "button", "aria-pressed": String(key === now), title: "v",
      onclick: () => turnView(run, key) }, name)));
  replace(run.left, run.active.element);
  run.active.set(run.items);
  run.active.choose(run.chosen);
  if (run.chosenNode) run.timeline.setAttempts(run.chosenNode.run.session_id, run.chosenNode.attempts);
}

function turnView(run, now) {
  go(withQuery({ view: now === "tree" ? null : now }), { quiet: true });
  setView(run, now);
}

function choose(run, session_id) {
  if (session_id === run.chosen) return;
  go(withQuery({ node: session_id === run.rootId ? null : session_id }), { quiet: true });
  show(run, session_id);
}

function show(run, session_id) {
  run.chosen = session_id;
  run.active.choose(session_id);
  run.panel.show(session_id, { isFirst: session_id === run.rootId });
}

function renderZooms(timeline) {
  const button = (title, label, act) =>
    h("button", { class: "button plain", type: "button", title, onclick: act }, label);
  return h("div", { class: "zooms", role: "group", "aria-label": "Zoom" },
    button("Closer (+)", "+", () => timeline.zoom(0.5)), button("Further away (-)", "−", () => timeline.zoom(2)),
    button("All of it (0)", "fit", () => timeline.fit()));
}

// --- the head --------------------------------------------------------------------------------------------------------

function drawHead({ items, head, acts }) {
  const first = items[0];
  if (!first) return;
  const told = stampHead(items);
  if (head.dataset.told === told) return;
  head.dataset.told = told;
  const focused = acts.contains(document.activeElement) ? document.activeElement : null;
  replace(head, renderHead(items, acts));
  focused?.focus(); // what is put elsewhere loses it
  document.title = escape(`${describe(first).word}: ${first.agent} · Remit`);
}

function drawActs(run) {
  const told = JSON.stringify(run.rootNode.can);
  if (run.acts.dataset.told === told) return; // a button that has the focus stays
  run.acts.dataset.told = told;
  replace(run.acts, renderActs(run.rootNode, run.refresh));
}

function sum(items, name) {
  const known = items.map((each) => each[name]).filter((each) => each !== null && each !== undefined);
  return known.length ? known.reduce((total, each) => total + each, 0) : null;
}

function stampHead(items) {
  const { state, status, verdict, stop_reason, ended_ms, started_ms, deadline_ms, supervised, waits_for,
    check, unmet_checks } = items[0];
  return JSON.stringify([state, status, verdict, stop_reason, ended_ms, started_ms, deadline_ms, supervised, waits_for,
    check, unmet_checks, findSilence(items[0]), sum(items, "tokens"), sum(items, "cost_usd"), items.length]);
}

function tellSummary(items, isCut) {
  const open = items.filter((each) => each.state !== "finished").length;
  return `${isCut ? "the first " : ""}${count(items.length, "run")}${open ? `, ${whole(open)} open` : ""}`;
}

function renderHead(items, acts) {
  const first = items[0];
  const { why } = describe(first);
  return [
    h("div", { class: "run-title" },
      h("a", { class: "button plain", href: getList(), title: "Back to the runs (Esc)",
        "aria-label": "Back to the runs" }, icon("back")),
      h("h1", { class: "clip" }, first.agent), badge(first), why && h("span", { class: "soft" }, why),
      renderUnmet(first),
      first.task_number !== null && h("a", { class: "pill", href: `/tasks?task=${first.task_number}` },
        `task ${first.task_number}`),
      first.task_number === null && first.task_id &&
        h("span", { class: "pill foreign" }, `task ${first.task_id}`), acts),
    h("p", { class: "run-work foreign soft" }, first.work),
    first.check && h("p", { class: "soft", role: "status" }, renderRunning(first)),
    h("dl", { class: "facts" }, listFacts(items).map(([name, value]) =>
      h("div", null, h("dt", null, name), h("dd", { class: "num" }, value)))),
    listWarnings(first).map((told) => h("p", { class: "warning tone-warn" }, icon("alert"), told)),
  ];
}

function listFacts(items) {
  const first = items[0];
  return [
    ["Asked", since(first.created_ms)],
    ["Took", took(first)],
    findLimit(first),
    ["Tokens", tokens(sum(items, "tokens"))],
    ["Cost", cost(sum(items, "cost_usd"))],
    ["Runner", first.harness || first.runner],
    ["Session", h("code", { class: "id" }, first.session_id)],
  ].filter(([, value]) => value);
}

/** How much time is left, or how much there was. */
function findLimit({ state, started_ms, deadline_ms }) {
  if (deadline_ms === null || started_ms === null) return ["Limit", ""];
  if (state === "finished") return ["Limit", duration(deadline_ms - started_ms)];
  return ["Left", tick(() => tellLeft(deadline_ms), { title: `until ${when(deadline_ms)}` })];
}

function tellLeft(deadline_ms) {
  const left = deadline_ms - Date.now();
  return left > 0 ? duration(left) : "none";
}

/** What is worth a look, each with what to do. */
function listWarnings(first) {
  if (first.state === "finished") return [];
  const told = [];
  if (!first.supervised) told.push(h("span", null, "No process supervises this run any more. ",
    h("code", null, `remit wait ${first.session_id}`), " takes it over."));
  const activity_ms = findSilence(first);
  if (activity_ms) told.push(tick(() => `No activity for ${duration(Date.now() - activity_ms)}.`));
  return told;
}

/** Since when nothing was heard of who should have said something by now; null where that is not so. */
function findSilence({ idle_s, activity_ms, started_ms }) {
  return idle_s ? activity_ms ?? started_ms : null;
}
