/**
 * Answer: what an agent sent back, word for word, with what was found wrong in it at the lines where it is.
 */

import { part } from "./api.js";
import { h } from "./dom.js";
import { icon } from "./format.js";
import { findAttempt, makeText, renderAttempts, renderDiagnostics, section } from "./parts.js";

export function count(node) {
  return node.attempts.length > 1 ? node.attempts.length : 0;
}

export function stamp(node) {
  return JSON.stringify(
    node.attempts.map((each) => [each.number, each.ended_ms, each.answer, each.diagnostics.length]));
}

/** @param {HTMLElement} place @param {any} node */
export function draw(place, node, { attempt, setAttempt }) {
  const chosen = findAttempt(node, attempt);
  if (!chosen) {
    place.append(h("p", { class: "soft" }, "It has not begun yet."));
    return null;
  }
  const path = `/runs/${part(node.run.session_id)}/answers/${chosen.number}`;
  const text = chosen.answer ? makeText(path, listMarks(chosen)) : null;
  place.append(...[
    renderAttempts(node, chosen, setAttempt),
    section("Repaired before it could be read", renderRepairs(chosen.repairs)),
    section("Diagnostics without a line", renderDiagnostics(chosen.diagnostics.filter((each) => !each.location))),
    text?.element ?? h("p", { class: "soft" }, tellNone(chosen)),
  ].filter(Boolean));
  return text?.end;
}

function tellNone(attempt) {
  return attempt.ended_ms ? "It has not answered." : "It has not answered yet; the log shows what it does.";
}

function listMarks(attempt) {
  const marked = attempt.diagnostics.filter((each) => each.location)
    .map((each) => ({ place: listPlace(each), severity: each.severity, told: `${each.code}: ${each.message}` }));
  const repaired = attempt.repairs.filter((each) => each.location)
    .map((each) => ({ place: listPlace(each), severity: "note", told: `repaired: ${each.message}` }));
  return [...marked, ...repaired];
}

/** Line and column where it begins, line and column where it ends. */
function listPlace({ location, end_location }) {
  return [location.row, location.column, end_location.row, end_location.column];
}

function renderRepairs(repairs) {
  if (!repairs.length) return null;
  return h("ul", { class: "plain-list" }, repairs.map((each) =>
    h("li", { class: "foreign" }, icon("note", "live"), " ", each.message,
    each.location && h("span", { class: "faint" }, ` (line ${each.location.row})`))));
}
