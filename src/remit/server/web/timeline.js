/**
 * Timeline: when each run waited, worked and had its deadline.
 *
 * Owns the bars, the axis above them and how far one looks into it. Rows stand in the order of the tree.
 */

import { h, replace } from "./dom.js";
import { badge, clock, describe, duration, when } from "./format.js";
import { makeList } from "./list.js";

const HEIGHT = 28;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS_MS = [
  100, 200, 500,
  ...[1, 2, 5, 10, 15, 30].flatMap((each) => [each * SECOND, each * MINUTE]),
  ...[1, 2, 6, 12].map((each) => each * HOUR), DAY, 7 * DAY,
].sort((one, other) => one - other);
const MOST_MARKS = 7;
const SHORTEST_MS = 50;
const AHEAD = 0.6; // a deadline is in sight when it is no further away than this share of what has passed

/** @param {{onChoose: (session_id: string) => void}} options */
export function makeTimeline(options) {
  let items = [];
  let chosen = "";
  let attempts = [];
  let whole = { from: 0, to: 1 };
  /** @type {{from: number, to: number}|null} null: all of it */
  let part = null;
  let now = Date.now();

  const axis = h("div", { class: "axis" });
  const head = h("div", { class: "time-row time-head", "aria-hidden": "true" },
    h("span", { class: "faint" }, "Run"), axis);
  const list = makeList({
    label: "Timeline", kind: "tree", head, height: () => HEIGHT,
    render: (index) => renderRow(items[index]),
    stamp: (index) => stamp(items[index]),
    onChoose: (index) => options.onChoose(items[index].session_id),
  });
  const timer = setInterval(() => {
    if (list.element.isConnected && !document.hidden && items.some((each) => each.state !== "finished")) redraw();
  }, 1000);

  function redraw() {
    now = Date.now();
    whole = findRange(items, now);
    replace(axis, listMarks(range()).map(({ at, told }) =>
      h("span", { class: "axis-mark", style: { left: place(at) } }, told)));
    list.refresh();
  }

  function range() {
    return part ?? whole;
  }

  function place(at_ms) {
    const { from, to } = range();
    return `${(((at_ms - from) / (to - from)) * 100).toFixed(3)}%`;
  }

  function stamp(item) {
    const { from, to } = range();
    return [item.session_id, item.state, item.status, item.verdict, item.ended_ms, from, to,
      item.state === "finished" ? "" : now,
      item.session_id === chosen ? `c${attempts.length}` : ""].join("|");
  }

  function renderRow(item) {
    return h("div", { class: "time-row", "aria-level": String(item.level + 1), "aria-label": tell(item, now),
      title: tell(item, now),
      onclick: () => list.choose(items.indexOf(item)) },
    h("span", { class: "time-name clip", style: { "padding-inline-start": `${Math.min(item.level, 8) * 10}px` } },
      badge(item, { class: ["badge", "mark-only", `tone-${describe(item).tone}`] }), item.agent),
    h("span", { class: "time-lane" }, renderBars(item)));
  }

  function renderBars(item) {
    const { tone } = describe(item);
    const begun = item.started_ms ?? now;
    const ended = item.ended_ms ?? now;
    return [
      begun > item.created_ms && bar("bar-wait", item.created_ms, begun),
      item.started_ms !== null && bar(["bar", `tone-${tone}`, item.ended_ms === null && "is-open"], begun, ended),
      item.session_id === chosen && attempts.slice(1).map((each) => each.started_ms && renderSplit(each)),
      item.deadline_ms !== null && renderDue(item.deadline_ms, ended >= item.deadline_ms),
    ];
  }

  function renderSplit(attempt) {
    const style = { left: place(attempt.started_ms) };
    return h("i", { class: "bar-split", style, title: `attempt ${attempt.number}` });
  }

  function renderDue(deadline_ms, isOver) {
    return h("i", { class: ["bar-due", isOver && "is-over"], style: { left: place(deadline_ms) },
      title: `deadline ${when(deadline_ms)}` });
  }

  function bar(name, from, to) {
    const { from: begin, to: end } = range();
    const left = Math.max(from, begin);
    const width = Math.max(0, Math.min(to, end) - left);
    if (to < begin || from > end) return null;
    const share = (width / (end - begin)) * 100;
    return h("i", { class: name, style: { left: place(left), width: `${share.toFixed(3)}%` } });
  }

  /** Look closer or from further away: at what is under the pointer, else at what is chosen. */
  function zoom(factor, share = null) {
    const { from, to } = range();
    const span = Math.max(SHORTEST_MS, (to - from) * factor);
    if (share === null) {
      const middle = findMiddle();
      setPart({ from: middle - span / 2, to: middle + span / 2 });
      return;
    }
    const at = from + (to - from) * share;
    setPart({ from: at - span * share, to: at + span * (1 - share) });
  }

  function findMiddle() {
    const item = items.find((each) => each.session_id === chosen);
    const { from, to } = range();
    return item && item.level > 0 ? ((item.started_ms ?? item.created_ms) + (item.ended_ms ?? now)) / 2
      : (from + to) / 2;
  }

  /** Where one looks closer, what is chosen is brought into sight. */
  function seek() {
    const item = items.find((each) => each.session_id === chosen);
    if (!part || !item) return;
    const half = (part.to - part.from) / 2;
    const isOut = (item.ended_ms ?? now) < part.from || item.created_ms > part.to;
    if (isOut) setPart({ from: findMiddle() - half, to: findMiddle() + half });
  }

  function setPart(wanted) {
    const span = Math.min(wanted.to - wanted.from, whole.to - whole.from);
    const from = Math.min(Math.max(wanted.from, whole.from), whole.to - span);
    part = span >= whole.to - whole.from ? null : { from, to: from + span };
    redraw();
  }

  function pan(share) {
    const { from, to } = range();
    const step = (to - from) * share;
    setPart({ from: from + step, to: to + step });
  }

  list.element.addEventListener("wheel", (event) => {
    const box = axis.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      pan((event.deltaX || event.deltaY) / box.width);
    }
  }, { passive: false });

  return {
    element: list.element,
    zoom,
    pan,
    fit() {
      part = null;
      redraw();
    },
    move: (step) => list.move(step),
    set(rows) {
      items = rows;
      list.setCount(items.length);
      redraw();
    },
    choose(session_id) {
      if (chosen !== session_id) attempts = [];
      chosen = session_id;
      list.choose(items.findIndex((each) => each.session_id === session_id), { quiet: true });
      seek();
      redraw();
    },
    /** The attempts of the chosen one, which only its own record has. */
    setAttempts(session_id, found) {
      if (session_id !== chosen) return;
      attempts = found;
      if (list.element.isConnected) redraw();
    },
    end() {
      clearInterval(timer);
      list.end();
    },
  };
}

/** From the first that was asked for to the last that happened; a deadline that is near is in sight, too. */
function findRange(items, now) {
  let from = Infinity;
  let to = 0;
  for (const each of items) {
    from = Math.min(from, each.created_ms);
    to = Math.max(to, each.ended_ms ?? now);
  }
  if (!items.length) return { from: now - 1000, to: now };
  const span = Math.max(SHORTEST_MS, to - from);
  for (const each of items) {
    if (each.deadline_ms !== null && each.deadline_ms - to < span * AHEAD) to = Math.max(to, each.deadline_ms);
  }
  return { from, to: to + Math.max(SHORTEST_MS, to - from) * 0.02 };
}

/** Where the axis is marked: at round times from the beginning on. */
function listMarks({ from, to }) {
  const step = findStep(to - from);
  const marks = [];
  for (let at = Math.ceil(from / step) * step; at < to - step / 4; at += step) {
    marks.push({ at, told: tellMark(at, step) });
  }
  return marks;
}

function findStep(span_ms) {
  const longest = STEPS_MS.at(-1);
  return STEPS_MS.find((each) => span_ms / each <= MOST_MARKS) ?? longest * Math.ceil(span_ms / longest / MOST_MARKS);
}

/** A time as exact as the marks are close. */
function tellMark(at, step) {
  if (step < SECOND) return `${clock(at)}.${Math.floor((at % SECOND) / 100)}`;
  if (step < MINUTE) return clock(at);
  return step < DAY ? clock(at).slice(0, 5) : when(at).slice(5, 10);
}

/** A row in words. */
function tell(item, now) {
  const { word } = describe(item);
  if (item.started_ms === null) return `${item.agent}: ${word}, not begun`;
  const took = duration((item.ended_ms ?? now) - item.started_ms);
  return `${item.agent}: ${word}, begun ${clock(item.started_ms)}, ${took}${tellDue(item, now)}`;
}

function tellDue({ started_ms, ended_ms, deadline_ms }, now) {
  if (deadline_ms === null) return "";
  return ended_ms === null ? `, due in ${duration(deadline_ms - now)}` : `, of ${duration(deadline_ms - started_ms)}`;
}
