/**
 * Acts: cancel, retry or resume a run.
 *
 * Owns the three buttons and the questions that they ask first. The server says which of them can be done, and why not.
 */

import { part, post } from "./api.js";
import { ask, notify } from "./dialogs.js";
import { h } from "./dom.js";
import { count } from "./format.js";
import { go } from "./route.js";

/** @typedef {{can: Object<string, any>, run: any, children: string[]}} Node */

/**
 * The buttons for a run. A disabled button says why.
 * @param {Node} node
 * @param {() => void} onDone
 */
export function renderActs(node, onDone) {
  const acts = { cancel: ["Cancel", askCancel], retry: ["Retry", askRetry], resume: ["Resume", askResume] };
  return h("div", { class: "acts", role: "group", "aria-label": `What can be done about ${node.run.agent}` },
    Object.entries(acts).map(([name, [label, act]]) => {
      const why = node.can.why?.[name] ?? "";
      const props = { class: ["button", name === "cancel" && node.can[name] && "bad"], type: "button" };
      if (node.can[name]) return h("button", { ...props, onclick: () => act(node, onDone) }, label);
      return h("button", { ...props, "aria-disabled": "true", title: why,
        onclick: () => notify(why || "that cannot be done now") }, label);
    }));
}

function askCancel(node, onDone) {
  const { agent, session_id } = node.run;
  ask({
    title: `Cancel ${agent}?`,
    text: "It is ended with everything below it. What it left on disk stays there.",
    fields: h("label", null, "Reason (optional)", h("input", { name: "reason", maxlength: "400" })),
    action: "Cancel it",
    isBad: true,
    act: async (form) => {
      const reason = String(form.get("reason")).trim();
      const told = await post(`/runs/${part(session_id)}/cancel`, reason ? { reason } : {});
      notify(told.note || `${count(told.cancelled.length, "run")} cancelled`, "good");
      onDone();
    },
  });
}

function askRetry(node) {
  const { agent, session_id } = node.run;
  ask({
    title: `Retry ${agent}?`,
    text: "The same work is asked for again, in a new session. This one stays as it is.",
    fields: h("label", null, "Minutes it may take (optional)",
      h("input", { name: "minutes", type: "number", min: "0.1", step: "any" })),
    action: "Retry",
    act: async (form) => {
      const minutes = Number(form.get("minutes"));
      await begin(`/runs/${part(session_id)}/retry`, minutes ? { timeout: minutes * 60 } : {});
    },
  });
}

function askResume(node) {
  const { agent, session_id } = node.run;
  ask({
    title: `Resume ${agent}`,
    text: "The agent continues in its own session, with its context.",
    fields: h("label", null, "Prompt",
      h("textarea", { name: "prompt", rows: "5", required: true, placeholder: "What it is to do now" })),
    action: "Resume",
    wide: true,
    act: (form) => begin(`/runs/${part(session_id)}/resume`, { prompt: String(form.get("prompt")) }),
  });
}

async function begin(path, body) {
  const made = await post(path, body);
  notify(`${made.agent ?? "it"} was started`, "good");
  go(`/runs/${part(made.session_id)}`);
}
