/**
 * Plot: counts by day, as bars of stacked parts.
 *
 * Owns the drawing. The legend tells the numbers of the day that is pointed at or has the focus, of all days otherwise;
 * a table with the same numbers stands below for who reads rather than looks.
 */

import { h, replace, svg } from "./dom.js";
import { whole } from "./format.js";

const HEIGHT = 190;
const LEFT = 38;
const BOTTOM = 22;
const TOP = 10;
const LABEL_PX = 64;
const WIDEST_BAR = 30;
const STEPS = 4;

/**
 * @typedef {{key: string, name: string}} Part
 * @typedef {{day: string, total: number} & Object<string, number>} Day
 */

/**
 * @param {{days: Day[], parts: Part[], label: string, isUnfolded?: boolean}} told isUnfolded: whether the table is
 * @returns {{element: HTMLElement, end: () => void}}
 */
export function makePlot({ days, parts, label, isUnfolded }) {
  const legend = h("div", { class: "legend" });
  const frame = h("div", { class: "plot-frame" });
  let chosen = null;
  let groups = [];

  function tell(at) {
    chosen = at;
    replace(legend, renderLegend(at === null ? sum(days, parts) : days[at], parts, at === null ? null : days[at].day));
    groups.forEach((each, number) => each.classList.toggle("is-chosen", number === at));
  }

  /** Arrow keys go from day to day; only one of them is in the tab order. */
  function move(event) {
    const now = chosen ?? days.length - 1;
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: days.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const at = Math.max(0, Math.min(days.length - 1, next));
    groups.forEach((each, number) => each.setAttribute("tabindex", number === at ? "0" : "-1"));
    groups[at].focus();
  }

  function draw() {
    const width = Math.max(240, frame.clientWidth);
    const drawn = drawBars(days, parts, width);
    const hadFocus = frame.contains(document.activeElement);
    groups = drawn.groups;
    groups.forEach((each, at) => {
      each.setAttribute("tabindex", at === (chosen ?? groups.length - 1) ? "0" : "-1");
      each.addEventListener("pointerenter", () => tell(at));
      each.addEventListener("focus", () => tell(at));
    });
    replace(frame, svg("svg", { class: "plot", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "group",
      "aria-label": `${label}. The arrow keys go from day to day.` }, drawn.marks, groups));
    if (hadFocus) groups[chosen ?? groups.length - 1]?.focus();
  }

  frame.addEventListener("pointerleave", () => tell(null));
  frame.addEventListener("focusout", (event) => frame.contains(event.relatedTarget) || tell(null));
  frame.addEventListener("keydown", move);
  const watcher = new ResizeObserver(draw);
  watcher.observe(frame);
  tell(null);
  const summary = h("summary", null, "As a table");
  const table = h("details", { class: "as-table", open: isUnfolded }, summary, renderTable(days, parts));
  return {
    element: h("figure", { class: "plot-box", "aria-label": label }, legend, frame, table),
    end: () => watcher.disconnect(),
  };
}

/** All days as one. */
function sum(days, parts) {
  const told = { total: 0 };
  for (const { key } of parts) told[key] = 0;
  for (const day of days) {
    told.total += day.total;
    for (const { key } of parts) told[key] += day[key] ?? 0;
  }
  return told;
}

function renderLegend(day, parts, name) {
  return [
    h("span", { class: "legend-day num" }, name ?? "All days", ": ", h("b", null, whole(day.total))),
    parts.map((part) => h("span", { class: ["legend-part", !day[part.key] && "is-none"] },
      h("span", { class: ["swatch", `part-${part.key}`] }), part.name, " ",
      h("b", { class: "num" }, whole(day[part.key] ?? 0)))),
  ];
}

/** A round number above the highest bar that can be cut into even steps. */
function findTop(most) {
  if (most <= STEPS) return STEPS;
  const size = 10 ** Math.floor(Math.log10(most / STEPS));
  const steps = [1, 2, 2.5, 5, 10].map((each) => each * size);
  return steps.find((each) => Number.isInteger(each) && each * STEPS >= most) * STEPS;
}

function drawBars(days, parts, width) {
  const top = findTop(Math.max(0, ...days.map((each) => each.total)));
  const space = (width - LEFT) / days.length;
  const bar = Math.max(1, Math.min(WIDEST_BAR, space * (space > 6 ? 0.72 : 0.9)));
  const scale = (HEIGHT - TOP - BOTTOM) / top;
  const every = Math.ceil(LABEL_PX / space);
  const marks = [];
  for (let step = 0; step <= STEPS; step += 1) {
    const y = HEIGHT - BOTTOM - (top / STEPS) * step * scale;
    marks.push(svg("path", { class: "plot-line", d: `M${LEFT},${y}H${width}` }),
      svg("text", { class: "plot-text", x: LEFT - 6, y: y + 3.5, "text-anchor": "end" }, whole((top / STEPS) * step)));
  }
  const groups = days.map((day, at) => {
    const x = LEFT + space * at + (space - bar) / 2;
    const isNamed = (days.length - 1 - at) % every === 0;
    if (isNamed) marks.push(svg("text", { class: "plot-text", x: Math.min(x + bar / 2, width - 18), y: HEIGHT - 6,
      "text-anchor": "middle" }, day.day.slice(5)));
    return svg("g", { class: "plot-day", role: "img", "aria-label": tellDay(day, parts) },
      svg("rect", { class: "plot-ground", x: LEFT + space * at, y: TOP, width: space, height: HEIGHT - TOP - BOTTOM }),
      stack(day, parts, x, bar, scale));
  });
  return { marks, groups };
}

function stack(day, parts, x, width, scale) {
  let y = HEIGHT - BOTTOM;
  return parts.filter((part) => day[part.key] > 0).map((part) => {
    const whole_px = day[part.key] * scale;
    const height = Math.max(0.5, whole_px - (whole_px > 3 ? 0.75 : 0)); // a gap between parts that are high enough
    y -= whole_px;
    return svg("rect", { class: `part-${part.key}`, x, y, width, height });
  });
}

function tellDay(day, parts) {
  const told = parts.filter((part) => day[part.key] > 0).map((part) => `${day[part.key]} ${part.name}`);
  return `${day.day}: ${told.length ? told.join(", ") : "none"}`;
}

function renderTable(days, parts) {
  const filled = days.filter((each) => each.total > 0).reverse();
  return h("div", { class: "scroll-x" }, h("table", { class: "num" },
    h("caption", { class: "only-read" }, "The newest day first; days without any are left out."),
    h("thead", null, h("tr", null, ["Day", "All", ...parts.map((each) => each.name)].map((name) =>
      h("th", { scope: "col" }, name)))),
    h("tbody", null, filled.map((day) => h("tr", null, h("th", { scope: "row" }, day.day),
      ["total", ...parts.map((each) => each.key)].map((key) => h("td", null, whole(day[key] ?? 0))))))));
}
