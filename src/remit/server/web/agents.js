/**
 * Agents: the files that define them, what there is to say of each, and who may call whom.
 */

import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { count, empty, icon, whole } from "./format.js";
import { keepFocus, keepFresh } from "./fresh.js";
import { describeVertex, drawGraph, readGraph } from "./graph.js";
import { bind } from "./keys.js";
import { renderDiagnostics, section } from "./parts.js";
import { go, withQuery } from "./route.js";

const SEVERITIES = ["error", "warning", "note"];
const SHOWN = { "": "All", diagnostics: "With diagnostics", error: "With errors" };

/** @param {HTMLElement} root @param {{query: URLSearchParams}} params */
export function page(root, params) {
  const place = h("div", { class: "matter" });
  const search = h("input", { type: "search", placeholder: "Search name, file, finding", "aria-label": "Search agents",
    spellcheck: "false", maxlength: "200", title: "/", "data-key": "search", value: params.query.get("q") ?? "" });
  let query = params.query;
  let told = null;
  replace(root, place);

  function change(changes, how = { quiet: true }) {
    go(withQuery(changes), how);
    query = new URLSearchParams(location.search);
    draw();
  }

  search.addEventListener("input", () => change({ q: search.value.trim() }));

  function draw() {
    if (!told) return;
    if (!told.items.length) {
      replace(place, empty("There are no agents here yet", "An agent is a file that says what it does. Make one:",
        "remit agent new research my-researcher"));
      return;
    }
    const view = query.get("view") === "graph" ? "graph" : "files";
    keepFocus(place, () => replace(place, renderHead(told, view, search, query, change),
      view === "graph" ? renderGraph(told, query.get("agent"), change) : renderFiles(told, query, change)));
  }

  const fresh = keepFresh({ place, follows: false, ask: (signal) => get("/agents", {}, { signal }), draw: (now) => {
    told = now;
    draw();
  } });
  const unbind = bind("Agents", {
    "/": { help: "Search", act: () => search.isConnected && search.select() },
    v: { help: "Files or graph", act: () => change({ view: query.get("view") === "graph" ? null : "graph" }) },
    Escape: { help: "Clear", act: () => {
      search.value = "";
      change({ q: null, show: null, agent: null });
    } },
  });
  const end = () => {
    fresh.end();
    unbind();
  };
  end.update = (now) => {
    query = now.query;
    search.value = query.get("q") ?? "";
    draw();
    return true;
  };
  return end;
}

function renderHead(told, view, search, query, change) {
  const turn = (key) => change({ view: key === "files" ? null : key });
  const step = (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    turn(view === "files" ? "graph" : "files");
    document.querySelector(".matter [role=tab][aria-selected=true]").focus();
  };
  const tab = (key, name, number) => h("button", { class: "tab", type: "button", role: "tab",
    "aria-selected": String(view === key), "data-key": `tab-${key}`, tabindex: view === key ? "0" : "-1",
    onclick: () => turn(key) }, name,
    h("span", { class: "count" }, whole(number)));
  const chosen = query.get("show") ?? "";
  return h("header", { class: "matter-head" },
    h("div", { class: "matter-top" }, h("h1", null, "Agents"),
      h("p", { class: "soft" }, count(told.counts.files, "file"), ": ", SEVERITIES.map((name, at) => [at > 0 && ", ",
        count(told.counts[name], name)])),
      view === "files" && h("div", { class: "search" }, icon("search"), search)),
    h("div", { class: "tabs", role: "tablist", "aria-label": "Agents", onkeydown: step },
      tab("files", "Files", told.items.length), tab("graph", "Graph", told.graph.edges.length)),
    view === "files" && h("div", { class: "chips", role: "group", "aria-label": "Which files" },
      Object.entries(SHOWN).map(([key, name]) => h("button", { class: "chip", type: "button",
        "aria-pressed": String(key === chosen), "data-key": `show-${key}`, onclick: () => change({ show: key }) },
        name))));
}

// --- files -----------------------------------------------------------------------------------------------------------

function findWorst(diagnostics) {
  return SEVERITIES.find((name) => diagnostics.some((each) => each.severity === name)) ?? null;
}

function isWanted(file, query) {
  const worst = findWorst(file.diagnostics);
  if (query.get("show") === "error" && worst !== "error") return false;
  if (query.get("show") === "diagnostics" && worst === null) return false;
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return true;
  const diagnostics = file.diagnostics.flatMap((each) => [each.code, each.message]);
  const text = [file.name, file.path, file.description, ...diagnostics]
    .join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

function renderFiles(told, query, change) {
  const rank = (file) => SEVERITIES.indexOf(findWorst(file.diagnostics) ?? "") >>> 0; // those without come last
  const files = told.items.filter((file) => isWanted(file, query))
    .sort((one, other) => rank(one) - rank(other) || one.path.localeCompare(other.path));
  if (!files.length) {
    return h("div", { class: "empty" }, h("h2", null, "Nothing matches"), h("p", null, "No agent file is like that."));
  }
  const inGraph = new Set(told.graph.agents.map((each) => each.name));
  return h("ul", { class: "cards" }, files.map((file) => renderFile(file, inGraph, change)));
}

function renderFile(file, inGraph, change) {
  const worst = findWorst(file.diagnostics);
  return h("li", { class: "card agent" },
    h("div", { class: "agent-head" },
      worst ? icon(worst, { error: "bad", warning: "warn", note: "live" }[worst]) : icon("check", "good"),
      h("h2", { class: "foreign" }, file.name ?? "no agent"),
      h("code", { class: "foreign faint" }, file.path),
      h("span", { class: "faint" }, [file.profile, file.kind].filter(Boolean).join(" · ")),
      h("span", { class: "agent-links" },
        file.name && inGraph.has(file.name) && h("button", { class: "as-link", type: "button",
          "data-key": `graph-${file.path}`,
          onclick: () => change({ view: "graph", agent: file.name }, {}) }, "in the graph"),
        file.name && h("a", { href: nameRuns(file.name) }, "its runs"))),
    file.description && h("p", { class: "foreign soft" }, file.description),
    renderDiagnostics(file.diagnostics));
}

function nameRuns(agent) {
  return `/runs?${new URLSearchParams({ agent, nested: "1" })}`;
}

// --- the graph -------------------------------------------------------------------------------------------------------

function renderGraph(told, chosen, change) {
  const { graph } = told;
  const worst = new Map(told.items.filter((each) => each.name).map((each) => [each.name, findWorst(each.diagnostics)]));
  const read = readGraph(graph, worst);
  const side = h("aside", { class: "graph-side", "aria-label": "Agent", "aria-live": "polite" });
  const show = (name) => replace(side, renderSide(told, read, name, pick));
  const drawn = drawGraph(read, { maxDepth: graph.max_depth, onChoose: (name) => {
    go(withQuery({ agent: name }), { quiet: true });
    show(name);
  } });
  function pick(name) {
    go(withQuery({ agent: name }), { quiet: true });
    drawn.choose(name, { focus: true });
    show(name);
  }
  const isThere = chosen !== null && read.vertices.has(chosen);
  show(isThere ? chosen : null);
  if (isThere) requestAnimationFrame(() => drawn.choose(chosen));
  return h("div", { class: "graph-page" },
    h("div", { class: "graph-main" },
      graph.edges.length ? [drawn.element, renderLegend(graph, read)]
        : h("p", { class: "soft" }, "No agent may call another one."),
      drawn.alone.length > 0 && h("section", { class: "part" }, h("h3", null, "Call no agent, called by no agent"),
        h("div", { class: "chips" }, drawn.alone.map((name) => h("button", { class: "chip foreign", type: "button",
          "data-key": `alone-${name}`, onclick: () => pick(name) }, name))))),
    side);
}

function renderLegend(graph, read) {
  const told = [
    graph.cycles.length > 0 && ["↻", "is-round", `${count(graph.cycles.length, "cycle")}`],
    [...read.vertices.values()].some((each) => each.isDeep) && ["⤓", "is-deep", `deeper than ${graph.max_depth}`],
    graph.unknown.length > 0 && ["?", "is-unknown", "does not exist"],
  ].filter(Boolean);
  return told.length ? h("p", { class: "graph-legend" }, told.map(([mark, name, text]) =>
    h("span", { class: name }, h("b", null, mark), " ", text))) : null;
}

function renderSide(told, read, name, pick) {
  const { graph } = told;
  if (name === null) return renderCircles(graph, pick);
  const vertex = read.vertices.get(name);
  const file = told.items.find((each) => each.name === name);
  const names = (list) => (list.length ? h("ul", { class: "plain-list" }, [...new Set(list)].map((each) => h("li", null,
    h("button", { class: "as-link foreign", type: "button", onclick: () => pick(each) },
      read.vertices.get(each)?.label ?? each)))) : null);
  return [
    h("h2", { class: "foreign" }, vertex.label),
    h("p", { class: "soft" }, describeVertex(vertex, graph.max_depth).join(", ")),
    file && h("p", null, h("code", { class: "foreign faint" }, file.path)),
    file?.description && h("p", { class: "foreign" }, file.description),
    section("May call", names(read.calls.filter((each) => each.from === name).map((each) => each.to))),
    section("Called by", names(read.calls.filter((each) => each.to === name).map((each) => each.from))),
    file && section("Diagnostics", renderDiagnostics(file.diagnostics)),
    vertex.kind === "agent" && h("p", null, h("a", { href: nameRuns(name) }, "Its runs")),
  ];
}

function renderCircles(graph, pick) {
  return [
    h("p", { class: "soft" }, "Choose an agent to see whom it may call. The arrow keys go along the calls."),
    graph.cycles.length > 0 && section("Circles", h("ul", { class: "plain-list" }, graph.cycles.map((cycle) =>
      h("li", null, h("button", { class: "as-link foreign", type: "button",
        onclick: () => pick(cycle[0]) }, cycle.join(" → ")))))),
    graph.unknown.length > 0 && section("Does not exist", h("ul", { class: "plain-list" }, graph.unknown.map((each) =>
      h("li", null, h("button", { class: "as-link foreign", type: "button", onclick: () => pick(each.to) }, each.to),
        h("span", { class: "faint" }, " called by "), each.from)))),
  ];
}
