/**
 * Checks: the acceptance checks of a run, each with its answer, time and output.
 *
 * Has the words for each answer. A word and a mark name an answer; color only helps.
 */

import { h, pick, tick } from "./dom.js";
import { duration, icon, whole } from "./format.js";

const ANSWERS = {
  passed: ["passed", "good", "check"],
  failed: ["failed", "bad", "cross"],
  "not run": ["not run", "warn", "alert"],
};
const BEFORE = {
  passed: "it passed before the run",
  failed: "it failed before the run, too",
  unknown: "unknown whether it failed before the run",
};
const UNMET = { failed: "check failed", "not run": "check not run", weakened: "checks weakened" };
const COVERED = new Set(["CHK001", "CHK002", "CHK003"]);

/** The acceptance check that is running, with its time; null if none is. */
export function renderRunning({ check }) {
  return check && h("span", { class: "foreign" }, tick(() =>
    `running check ${check.name} (${duration(Math.max(0, Date.now() - check.since_ms))})`));
}

/** Why acceptance checks keep a run from being completed, in two words. */
export function renderUnmet({ unmet_checks }) {
  const words = pick(UNMET, unmet_checks ?? "");
  return words && h("span", { class: "pill tone-bad" }, icon("cross", "bad"), words);
}

/** The diagnostics that the checks don't say already. */
export function leaveOut(diagnostics, checks) {
  return checks.length ? (diagnostics ?? []).filter((each) => !COVERED.has(each.code)) : diagnostics;
}

/** The checks of a run, each with its answer; null if it has none. */
export function renderChecks(checks) {
  return checks.length ? h("ul", { class: "checks" }, checks.map(renderCheck)) : null;
}

function renderCheck(check) {
  const isNeeded = check.needed !== false;
  const [words, tone, mark] = isNeeded ? pick(ANSWERS, check.answer) ?? ANSWERS["not run"]
    : ["not needed", "off", "dots"];
  const facts = [check.duration_ms && duration(check.duration_ms),
    check.tests !== undefined && `${whole(check.tests)} tests`, check.skipped && `${whole(check.skipped)} skipped`];
  return h("li", null,
    h("span", { class: ["badge", `tone-${tone}`] }, icon(mark), h("span", { class: "badge-word" }, words)),
    h("strong", { class: "foreign" }, check.name),
    h("span", { class: "soft num" }, facts.filter(Boolean).join(" · ")),
    check.flaky && h("span", { class: "pill", title: "It failed first, and passed when it was repeated" }, "flaky"),
    check.cached && h("span", { class: "pill", title: "It passed earlier on the same tree" }, "cached"),
    h("div", { class: "foreign soft" }, [check.reason, pick(BEFORE, check.before ?? "")].filter(Boolean).join("; ")),
    check.command && check.command !== check.name && h("code", { class: "foreign faint" }, check.command),
    check.output && h("details", null, h("summary", null, "Output"), h("pre", { class: "foreign" }, check.output)));
}

/** The checks after an attempt that was not the last, in one line. */
export function describeAttempt(checks) {
  return checks.map((each) => `${each.name} ${each.answer}${each.repeated ? " again" : ""}`).join(", ");
}
