/**
 * Graph: who may call whom, as a drawing.
 *
 * Owns the layout: a column for each depth, in each column an order in which few lines cross. Calls that go round in a
 * circle, agents beyond the deepest level that is allowed, and names that nobody has are marked by shape and word too.
 * The arrow keys go along the calls.
 */

import { h, svg } from "./dom.js";
import { icon } from "./format.js";

const WIDTH = 176;
const HEIGHT = 32;
const BETWEEN = 60; // columns
const APART = 12; // rows
const TOP = 40; // for what is said of each column
const EDGE = 14;
const TALL = 700;
const SWEEPS = 6;
const MOST_CHARS = 20;
const ZOOMS = [0.3, 0.45, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.6];
const READABLE = 0.8;
const DRAG_PX = 4;

/**
 * @typedef {{name: string, label: string, kind: "agent"|"unknown"|"other", depth: number|null, level: number,
 *            isRound: boolean, isDeep: boolean, isEntry: boolean, severity: string|null}} Vertex
 *   depth: how far down it is called, null where nobody calls it; level: where it stands in the drawing
 * @typedef {{from: string, to: string, cycle: boolean}} Call
 */

// --- what there is to draw -------------------------------------------------------------------------------------------

/** The agents and every name they may call. @returns {{vertices: Map<string, Vertex>, calls: Call[]}} */
export function readGraph(graph, worst) {
  const rounds = new Set(graph.cycles.flat());
  const unknown = new Set(graph.unknown.map((each) => each.to));
  const vertices = new Map(graph.agents.map((each) => [each.name, {
    name: each.name, label: each.name, kind: "agent", depth: each.depth, isEntry: each.entry,
    isRound: rounds.has(each.name), severity: worst.get(each.name) ?? null,
  }]));
  for (const { to } of graph.edges) {
    if (vertices.has(to)) continue;
    vertices.set(to, { name: to, label: to === "*" ? "any agent" : to, kind: unknown.has(to) ? "unknown" : "other",
      depth: null, isEntry: false, isRound: false, severity: null });
  }
  for (const call of graph.edges) if (call.cycle) vertices.get(call.from).isRound = true;
  setLevels(vertices, graph.edges);
  for (const each of vertices.values()) each.isDeep = each.kind === "agent" && each.level > graph.max_depth;
  return { vertices, calls: graph.edges };
}

/** Each behind all that call it; without the calls that go round, there is a first one everywhere. */
function setLevels(vertices, calls) {
  const onward = calls.filter((call) => !call.cycle);
  const open = new Map([...vertices.keys()].map((name) => [name, 0]));
  const below = new Map([...vertices.keys()].map((name) => [name, []]));
  for (const { from, to } of onward) {
    open.set(to, open.get(to) + 1);
    below.get(from).push(to);
  }
  for (const vertex of vertices.values()) vertex.level = vertex.depth ?? 1;
  const ready = [...open].filter(([, number]) => number === 0).map(([name]) => name);
  while (ready.length) {
    const name = ready.pop();
    for (const to of below.get(name)) {
      const vertex = vertices.get(to);
      if (vertex.depth === null) vertex.level = Math.max(vertex.level, vertices.get(name).level + 1);
      open.set(to, open.get(to) - 1);
      if (open.get(to) === 0) ready.push(to);
    }
  }
}

/** What is said of a vertex, in words. */
export function describeVertex(vertex, maxDepth) {
  if (vertex.kind === "unknown") return ["does not exist"];
  if (vertex.kind === "other") return [vertex.name === "*" ? "any agent" : "no file of this project"];
  return [
    vertex.depth === null ? "called by no agent" : `depth ${vertex.depth}`,
    vertex.isDeep && `deeper than ${maxDepth}`,
    vertex.isRound && "in a cycle",
  ].filter(Boolean);
}

// --- where it stands -------------------------------------------------------------------------------------------------

/** Columns of names, by depth; names without any call stand apart. */
function arrange({ vertices, calls }) {
  const joined = new Set(calls.flatMap((call) => [call.from, call.to]));
  const alone = [...vertices.keys()].filter((name) => !joined.has(name));
  const levelOf = new Map();
  for (const vertex of vertices.values()) if (joined.has(vertex.name)) levelOf.set(vertex.name, vertex.level);
  const levels = [...new Set(levelOf.values())].sort((a, b) => a - b);
  const columnOf = new Map([...levelOf].map(([name, level]) => [name, levels.indexOf(level)]));
  const columns = levels.map(() => []);
  for (const [name, column] of columnOf) columns[column].push({ id: name, isReal: true });
  const links = route(calls, columnOf, columns);
  order(columns, links);
  return { columns, links, levels, alone };
}

/** Long calls get a point in each column between, so that lines pass between the boxes. */
function route(calls, columnOf, columns) {
  return calls.map((call) => {
    const from = columnOf.get(call.from);
    const to = columnOf.get(call.to);
    const points = [call.from];
    for (let column = from + 1; column < to; column += 1) {
      const id = {}; // no name is equal to it
      columns[column].push({ id, isReal: false });
      points.push(id);
    }
    return { call, points: [...points, call.to], isBack: to <= from };
  });
}

/** Put each next to what it is joined to, forth and back a few times. */
function order(columns, links) {
  const before = new Map();
  const behind = new Map();
  const join = (map, one, other) => map.set(one, [...(map.get(one) ?? []), other]);
  for (const { points, isBack } of links) {
    if (isBack) continue;
    points.slice(1).forEach((each, at) => {
      join(before, each, points[at]);
      join(behind, points[at], each);
    });
  }
  const place = new Map();
  const note = (column) => column.forEach((each, at) => place.set(each.id, at / Math.max(1, column.length)));
  columns.forEach(note);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForth = sweep % 2 === 0;
    const walked = isForth ? columns : [...columns].reverse();
    for (const column of walked) {
      const weight = new Map(column.map(({ id }) => {
        const near = (isForth ? before : behind).get(id) ?? [];
        const sum = near.reduce((total, each) => total + place.get(each), 0);
        return [id, near.length ? sum / near.length : place.get(id)];
      }));
      column.sort((one, other) => weight.get(one.id) - weight.get(other.id));
      note(column);
    }
  }
}

/** The middle of the left side of every box and point. */
function measure({ columns }) {
  const spots = new Map();
  const heights = columns.map((column) =>
    column.reduce((total, each) => total + (each.isReal ? HEIGHT : 0) + APART, 0));
  const height = Math.max(0, ...heights);
  columns.forEach((column, at) => {
    let y = TOP + (height > TALL ? 0 : (height - heights[at]) / 2); // what is scrolled begins at the top
    for (const each of column) {
      const own = each.isReal ? HEIGHT : 0;
      spots.set(each.id, { x: EDGE + at * (WIDTH + BETWEEN), y: y + own / 2, column: at });
      y += own + APART;
    }
  });
  return { spots, width: 2 * EDGE + columns.length * (WIDTH + BETWEEN) - BETWEEN, height: TOP + height + EDGE };
}

// --- the drawing -----------------------------------------------------------------------------------------------------

/** A line through its points; one that leads back leaves at the right and comes in at the right again. */
function drawLine({ points, isBack }, spots) {
  const first = spots.get(points[0]);
  const last = spots.get(points.at(-1));
  if (isBack) {
    const from = first.x + WIDTH;
    const to = last.x + WIDTH;
    const out = Math.max(from, to) + 44;
    if (first === last) {
      return `M${from},${first.y - 6}C${out},${first.y - 26} ${out},${first.y + 26} ${to},${first.y + 6}`;
    }
    return `M${from},${first.y + 5}C${out},${first.y + 5} ${out},${last.y - 5} ${to},${last.y - 5}`;
  }
  let x = first.x + WIDTH;
  let y = first.y;
  let path = `M${x},${y}`;
  for (const id of points.slice(1)) {
    const next = spots.get(id);
    const bend = (next.x - x) / 2;
    path += `C${x + bend},${y} ${next.x - bend},${next.y} ${next.x},${next.y}`;
    x = next.x;
    y = next.y;
    if (id !== points.at(-1)) {
      x += WIDTH;
      path += `L${x},${y}`;
    }
  }
  return path;
}

function drawArrow(id) {
  return svg("marker", { id, viewBox: "0 0 8 8", refX: "7", refY: "4", markerWidth: "9", markerHeight: "9",
    markerUnits: "userSpaceOnUse", orient: "auto-start-reverse", class: id }, svg("path", { d: "M0,0L8,4L0,8z" }));
}

function cut(text) {
  const chars = [...text];
  return chars.length > MOST_CHARS ? `${chars.slice(0, MOST_CHARS - 1).join("")}…` : text;
}

function drawVertex(vertex, spot, maxDepth) {
  const told = describeVertex(vertex, maxDepth);
  const classes = ["vertex", `is-${vertex.kind}`, vertex.isRound && "is-round", vertex.isDeep && "is-deep",
    vertex.severity && `has-${vertex.severity}`];
  const marks = [vertex.isRound && "↻", vertex.isDeep && "⤓", vertex.kind === "unknown" && "?"];
  return svg("g", { class: classes, role: "button", tabindex: "-1", transform: `translate(${spot.x},${spot.y})`,
    "aria-label": [vertex.label, ...told].join(", "), "data-name": vertex.name },
    svg("title", null, [vertex.label, ...told].join(", ")),
    svg("rect", { y: -HEIGHT / 2, width: WIDTH, height: HEIGHT, rx: vertex.kind === "agent" ? 6 : 16 }),
    svg("text", { x: 12, y: 4.5 }, cut(vertex.label)),
    svg("text", { class: "vertex-mark", x: WIDTH - 12, y: 4.5, "text-anchor": "end" },
      marks.filter(Boolean).join(" ")));
}

/**
 * The drawing with its keys and its zoom.
 * @param {{vertices: Map<string, Vertex>, calls: Call[]}} read
 * @param {{maxDepth: number, onChoose: (name: string) => void}} how
 * @returns {{element: HTMLElement, choose: (name: string|null, how?: {focus?: boolean}) => void, alone: string[]}}
 */
export function drawGraph(read, how) {
  const laid = arrange(read);
  const { spots, width, height } = measure(laid);
  const boxes = new Map();
  const lines = laid.links.map((link) => ({ ...link.call, path: svg("path", { d: drawLine(link, spots),
    class: ["call", link.call.cycle && "is-round", read.vertices.get(link.call.to).kind === "unknown" && "is-unknown"],
    "marker-end": `url(#${link.call.cycle ? "arrow-round" : "arrow"})` }) }));
  for (const [name, vertex] of read.vertices) {
    if (spots.has(name)) boxes.set(name, drawVertex(vertex, spots.get(name), how.maxDepth));
  }
  const heads = laid.levels.map((level, at) => svg("text", { class: ["level", level > how.maxDepth && "is-deep"],
    x: EDGE + at * (WIDTH + BETWEEN), y: 22 },
    level > how.maxDepth ? `Depth ${level}, beyond the limit` : `Depth ${level}`));
  const reach = width + (laid.links.some((each) => each.isBack) ? 60 : 0);
  const drawing = svg("svg", { class: "graph", viewBox: `0 0 ${reach} ${height}`, role: "group",
    "aria-label": "Who may call whom. The arrow keys go along the calls." },
    svg("defs", null, drawArrow("arrow"), drawArrow("arrow-round")), heads,
    lines.map((each) => each.path), [...boxes.values()]);
  const frame = h("div", { class: "graph-frame" }, drawing);
  const zoom = makeZoom(frame, drawing, reach, height);
  const choose = makeChooser(drawing, boxes, lines, laid.columns[0]?.find((each) => each.isReal).id);

  const pick = (name, options) => {
    choose(name, options);
    if (name !== null) how.onChoose(name);
  };
  drawing.addEventListener("click", (event) => {
    const box = event.target.closest(".vertex");
    if (box && !zoom.wasDragged()) pick(box.dataset.name, { focus: true });
  });
  drawing.addEventListener("keydown", (event) => {
    const box = event.target.closest(".vertex");
    if (!box) return;
    const next = event.key === "Enter" || event.key === " " ? box.dataset.name
      : findNext(event.key, box.dataset.name, laid, spots, read.calls);
    if (next === undefined) return;
    event.preventDefault();
    pick(next, { focus: true });
  });
  choose(null);
  requestAnimationFrame(() => zoom.fit(READABLE));
  return { element: h("div", { class: "graph-box" }, frame, zoom.element), choose, alone: laid.alone };
}

/** Where an arrow key leads; undefined where the key means nothing here. */
function findNext(key, name, laid, spots, calls) {
  const spot = spots.get(name);
  if (key === "ArrowUp" || key === "ArrowDown") {
    const column = laid.columns[spot.column].filter((each) => each.isReal).map((each) => each.id);
    const at = column.indexOf(name) + (key === "ArrowUp" ? -1 : 1);
    return column[Math.max(0, Math.min(column.length - 1, at))];
  }
  const near = { ArrowLeft: calls.filter((each) => each.to === name).map((each) => each.from),
    ArrowRight: calls.filter((each) => each.from === name).map((each) => each.to) }[key];
  if (!near) return undefined;
  const far = (other) => Math.abs(spots.get(other).y - spot.y);
  return near.filter((other) => other !== name).sort((one, other) => far(one) - far(other))[0] ?? name;
}

/** Mark one, and what it is joined to; the focus comes in at the first where none is chosen. */
function makeChooser(drawing, boxes, lines, first) {
  return (name, how = {}) => {
    const isThere = name !== null && boxes.has(name);
    drawing.classList.toggle("has-chosen", isThere);
    const near = new Set([name]);
    for (const { from, to, path } of lines) {
      const isOwn = from === name || to === name;
      path.classList.toggle("is-near", isOwn);
      if (isOwn) near.add(from).add(to);
    }
    const entry = isThere ? name : first;
    for (const [each, box] of boxes) {
      box.classList.toggle("is-near", near.has(each));
      box.setAttribute("aria-pressed", String(each === name));
      box.setAttribute("tabindex", each === entry ? "0" : "-1");
    }
    if (!isThere) return;
    if (how.focus) boxes.get(name).focus({ preventScroll: true });
    boxes.get(name).scrollIntoView({ block: "nearest", inline: "nearest" });
  };
}

/** Buttons and Ctrl+wheel make it larger; who drags the ground moves it. */
function makeZoom(frame, drawing, width, height) {
  let at = ZOOMS.indexOf(1);
  let dragged = 0;
  const set = (next) => {
    at = Math.max(0, Math.min(ZOOMS.length - 1, next));
    drawing.setAttribute("width", String(Math.round(width * ZOOMS[at])));
    drawing.setAttribute("height", String(Math.round(height * ZOOMS[at])));
    told.textContent = `${Math.round(ZOOMS[at] * 100)} %`;
  };
  const fit = (least = 0) => {
    const highest = parseFloat(getComputedStyle(frame).maxHeight) || frame.clientHeight;
    const scale = Math.max(least, Math.min(1, frame.clientWidth / width, highest / height));
    set(ZOOMS.findLastIndex((each) => each <= scale));
  };
  const told = h("span", { class: "num", role: "status" });
  const button = (name, label, act) => h("button", { class: "button plain", type: "button", title: label,
    "aria-label": label, onclick: act }, name);
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    set(at + (event.deltaY < 0 ? 1 : -1));
  }, { passive: false });
  frame.addEventListener("pointerdown", (event) => {
    dragged = 0;
    if (event.pointerType !== "mouse" || event.button !== 0 || event.target.closest(".vertex")) return;
    frame.setPointerCapture(event.pointerId);
  });
  frame.addEventListener("pointermove", (event) => {
    if (!frame.hasPointerCapture(event.pointerId)) return;
    dragged += Math.abs(event.movementX) + Math.abs(event.movementY);
    frame.scrollBy(-event.movementX, -event.movementY);
  });
  set(at);
  return {
    element: h("div", { class: "graph-zoom", role: "group", "aria-label": "Size" },
      button("−", "Smaller", () => set(at - 1)), told, button(icon("plus"), "Larger", () => set(at + 1)),
      button("Fit", "All of it", () => fit())),
    fit,
    wasDragged: () => dragged > DRAG_PX,
  };
}
