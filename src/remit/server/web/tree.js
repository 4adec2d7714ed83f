/**
 * Tree: who handed work to whom.
 *
 * Owns the rows of a run's tree, and which branches are folded. The rows come from the server in the order in which
 * they are drawn.
 */

import { renderRunning, renderUnmet } from "./checks.js";
import { h } from "./dom.js";
import { badge, cost, icon, took } from "./format.js";
import { makeList } from "./list.js";

const HEIGHT = 32;
const INDENT = 18;
const MOST_INDENT = 9;

/** @param {{onChoose: (session_id: string) => void}} options */
export function makeTree(options) {
  let items = [];
  let shown = [];
  let chosen = "";
  /** @type {Map<string, number>} how many are below each */
  let below = new Map();
  const folded = new Set();
  const list = makeList({
    label: "Runs", kind: "tree", height: () => HEIGHT,
    render: (index) => renderRow(shown[index]),
    stamp: (index) => stamp(shown[index]),
    onChoose: (index) => options.onChoose(shown[index].session_id),
  });

  function arrange() {
    shown = [];
    let hiddenBelow = Infinity;
    for (const item of items) {
      if (item.level > hiddenBelow) continue;
      hiddenBelow = folded.has(item.session_id) ? item.level : Infinity;
      shown.push(item);
    }
    list.setCount(shown.length);
    list.choose(shown.findIndex((each) => each.session_id === chosen), { quiet: true, scroll: false });
    list.refresh();
  }

  function fold(session_id, isFolded) {
    if (isFolded) folded.add(session_id);
    else folded.delete(session_id);
    arrange();
  }

  function renderRow(item) {
    const many = below.get(item.session_id) ?? 0;
    const isFolded = folded.has(item.session_id);
    const twist = many ? renderTwist(item.session_id, isFolded) : h("span", { class: "twist" });
    return h("div", {
      class: "tree-row", "aria-level": String(item.level + 1), "aria-expanded": many ? String(!isFolded) : null,
      title: item.work, onclick: () => list.choose(findRow(item.session_id)),
    },
    h("span", { class: "tree-name",
      style: { "padding-inline-start": `${Math.min(item.level, MOST_INDENT) * INDENT}px` } }, twist,
      badge(item), h("span", { class: "tree-agent clip" }, item.agent),
      item.worker && h("span", { class: "pill foreign", title: "The worker that has it" }, item.worker),
      isFolded && h("span", { class: "pill" }, `+${many}`),
      h("span", { class: "tree-work clip foreign faint" },
        item.state === "finished" ? item.work : renderRunning(item) ?? (item.activity || item.work)),
      renderUnmet(item)),
    h("span", { class: "num soft" }, cost(item.cost_usd)),
    h("span", { class: "num soft" }, took(item)));
  }

  function renderTwist(session_id, isFolded) {
    const turn = (event) => {
      event.stopPropagation();
      fold(session_id, !isFolded);
    };
    return h("button", { class: "twist", type: "button", tabindex: "-1", "aria-label": isFolded ? "Unfold" : "Fold",
      onclick: turn }, icon(isFolded ? "right" : "down"));
  }

  function stamp(item) {
    return [item.session_id, item.state, item.status, item.verdict, item.stop_reason, item.cost_usd, item.activity,
      item.check?.name, item.unmet_checks,
      item.ended_ms,
      item.started_ms, item.worker, below.get(item.session_id), folded.has(item.session_id)].join("|");
  }

  function findRow(session_id) {
    return shown.findIndex((each) => each.session_id === session_id);
  }

  return {
    element: list.element,
    move: (step) => list.move(step),
    /** Take the rows as they are now. */
    set(now) {
      items = now;
      below = countBelow(items);
      arrange();
    },
    /** Show a row as the chosen one, unfolding what it is in. */
    choose(session_id) {
      chosen = session_id;
      for (const each of listAbove(items, session_id)) folded.delete(each);
      arrange();
      if (list.chosen >= 0) list.reveal(list.chosen);
    },
    /** Fold or unfold the chosen row; a folded one that is folded again gives way to the row above it. */
    fold(isFolded) {
      const item = shown[list.chosen];
      if (!item) return;
      if (below.get(item.session_id) && folded.has(item.session_id) !== isFolded) fold(item.session_id, isFolded);
      else if (isFolded && item.parent_id) list.choose(findRow(item.parent_id));
    },
    end: () => list.end(),
  };
}

/** How many are below each: parents stand before their children, so one walk from the end is enough. */
function countBelow(items) {
  const below = new Map();
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const { session_id, parent_id } = items[at];
    if (parent_id) below.set(parent_id, (below.get(parent_id) ?? 0) + 1 + (below.get(session_id) ?? 0));
  }
  return below;
}

function listAbove(items, session_id) {
  const parents = new Map(items.map((each) => [each.session_id, each.parent_id]));
  const above = [];
  for (let at = parents.get(session_id); at && above.length < items.length; at = parents.get(at)) above.push(at);
  return above;
}
