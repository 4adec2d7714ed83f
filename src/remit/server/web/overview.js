/**
 * Overview: what became of a delegation, and on which terms it was made.
 */

import { h } from "./dom.js";
import { bytes, clock, cost, count, duration, icon, since, tokens, when } from "./format.js";
import { describeAttempt, renderFindings, section } from "./parts.js";

export function stamp(node) {
  const { standing } = node;
  return JSON.stringify([standing.standing, standing.said, standing.waits_for, standing.driven, node.result,
    node.attempts, node.children, standing.tokens, standing.worker, standing.machine?.state]);
}

/** @param {HTMLElement} place @param {any} node */
export function draw(place, node, { choose }) {
  const { result, standing } = node;
  place.append(...[
    result ? renderResult(result, choose) : renderOpen(standing),
    section("Diagnostics", renderFindings(result?.remit.diagnostics?.length ? result.remit.diagnostics
      : node.attempts.at(-1)?.findings)),
    section("Attempts", renderTries(node.attempts)),
    section("Terms", renderFacts(listFacts(node))),
  ].filter(Boolean));
}

// --- what came of it -------------------------------------------------------------------------------------------------

function renderOpen(standing) {
  return h("div", { class: "part" },
    standing.said ? h("p", { class: "foreign said" }, standing.said) : h("p", { class: "soft" }, tellOpen(standing)),
    standing.waits_for.length > 0 && h("p", { class: "soft" }, "Waits for ", standing.waits_for.join(", "), "."),
    standing.heard_ms !== null && h("p", { class: "faint" }, "Last heard of: ", since(standing.heard_ms)));
}

function tellOpen(standing) {
  if (standing.state === "finished") return "Nothing is kept of what it sent back.";
  if (standing.machine && !standing.driven) return "Nobody here follows it: remit wait takes in what comes of it.";
  if (standing.started_ms === null) return standing.machine ? "It waits for a worker." : "It has not begun yet.";
  return standing.driven ? "It is at work. The log shows what it does." : "Nobody drives it any more.";
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
      each.findings.length && count(each.findings.length, "finding"),
      each.repairs.length && count(each.repairs.length, "repair")];
    return h("li", null, icon(mark, tone), `${each.number}. `,
      h("strong", null, each.verdict ?? each.stop_reason ?? "at work"),
      h("span", { class: "soft num" }, facts.filter(Boolean).join(" · ")));
  }));
}

// --- terms -----------------------------------------------------------------------------------------------------------

function listFacts(node) {
  const { standing, config } = node;
  const link = (id) => id && h("a", { href: `/runs/${encodeURIComponent(id)}` }, h("code", null, id));
  return [
    ["Session", h("code", { class: "id" }, standing.session_id)],
    ["Path", h("span", { class: "foreign" }, standing.path.join(" → "), `, depth ${standing.depth}`)],
    ["By", link(standing.parent_id)],
    ["Task", standing.task_number === null ? standing.task_id
      : h("a", { href: `/tasks?task=${standing.task_number}` }, String(standing.task_number))],
    ["Runner", [standing.runner, config.model].filter(Boolean).join(", ")],
    ["Worker", standing.machine && tellMachine(standing.machine)],
    ["Kind", config.kind], ["Format", config.format],
    ["Asked", when(standing.created_ms)], ["Begun", when(standing.started_ms)], ["Ended", when(standing.ended_ms)],
    ["Deadline", standing.deadline_ms !== null
      && `${when(standing.deadline_ms)} (${duration((config.timeout_s ?? 0) * 1000)})`],
    ["Budget", config.budget && Object.entries(config.budget).map(([name, value]) => `${name} ${value}`).join(", ")],
    ["Spent", [standing.tokens !== null && `${tokens(standing.tokens)} tokens`, cost(standing.cost_usd),
      standing.turns && count(standing.turns, "turn")].filter(Boolean).join(" · ")],
    ["May call", config.may_call?.length ? config.may_call.join(", ") : "nobody"],
    ["Artifact", config.artifact_path && h("code", { class: "foreign" }, config.artifact_path)],
    ["Commit", config.commit && h("code", null, String(config.commit).slice(0, 12))],
    ["Worktree", config.worktree && h("code", { class: "foreign" },
      config.worktree === true ? "its own" : config.worktree)],
    ["Resumes", link(config.resume_of)], ["Retries", link(config.retry_of)],
    ["Below", node.children.length ? count(node.children.length, "delegation") : ""],
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
