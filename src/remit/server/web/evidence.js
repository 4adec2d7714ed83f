/**
 * Evidence: what an agent says that it made, against what was found on disk.
 *
 * Owns the words for each case; a claim that is not borne out is said in words, not by colour alone.
 */

import { get, part } from "./api.js";
import { h, pick, replace } from "./dom.js";
import { bytes, icon, problem } from "./format.js";
import { findAttempt, renderAttempts, renderDiagnostics, section } from "./parts.js";

const STATES = {
  missing: ["reported, missing", "false_claim", "flag"],
  outside: ["reported, outside the root", "false_claim", "flag"],
  empty: ["claimed, but empty", "bad", "cross"],
  special: ["claimed, but no plain file", "bad", "cross"],
  unreadable: ["claimed, cannot be read", "bad", "cross"],
};
const GRADES = {
  missing: ["claimed, no such artifact", "bad", "cross"],
  unchanged: ["there, but not changed", "warn", "alert"],
  unknown: ["there, not verified", "warn", "question"],
  changed: ["there, changed since dispatch", "good", "check"],
  attributed: ["there, written by this agent", "good", "check"],
};
const UNREAD = new Set(["missing", "malformed", "ambiguous"]);
const REFUSED = "RET050";
const MOST_KEPT = 50; // of an attempt's claims
const DIFFS = {
  new: "a new file",
  same: "not changed since the work began",
  gone: "it is not there",
  binary: "not a text",
  unknown: "what it was before is not known",
};

export function count(node) {
  return listClaims(node, null).length + listRefused(findAttempt(node, null)).length + node.unclaimed.length;
}

export function stamp(node) {
  return JSON.stringify([node.attempts.map((each) => [each.number, each.claims, each.verdict]), node.unclaimed,
    node.result?.remit.grades]);
}

/** The files that an attempt names; of the last one, where none are kept with it, those of the result. */
function listClaims(node, number) {
  const chosen = findAttempt(node, number);
  const own = chosen?.claims ?? [];
  return own.length || chosen !== (node.attempts.at(-1) ?? null) ? own : listFound(node);
}

function listFound(node) {
  return (node.result?.remit.grades ?? []).map((each) => ({ ...each, state: "file", reason: "" }));
}

/** Names that lead out of the workspace, or could: nobody looks what is there. */
function listRefused(attempt) {
  return (attempt?.diagnostics ?? []).filter((each) => each.code === REFUSED);
}

/** @param {HTMLElement} place @param {any} node */
export function draw(place, node, { attempt, setAttempt }) {
  const abort = new AbortController();
  const chosen = findAttempt(node, attempt);
  const claims = listClaims(node, attempt);
  const diffOf = (path) => makeDiff(node.run.session_id, path, abort.signal);
  const refused = listRefused(chosen);
  const parts = [
    renderAttempts(node, chosen, setAttempt),
    section(claims.length && !chosen?.verdict ? "Left on disk" : "Claimed against done",
      claims.length ? renderClaims(claims, diffOf)
        : !refused.length && h("p", { class: "soft" }, tellNone(node, chosen)),
      claims.length >= MOST_KEPT && h("p", { class: "faint" }, `The first ${MOST_KEPT} are kept.`)),
    section("Named, and refused", renderDiagnostics(refused)),
    section("Changed, but not named", node.unclaimed.length > 0 && renderUnclaimed(node.unclaimed, diffOf)),
  ];
  place.append(...parts.filter(Boolean));
  return () => abort.abort();
}

/** Why there is nothing to compare: that none is kept does not say that none was named. */
function tellNone(node, attempt) {
  if (node.run.state !== "finished" && !attempt?.ended_ms) return "It has not answered yet.";
  if (!attempt?.verdict || UNREAD.has(attempt.verdict)) return "No answer could be read that names a file.";
  const isOld = node.attempts.every((each) => !each.claims.length) && listFound(node).length > 0;
  return isOld || attempt.verdict === "fabricated" ? "Which files it named is not kept." : "It names no file.";
}

function describeClaim(claim) {
  const [words, tone, mark] = pick(STATES, claim.state) ?? pick(GRADES, claim.grade) ?? [claim.grade, "warn", "alert"];
  return { words, tone, mark };
}

function renderClaims(claims, diffOf) {
  return renderTable(["File", "Found", "Size"], claims.map((claim) => {
    const { words, tone, mark } = describeClaim(claim);
    return { path: claim.path, cells: [
      h("div", null, h("span", { class: `badge tone-${tone}` }, icon(mark), h("span", null, words)),
        claim.reason && claim.state !== "missing" && h("div", { class: "foreign faint" }, claim.reason),
        claim.by_session === false && h("div", { class: "faint" }, "no tool of this session wrote it")),
      h("span", { class: "num", title: claim.sha256 ? `sha256 ${claim.sha256}` : null }, bytes(claim.size_bytes))] };
  }), diffOf);
}

function renderUnclaimed(unclaimed, diffOf) {
  return renderTable(["File", "What happened", ""], unclaimed.map((each) => ({
    path: each.path,
    cells: [h("span", { class: "badge tone-warn" }, icon("alert"), h("span", null, each.kind)), ""],
  })), diffOf);
}

function renderTable(names, rows, diffOf) {
  const head = names.map((each) => h("th", { scope: "col" }, each));
  return h("table", { class: "claims" },
    h("thead", null, h("tr", null, head, h("th", null, h("span", { class: "only-read" }, "Diff")))),
    h("tbody", null, rows.map(({ path, cells }) => {
      const diff = diffOf(path);
      return [h("tr", null, h("td", null, h("code", { class: "foreign" }, path)),
        cells.map((each) => h("td", null, each)), h("td", { class: "at-end" }, diff.button)), diff.row];
    })));
}

// --- diffs -----------------------------------------------------------------------------------------------------------

/** A button that shows what changed in a file, fetched when it is first asked for. */
function makeDiff(session_id, path, signal) {
  const place = h("td", { colspan: "4", class: "diff-place" });
  const row = h("tr", { class: "hidden" }, place);
  let isLoaded = false;
  async function load() {
    replace(place, h("p", { class: "faint" }, "…"));
    try {
      replace(place, renderDiff(await get(`/runs/${part(session_id)}/diff`, { path }, { signal })));
      isLoaded = true;
    } catch (error) {
      if (error.name !== "AbortError") replace(place, problem(error));
    }
  }
  const button = h("button", { class: "button small", type: "button", "aria-expanded": "false", onclick: () => {
    const isShown = row.classList.toggle("hidden");
    button.setAttribute("aria-expanded", String(!isShown));
    if (!isShown && !isLoaded) load();
  } }, "Diff");
  return { button, row };
}

function renderDiff(diff) {
  const told = [pick(DIFFS, diff.state), diff.note].filter(Boolean).join("; ");
  const base = diff.base && ` (against ${String(diff.base).slice(0, 12)})`;
  return h("div", { class: "diff" }, told && h("p", { class: "faint" }, told, base),
    diff.hunks.map(renderHunk),
    diff.truncated && h("p", { class: "faint" }, "The diff is longer; the rest isn't shown."));
}

function renderHunk(hunk) {
  return h("div", { class: "hunk" }, h("div", { class: "hunk-head" }, hunk.header), hunk.lines.map(({ kind, text }) =>
    h("div", { class: ["diff-line", kind === "+" && "is-added", kind === "-" && "is-removed"], dataset: { kind } },
      h("span", { class: "foreign" }, text || "\n"))));
}
