/**
 * Parts: what several tabs of a run share: diagnostics, a choice of attempts, long texts.
 *
 * Owns numbered lines with marks in them. Places count characters as the server does, from 1, the end exclusive.
 */

import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { describe, icon, problem, severity, whole } from "./format.js";

/** A heading with what belongs to it; nothing where there is nothing. */
export function section(title, ...children) {
  const filled = children.flat().filter((each) => each !== null && each !== undefined && each !== false && each !== "");
  return filled.length ? h("section", { class: "part" }, h("h3", null, title), filled) : null;
}

/** Diagnostics, each with its place and its hint. */
export function renderDiagnostics(diagnostics) {
  if (!diagnostics?.length) return null;
  return h("ul", { class: "diagnostics" }, diagnostics.map((each) => h("li", null,
    severity(each.severity), h("code", null, each.code),
    h("div", { class: "foreign" }, each.message, renderWhere(each),
      each.hint && h("div", { class: "hint" }, each.hint)))));
}

function renderWhere(finding) {
  const told = finding.location ? `line ${finding.location.row}` : finding.pointer;
  return told ? h("span", { class: "faint" }, ` (${told})`) : null;
}

/** The attempt that is looked at: the one with this number, else the last. */
export function findAttempt(node, number) {
  return node.attempts.find((each) => each.number === number) ?? node.attempts.at(-1) ?? null;
}

/** Buttons to choose an attempt, where there is a choice. */
export function renderAttempts(node, chosen, setAttempt) {
  if (node.attempts.length < 2) return null;
  return h("div", { class: "switch", role: "group", "aria-label": "Attempt" }, node.attempts.map((each) => {
    const { tone, mark } = describeAttempt(each);
    return h("button", { class: "chip", type: "button", "aria-pressed": String(each === chosen),
      title: [each.stop_reason, each.verdict].filter(Boolean).join(", "), onclick: () => setAttempt(each.number) },
      icon(mark, tone), `Attempt ${each.number}`,
      h("span", { class: "faint" }, each.verdict ?? each.stop_reason ?? "begun"));
  }));
}

/** What came of an attempt, as mark and tone. */
export function describeAttempt(attempt) {
  if (!attempt.ended_ms) return { tone: "live", mark: "run" };
  if (attempt.verdict === "accepted" || attempt.verdict === "repaired") return { tone: "good", mark: "check" };
  if (attempt.verdict === "fabricated") return { tone: "false_claim", mark: "flag" };
  if (attempt.verdict === "unproven") return { tone: "warn", mark: "question" };
  if (attempt.stop_reason === "timeout") return { tone: "warn", mark: "clock" };
  if (attempt.stop_reason === "cancelled") return { tone: "off", mark: "slash" };
  return describe({ state: "finished", status: "failed" });
}

// --- long texts ------------------------------------------------------------------------------------------------------

/**
 * @typedef {{place: number[], severity: string, told: string}} Mark
 */

/**
 * A text that the server gives page by page, with line numbers.
 * @param {string} path
 * @param {Mark[]} [marks]
 * @returns {{element: HTMLElement, end: () => void}}
 */
export function makeText(path, marks = []) {
  const abort = new AbortController();
  const lines = h("div", { class: "lines", tabindex: "0", role: "group", "aria-label": "Text" });
  const more = h("div", { class: "more" });
  const element = h("div", { class: "text" }, lines, more);
  const byLine = groupMarks(marks);
  let tail = ""; // a page may end in the middle of a line
  let number = 1;

  async function load(page) {
    try {
      const told = await get(path, { page }, { signal: abort.signal });
      const parts = (tail + told.text).split("\n");
      if (tail || page > 1) lines.querySelectorAll(".is-tail").forEach((each) => each.remove());
      tail = parts.pop();
      for (const each of parts) lines.append(...renderLine(number++, each, byLine));
      if (tail || number === 1) {
        for (const each of renderLine(number, tail, byLine)) {
          each.classList.add("is-tail");
          lines.append(each);
        }
      }
      const label = `Show more (${told.page} of ${told.pages} pages, ${whole(told.characters)} characters)`;
      const next = h("button", { class: "button", type: "button", onclick: () => load(page + 1) }, label);
      replace(more, told.page < told.pages && next);
    } catch (error) {
      if (error.name !== "AbortError") replace(more, problem(error, () => load(page)));
    }
  }

  load(1);
  return { element, end: () => abort.abort() };
}

function groupMarks(marks) {
  const byLine = new Map();
  for (const mark of marks) {
    const [line, , endLine] = mark.place;
    for (let at = line; at <= Math.min(endLine, line + 200); at += 1) byLine.set(at, [...(byLine.get(at) ?? []), mark]);
  }
  return byLine;
}

/** A line, and below it what is said of it. */
function renderLine(number, text, byLine) {
  const marks = byLine.get(number);
  if (!marks) return [h("div", { class: "line", dataset: { number: String(number) } },
    h("span", { class: "foreign" }, text || "\n"))];
  const worst = marks.some((each) => each.severity === "error") ? "error" : marks[0].severity;
  const row = h("div", { class: ["line", "is-marked", `is-${worst}`], dataset: { number: String(number) } },
    h("span", { class: "foreign" }, markText(number, text, marks)));
  const told = marks.filter((each) => each.place[0] === number).map((each) =>
    h("div", { class: ["line-note", `is-${each.severity}`] }, severity(each.severity),
      h("span", { class: "foreign" }, each.told)));
  return [row, ...told];
}

/** The text of a line with the marked part of it as an element. */
function markText(number, text, marks) {
  const chars = [...text];
  const isIn = new Uint8Array(chars.length);
  for (const { place: [line, column, endLine, endColumn] } of marks) {
    const from = number === line ? column - 1 : 0;
    const to = number === endLine ? endColumn - 1 : chars.length;
    isIn.fill(1, Math.max(0, from), Math.max(0, Math.min(to, chars.length)));
  }
  const parts = [];
  for (let at = 0; at < chars.length;) {
    let end = at;
    while (end < chars.length && isIn[end] === isIn[at]) end += 1;
    const piece = chars.slice(at, end).join("");
    parts.push(isIn[at] ? h("mark", null, piece) : piece);
    at = end;
  }
  return parts.length ? parts : "\n";
}
