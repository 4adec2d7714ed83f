/**
 * Overview: the result of a run, and its configuration.
 */

import { describeAttempt as describeChecks, leaveOut, renderChecks, renderRunning } from "./checks.js";
import { h } from "./dom.js";
import { bytes, clock, cost, count, duration, icon, since, tokens, when } from "./format.js";
import { describeAttempt, renderDiagnostics, section } from "./parts.js";

export function stamp(node) {
  const { run } = node;
  return JSON.stringify([run.state, run.status, run.activity, run.waits_for, run.supervised, node.result,
    node.attempts, node.checks, run.check, node.children, run.tokens, run.worker, run.machine?.state]);
}

/** @param {HTMLElement} place @param {any} node */
export function draw(place, node, { choose }) {
  const { result, run } = node;
  place.append(...[
    result ? renderResult(result, choose) : renderOpen(run),
    section("Acceptance checks", renderChecks(node.checks)),
    section("Diagnostics", renderDiagnostics(leaveOut(result?.remit.diagnostics?.length ? result.remit.diagnostics
      : node.attempts.at(-1)?.diagnostics, node.checks))),
    section("Attempts", renderTries(node.attempts)),
    section("Terms", renderFacts(listFacts(node))),
  ].filter(Boolean));
}

// --- what came of it -------------------------------------------------------------------------------------------------

function renderOpen(run) {
  return h("div", { class: "part" },
    run.check ? h("p", { class: "said" }, renderRunning(run))
      : run.activity ? h("p", { class: "foreign said" }, run.activity) : h("p", { class: "soft" }, tellOpen(run)),
    run.waits_for.length > 0 && h("p", { class: "soft" }, "Waits for ", run.waits_for.join(", "), "."),
    run.activity_ms !== null && h("p", { class: "faint" }, "Last activity: ", since(run.activity_ms)));
}

function tellOpen(run) {
  if (run.state === "finished") return "Nothing is kept of what it sent back.";
  if (run.machine && !run.supervised) return "No process here follows this run. To fetch its result, run: remit wait";
  if (run.started_ms === null) return run.machine ? "It waits for a worker." : "It has not begun yet.";
  return run.supervised ? "The agent runs. The log shows its output." : "No process supervises this run any more.";
}

function renderResult(result, choose) {
  const { grades, notes, left_out } = result.remit;
  const gradeOf = (path) => grades.find((each) => each.path === path) ?? {};
  return h("div", { class: "result" },
    h("p", { class: "foreign summary" }, result.summary || h("span", { class: "faint" }, "It has no summary.")),
    result.artifacts?.length > 0 && h("ul", { class: "files" }, result.artifacts.map((each) => h("li", null,
      h("button", { class: "as-link", type: "button", onclick: () => choose("evidence") },
        h("code", { class: "foreign" }, each.path)),
      h(
        "span",
        { class: "faint" },
        [each.type, gradeOf(each.path).grade, bytes(gradeOf(each.path).size_bytes)].filter(Boolean).join(" · "),
      ),
      each.summary && h("div", { class: "foreign soft" }, each.summary)))),
    section("Errors", (result.errors ?? []).map(renderFault)),
    section("Next", renderList(result.next_steps)),
    section("Notes", renderList(notes)),
    left_out?.length > 0 && h("p", { class: "faint" }, `Shortened for the caller: ${left_out.join(", ")}.`));
}

function renderFault(fault) {
  return h("div", { class: "fault" }, icon("error", "bad"), h("code", null, fault.code ?? fault.type),
    h("div", { class: "foreign" }, fault.message,
      fault.recommendation && h("div", { class: "hint" }, fault.recommendation)));
}

function renderList(texts) {
  const told = [texts ?? []].flat().filter(Boolean);
  return told.length ? h("ul", { class: "plain-list" }, told.map((each) => h("li", { class: "foreign" }, each))) : null;
}

function renderTries(attempts) {
  if (!attempts.length) return null;
  return h("ul", { class: "tries" }, attempts.map((each) => {
    const { tone, mark } = describeAttempt(each);
    const usage = each.usage ?? {};
    const spent = (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0);
    const facts = [each.started_ms && clock(each.started_ms),
      each.ended_ms && each.started_ms && duration(each.ended_ms - each.started_ms), spent && `${tokens(spent)} tokens`,
      usage.cost_usd && cost(usage.cost_usd),
      each.diagnostics.length && count(each.diagnostics.length, "diagnostic"),
      each.repairs.length && count(each.repairs.length, "repair")];
    return h("li", null, icon(mark, tone), `${each.number}. `,
      h("strong", null, each.verdict ?? each.stop_reason ?? "at work"),
      h("span", { class: "soft num" }, facts.filter(Boolean).join(" · ")),
      each !== attempts.at(-1) && each.checks.length > 0 &&
        h("span", { class: "foreign soft" }, describeChecks(each.checks)));
  }));
}

// --- terms -----------------------------------------------------------------------------------------------------------

function listFacts(node) {
  const { run, config } = node;
  const link = (id) => id && h("a", { href: `/runs/${encodeURIComponent(id)}` }, h("code", null, id));
  return [
    ["Session", h("code", { class: "id" }, run.session_id)],
    ["Path", h("span", { class: "foreign" }, run.path.join(" → "), `, depth ${run.depth}`)],
    ["By", link(run.parent_id)],
    ["Task", run.task_number === null ? run.task_id
      : h("a", { href: `/tasks?task=${run.task_number}` }, String(run.task_number))],
    ["Runner", [run.runner, config.model].filter(Boolean).join(", ")],
    ["Worker", run.machine && tellMachine(run.machine)],
    ["Kind", config.kind], ["Format", config.format],
    ["Asked", when(run.created_ms)], ["StartedRun", when(run.started_ms)], ["Ended", when(run.ended_ms)],
    ["Deadline", run.deadline_ms !== null
      && `${when(run.deadline_ms)} (${duration((config.timeout_s ?? 0) * 1000)})`],
    ["Budget", config.budget && Object.entries(config.budget).map(([name, value]) => `${name} ${value}`).join(", ")],
    ["Spent", [run.tokens !== null && `${tokens(run.tokens)} tokens`, cost(run.cost_usd),
      run.turns && count(run.turns, "turn")].filter(Boolean).join(" · ")],
    ["May call", config.may_call?.length ? config.may_call.join(", ") : "nobody"],
    ["Artifact", config.artifact_path && h("code", { class: "foreign" }, config.artifact_path)],
    ["Commit", config.commit && h("code", null, String(config.commit).slice(0, 12))],
    ["Worktree", config.worktree && h("code", { class: "foreign" },
      config.worktree === true ? "its own" : config.worktree)],
    ["Resumes", link(config.resume_of)], ["Retries", link(config.retry_of)],
    ["Nested runs", node.children.length || ""],
  ].filter(([, value]) => value);
}

function tellMachine(machine) {
  const late_s = machine.state === "running" && machine.lease_left_s < 0 ? -machine.lease_left_s : 0;
  return h("span", { class: "foreign" }, [machine.worker || "none yet",
    machine.host && machine.host !== machine.worker && `on ${machine.host}`, machine.fence && `fence ${machine.fence}`,
    machine.waited_s !== null && `waited ${duration(machine.waited_s * 1000)}`,
    late_s && `lease ${duration(late_s * 1000)} over`].filter(Boolean).join(", "));
}

function renderFacts(facts) {
  return h("dl", { class: "terms" }, facts.map(([name, value]) =>
    h("div", null, h("dt", null, name), h("dd", null, value))));
}
