/**
 * Tasks: the board by markers, one task in full, and where the two files of tasks disagree.
 */

import { get, isAborted, part, post } from "./api.js";
import { ask, notify } from "./dialogs.js";
import { h, pick, replace } from "./dom.js";
import { badge, count, empty, icon, problem, shortId, since } from "./format.js";
import { keepFocus, keepFresh } from "./fresh.js";
import { bind } from "./keys.js";
import { renderDiagnostics, section } from "./parts.js";
import { go, withQuery } from "./route.js";

/** From what is not begun to what is over; a marker that is not here comes after them. */
const ORDER = ["NOT STARTED", "RESEARCHING", "RESEARCHED", "PLANNING", "PLANNED", "REVISING", "REVISED", "IN PROGRESS",
  "IMPLEMENTING", "PARTIAL", "BLOCKED", "ON HOLD", "EXPANDED", "COMPLETED", "ABANDONED"];
const LOOKS = {
  COMPLETED: ["good", "check"], BLOCKED: ["bad", "block"], ABANDONED: ["off", "slash"], "ON HOLD": ["warn", "wait"],
  PARTIAL: ["warn", "half"], "NOT STARTED": ["wait", "ring"], RESEARCHING: ["live", "run"], PLANNING: ["live", "run"],
  REVISING: ["live", "run"], IMPLEMENTING: ["live", "run"], "IN PROGRESS": ["live", "run"],
};
const NEEDS_REASON = new Set(["BLOCKED", "ABANDONED", "ON HOLD"]);
const MOST = 60; // tasks of a column that are shown at once
const FEW = 10; // runs and findings of a task that are shown beside it
const NO_MARKER = "NO MARKER";

/** @param {HTMLElement} root @param {{query: URLSearchParams}} params */
export function page(root, params) {
  const board = h("div", { class: "board-place" });
  const side = h("aside", { class: "task-side", "aria-label": "Task", tabindex: "-1" });
  const unfolded = new Set();
  let told = null;
  let chosen = readNumber(params.query);
  let abort = new AbortController();
  replace(root, h("div", { class: "tasks" }, board, side));

  function draw() {
    if (!told) return;
    keepFocus(board, () => replace(board, renderPage(told, chosen, unfolded, draw)));
  }

  async function showTask(isMoved) {
    abort.abort();
    abort = new AbortController();
    side.classList.toggle("hidden", chosen === null);
    if (chosen === null) {
      replace(side);
      return;
    }
    try {
      const task = await get(`/tasks/${part(String(chosen))}`, {}, { signal: abort.signal });
      keepFocus(side, () => replace(side, renderTask(task, fresh.reload)));
      if (isMoved) side.focus({ preventScroll: true });
    } catch (error) {
      if (!isAborted(error)) replace(side, renderClose(), problem(error));
    }
  }

  const fresh = keepFresh({ place: board, ask: (signal) => get("/tasks", {}, { signal }), draw: (now) => {
    told = now;
    draw();
    showTask(false);
  } });
  const unbind = bind("Tasks", {
    Escape: { help: "Close the task", act: () => chosen !== null && go(withQuery({ task: null })) },
  });
  const end = () => {
    fresh.end();
    unbind();
    abort.abort();
  };
  end.update = (now) => {
    chosen = readNumber(now.query);
    draw();
    showTask(chosen !== null);
    return true;
  };
  side.classList.toggle("hidden", chosen === null);
  return end;
}

function readNumber(query) {
  const told = query.get("task") ?? "";
  return /^\d{1,9}$/.test(told) ? Number(told) : null;
}

// --- the board -------------------------------------------------------------------------------------------------------

function renderPage(told, chosen, unfolded, draw) {
  if (told.outside.length && !told.items.length) return renderOutside(told.outside);
  if (!told.items.length && !told.drift.length) {
    return empty("There are no tasks yet", "A task goes from research over a plan to done. Make the first one:",
      'remit task new "TITLE"');
  }
  const isOpen = (task) => !["COMPLETED", "ABANDONED"].includes(task.marker);
  return [
    h("header", { class: "matter-head" }, h("div", { class: "matter-top" }, h("h1", null, "Tasks"),
      h("p", { class: "soft" }, `${count(told.items.length, "task")}, ${told.items.filter(isOpen).length} open`,
        told.folder && [" in ", h("code", null, told.folder)]))),
    told.drift.length > 0 && renderDrift(told.drift),
    h("div", { class: "board" }, group(told).map(([marker, tasks]) =>
      renderColumn(marker, tasks, told.focus, chosen, unfolded, draw))),
  ];
}

/** Another program keeps the tasks: Remit knows its commands, and not its board. */
function renderOutside(outside) {
  return h("div", { class: "empty" }, h("h2", null, "The tasks are kept by another program"),
    h("p", null, "Remit calls it where a task is shown, taken up, completed or linked:"),
    h("pre", { class: "command foreign" }, outside.join("\n")));
}

function renderDrift(drift) {
  return h("section", { class: "drift", role: "alert" },
    h("h2", null, icon("alert", "warn"), `state.json and TODO.md disagree in ${count(drift.length, "place")}`),
    h("ul", { class: "drift-list" }, drift.map((each) => h("li", null,
      h("code", { class: "foreign faint" }, each.location ? `${each.filename}:${each.location.row}` : each.filename),
      renderDiagnostics([each])))),
    h("p", { class: "soft" }, "Unambiguous edits are picked up by ", h("code", { class: "command" }, "remit task sync"),
      "; other differences are repaired by ", h("code", { class: "command" }, "remit task sync --repair"), "."));
}

/** The markers that tasks have, in the order of work. @returns {[string, any[]][]} */
function group(told) {
  const groups = new Map([...ORDER, ...told.markers, NO_MARKER].map((marker) => [marker, []]));
  for (const task of told.items) groups.get(groups.has(task.marker) ? task.marker : NO_MARKER).push(task);
  return [...groups].filter(([, tasks]) => tasks.length);
}

function renderColumn(marker, tasks, focus, chosen, unfolded, draw) {
  const [tone, mark] = pick(LOOKS, marker) ?? ["wait", "ring"];
  const newest = [...tasks].sort((one, other) => other.number - one.number);
  const shown = unfolded.has(marker) ? newest : newest.slice(0, MOST);
  return h("section", { class: "column", "aria-label": marker.toLowerCase() },
    h("h2", { class: `tone-${tone}` }, icon(mark, tone), nameMarker(marker),
      h("span", { class: "count num" }, String(tasks.length))),
    h("ul", { class: "column-tasks" }, shown.map((task) => h("li", null, renderCard(task, focus, chosen)))),
    shown.length < newest.length && h("button", { class: "button", type: "button", "data-key": `more-${marker}`,
      onclick: () => {
        unfolded.add(marker);
        draw();
      } }, `Show all ${newest.length}`));
}

/** `NOT STARTED` → `Not started`. */
function nameMarker(marker) {
  return marker.charAt(0) + marker.slice(1).toLowerCase();
}

function renderCard(task, focus, chosen) {
  const { open, total } = task.runs;
  return h("article", { class: ["task-card", task.number === chosen && "is-chosen"] },
    h("a", { class: "task-title foreign", href: `/tasks?task=${task.number}`, "data-key": `task-${task.number}`,
      "aria-current": task.number === chosen ? "true" : null },
      h("span", { class: "faint num" }, `${task.number} `), task.title || "no title"),
    task.reason && h("p", { class: "foreign soft" }, task.reason),
    h("p", { class: "task-facts" },
      task.number === focus && h("span", { class: "pill tone-live" }, "in focus"),
      task.priority && task.priority !== "medium" && h("span", { class: ["pill foreign",
        task.priority === "high" && "tone-warn"] }, task.priority),
      task.phase !== null && h("span", { class: "pill" }, `phase ${task.phase}`),
      total > 0 && h("a", { class: "faint", href: `/runs?task=${task.number}` },
        open ? `${open} of ${count(total, "run")} open` : count(total, "run"))));
}

// --- one task --------------------------------------------------------------------------------------------------------

function renderClose() {
  return h("button", { class: "button plain task-close", type: "button", "aria-label": "Close the task", title: "Esc",
    onclick: () => go(withQuery({ task: null })) }, icon("close"));
}

function renderTask(task, reload) {
  const [tone, mark] = pick(LOOKS, task.marker) ?? ["wait", "ring"];
  return [
    renderClose(),
    h("h2", { class: "foreign" }, h("span", { class: "faint num" }, `${task.number} `), task.title || "no title"),
    h("p", null, h("span", { class: ["badge", `tone-${tone}`] }, icon(mark), nameMarker(task.marker ?? NO_MARKER)),
      task.priority && h("span", { class: "faint" }, ` · ${task.priority} priority`),
      task.focused && h("span", { class: "faint" }, " · in focus")),
    task.reason && h("p", { class: "foreign" }, task.reason),
    task.moves.length > 0 && h("div", { class: "chips", role: "group", "aria-label": "Move the task to" },
      task.moves.map((marker) => h("button", { class: "chip", type: "button", "data-key": `move-${marker}`,
        onclick: () => askMove(task, marker, reload) }, "→ ", nameMarker(marker)))),
    task.plan && section("Plan", h("code", { class: "foreign faint" }, task.plan.path),
      h("ul", { class: "plain-list" }, task.plan.phases.map((phase) => renderPhase(phase, task.plan.resume)))),
    section("Runs", renderRuns(task)),
    section("Findings", renderEntries(task)),
    section("In TODO.md", task.section && h("pre", { class: "card foreign" }, task.section)),
  ];
}

function renderEntries(task) {
  if (!task.linkedResearch.length) return null;
  return [
    h("ul", { class: "plain-list" }, task.linkedResearch.slice(0, FEW).map((id) => h("li", null,
      h("a", { class: "foreign", href: `/findings?${new URLSearchParams({ entry: String(id) })}` }, String(id))))),
    task.linkedResearch.length > FEW
      && h("a", { href: `/findings?task=${task.number}` }, `All ${task.linkedResearch.length}`),
  ];
}

function renderPhase(phase, resume) {
  const [tone, mark] = pick(LOOKS, phase.marker) ?? ["wait", "ring"];
  return h("li", null, icon(mark, tone), ` ${phase.number}. `, h("span", { class: "foreign" }, phase.name),
    h("span", { class: "faint" }, ` ${nameMarker(phase.marker || NO_MARKER)}`,
      String(phase.number) === String(resume) && ", next"));
}

function renderRuns(task) {
  if (!task.latest_runs.length) {
    return h("p", { class: "soft" }, "It has no runs. Start one: ",
      h("code", { class: "command" }, `remit task research ${task.number}`));
  }
  return [
    h("ul", { class: "session-list" }, task.latest_runs.slice(0, FEW).map((each) => h("li", null,
      badge(each),
      h("a", { class: "foreign", href: `/runs/${part(each.session_id)}`, title: shortId(each.session_id) }, each.agent),
      h("span", { class: "faint" }, since(each.created_ms))))),
    task.runs.total > FEW && h("a", { href: `/runs?task=${task.number}&nested=1` },
      `All ${task.runs.total}`),
  ];
}

/** A marker that says that work stopped needs to say why. */
function askMove(task, marker, reload) {
  ask({
    title: `Task ${task.number}: ${nameMarker(marker)}`,
    text: `It is ${nameMarker(task.marker ?? NO_MARKER).toLowerCase()} now. state.json and TODO.md change together.`,
    fields: NEEDS_REASON.has(marker) && h("label", null, "Why", h("input", { name: "reason", required: true,
      maxlength: "400", autofocus: true })),
    action: "Move",
    act: async (form) => {
      const reason = form.get("reason");
      await post(`/tasks/${part(String(task.number))}/move`, { marker, ...(reason ? { reason: String(reason) } : {}) });
      notify(`Task ${task.number} is ${nameMarker(marker).toLowerCase()}`, "good");
      await reload();
    },
  });
}
