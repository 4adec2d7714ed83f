/**
 * Prompt: what an agent was told, and what was put before it to read.
 */

import { part } from "./api.js";
import { h } from "./dom.js";
import { whole } from "./format.js";
import { makeText, section } from "./parts.js";

export function stamp(node) {
  return JSON.stringify([node.asked.characters, node.asked.prompt?.length, node.asked.context]);
}

/** @param {HTMLElement} place @param {any} node */
export function draw(place, node) {
  const { asked, run } = node;
  const text = asked.prompt ? makeText(`/runs/${part(run.session_id)}/prompt`) : null;
  const inputs = Object.entries(asked.inputs ?? {});
  place.append(...[
    section("Asked for", h("p", { class: "foreign pre" }, asked.words || asked.work)),
    section("Inputs", inputs.length > 0 && h("dl", { class: "terms" }, inputs.map(([name, value]) =>
      h("div", null, h("dt", null, name), h("dd", { class: "foreign" },
        typeof value === "string" ? value : JSON.stringify(value)))))),
    section("Context", asked.context?.length > 0
      && h("ul", { class: "files" }, asked.context.map(renderContext))),
    section("The whole message", text ? text.element : h("p", { class: "soft" }, "None is kept.")),
  ].filter(Boolean));
  return text?.end;
}

function renderContext(each) {
  const size = each.chars === null ? `only named: ${each.reason}` : `${whole(each.chars)} characters`;
  return h("li", null, h("code", { class: "foreign" }, each.name),
    h("span", { class: "faint" }, [each.part, size].filter(Boolean).join(" · ")));
}
