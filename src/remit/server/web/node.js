/**
 * Node: one run in full, beside its tree.
 *
 * Owns the panel, its tabs and which attempt is looked at. Each tab is a module of its own: `draw` draws it, and
 * by `stamp` is seen whether it must be drawn again when something has changed.
 */

import { renderActs } from "./acts.js";
import * as answer from "./answer.js";
import { get, isAborted, part } from "./api.js";
import { h, replace, throttle } from "./dom.js";
import * as evidence from "./evidence.js";
import { badge, problem } from "./format.js";
import * as log from "./log.js";
import * as overview from "./overview.js";
import * as prompt from "./prompt.js";
import * as steps from "./steps.js";

const REFRESH_MS = 100;
const TABS = { overview, evidence, answer, prompt, log, steps };
const NAMES = { overview: "Overview", evidence: "Evidence", answer: "Answer", prompt: "Prompt", log: "Log",
  steps: "Steps" };

/**
 * @param {{tab: string|null, onTab: (tab: string|null) => void, onNode: (node: any) => void,
 *          onActed: () => void}} options
 */
export function makePanel(options) {
  const head = h("div", { class: "node-head" });
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "What is known of it" });
  const body = h("div", { class: "node-body", role: "tabpanel", tabindex: "0", id: "node-body" });
  const element = h("section", { class: "node", "aria-label": "Run" }, head, tabs, body);
  let tab = Object.hasOwn(TABS, options.tab ?? "") ? options.tab : "overview";
  let sessionId = "";
  let isFirst = true;
  let node = null;
  let attempt = null; // null: the last one
  let abort = new AbortController();
  let endTab = null;
  let drawnStamp = "";

  async function load() {
    const own = sessionId;
    const told = await get(`/runs/${part(own)}`, { format: "standard" }, { signal: abort.signal });
    if (own !== sessionId) return;
    node = told;
    options.onNode(node);
    draw();
  }

  const refresh = throttle(() => (sessionId ? load().catch(() => {}) : undefined), REFRESH_MS);

  function draw() {
    drawHead();
    drawTabs();
    drawBody();
  }

  function drawHead() {
    const { run, can } = node;
    const told = JSON.stringify([run.session_id, run.state, run.status, run.verdict, can, isFirst]);
    if (head.dataset.told === told) return;
    head.dataset.told = told;
    head.classList.toggle("hidden", isFirst); // the head of the page says it already
    replace(head, h("h2", { class: "clip" }, run.agent), badge(run),
      h("code", { class: "id faint clip" }, run.session_id), !isFirst && renderActs(node, options.onActed));
  }

  function drawTabs() {
    const told = [tab, ...Object.values(TABS).map((each) => each.count?.(node) ?? "")].join();
    if (tabs.dataset.told === told) return;
    tabs.dataset.told = told;
    const hadFocus = tabs.contains(document.activeElement);
    replace(tabs, Object.keys(TABS).map((key) => {
      const many = TABS[key].count?.(node);
      return h("button", { class: "tab", type: "button", role: "tab", id: `tab-${key}`,
        "aria-selected": String(key === tab), "aria-controls": "node-body", tabindex: key === tab ? "0" : "-1",
        onclick: () => setTab(key) }, NAMES[key],
      many ? h("span", { class: "count" }, String(many)) : null);
    }));
    body.setAttribute("aria-labelledby", `tab-${tab}`);
    if (hadFocus) document.getElementById(`tab-${tab}`)?.focus();
  }

  function drawBody() {
    const stamp = [sessionId, tab, attempt, TABS[tab].stamp(node)].join("|");
    if (stamp === drawnStamp) return;
    const isSame = drawnStamp.startsWith(`${sessionId}|${tab}|`);
    const top = isSame ? body.scrollTop : 0;
    drawnStamp = stamp;
    endTab?.();
    replace(body);
    body.className = `node-body tab-${tab}`;
    endTab = TABS[tab].draw(body, node, { attempt, setAttempt, choose: setTab }) ?? null;
    body.scrollTop = top;
  }

  function setAttempt(number) {
    attempt = number;
    drawBody();
  }

  function setTab(key) {
    tab = key;
    options.onTab(key === "overview" ? null : key);
    if (node) draw();
  }

  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const keys = Object.keys(TABS);
    setTab(keys[(keys.indexOf(tab) + step + keys.length) % keys.length]);
    document.getElementById(`tab-${tab}`)?.focus();
  });

  return {
    element,
    refresh,
    /** Show another run. */
    async show(session_id, how) {
      abort.abort();
      abort = new AbortController();
      sessionId = session_id;
      isFirst = how.isFirst;
      attempt = null;
      body.setAttribute("aria-busy", "true");
      try {
        await load();
      } catch (error) {
        if (isAborted(error)) return;
        endTab?.();
        endTab = null;
        drawnStamp = "";
        replace(body, problem(error, refresh));
      } finally {
        if (sessionId === session_id) body.removeAttribute("aria-busy");
      }
    },
    turn: (at) => setTab(Object.keys(TABS)[at]),
    focus: () => body.focus(),
    end() {
      abort.abort();
      refresh.cancel();
      sessionId = "";
      endTab?.();
    },
  };
}
