/**
 * Steps: the finish steps of a run: manifest, task, error log, git.
 */

import { h, pick } from "./dom.js";
import { clock, icon, when } from "./format.js";

const STATES = { done: ["good", "check"], there: ["good", "check"], failed: ["bad", "cross"],
  nothing: ["off", "ring"] };
const WORDS = { nothing: "nothing to do", there: "was done already" };

export function stamp(node) {
  return JSON.stringify(node.steps);
}

/** @param {HTMLElement} place @param {any} node */
export function draw(place, node) {
  if (!node.steps.length) {
    const isOver = node.run.state === "finished";
    const told = isOver ? "There was nothing to settle." : "It is settled when its agent has ended.";
    place.append(h("p", { class: "soft" }, told));
    return;
  }
  place.append(h("table", null,
    h("thead", null, h("tr", null, ["Step", "State", "What was done", "At"]
      .map((each) => h("th", { scope: "col" }, each)))),
    h("tbody", null, node.steps.map((step) => {
      const [tone, mark] = pick(STATES, step.state) ?? ["wait", "dots"];
      const word = h("span", null, pick(WORDS, step.state) ?? step.state);
      const state = h("span", { class: `badge tone-${tone}` }, icon(mark), word);
      return h("tr", null, h("td", null, step.name), h("td", null, state), h("td", { class: "foreign" }, step.message),
        h("td", { class: "num soft", title: when(step.at_ms) }, step.at_ms ? clock(step.at_ms) : ""));
    }))));
}
