/**
 * Log: what an agent says and does while it works.
 *
 * Owns the following: new lines come into sight by themselves as long as one looks at the end; who has scrolled up is
 * left there and told how many have come.
 */

import { part } from "./api.js";
import { h, replace } from "./dom.js";
import { count, icon } from "./format.js";
import { followLines } from "./lines.js";

const MOST_LINES = 5000;
const NEAR = 40; // pixels from the end that still count as the end
const KINDS = { activity: "says", text: "", final: "answers", trouble: "trouble", check: "checks" };

export function stamp(node) {
  return String(node.run.started_ms !== null); // the stream itself brings what is new
}

/** @param {HTMLElement} place @param {any} node */
export function draw(place, node) {
  const lines = h("div", { class: "log", role: "log", "aria-label": "Log", tabindex: "0" });
  const state = h("div", { class: "log-state faint", role: "status" }, "…");
  const jump = h("button", { class: "button log-jump hidden", type: "button", onclick: () => follow() });
  const frame = h("div", { class: "log-frame" }, lines, jump);
  place.append(frame, state);
  let waiting = [];
  let timer = 0;
  let dropped = 0;
  let unseen = 0;
  let total = 0;
  let isFollowing = true;

  function follow() {
    isFollowing = true;
    unseen = 0;
    jump.classList.add("hidden");
    lines.scrollTop = lines.scrollHeight;
  }

  lines.addEventListener("scroll", () => {
    const isAtEnd = lines.scrollHeight - lines.scrollTop - lines.clientHeight < NEAR;
    if (isAtEnd && !isFollowing) follow();
    isFollowing = isAtEnd;
  }, { passive: true });

  /** Many lines may come at once; they are put into the page together. */
  function flush() {
    timer = 0;
    const many = waiting.length;
    total += many;
    lines.append(...waiting.splice(0).slice(-MOST_LINES).map(renderLine));
    while (lines.childElementCount > MOST_LINES) {
      lines.firstElementChild.remove();
      dropped += 1;
    }
    if (isFollowing) {
      lines.scrollTop = lines.scrollHeight;
    } else {
      unseen += many;
      replace(jump, icon("down"), count(unseen, "new line"));
      jump.classList.remove("hidden");
    }
  }

  function say(told) {
    replace(state, told, dropped > 0 && ` · the first ${count(dropped, "line")} not shown: remit logs has them`);
  }

  const stop = followLines(`/runs/${part(node.run.session_id)}/log`, {
    onOpen: () => say("Follows what it does."),
    onSkip: (many) => {
      dropped += many;
      if (many) say("Follows what it does.");
    },
    onLine: (line) => {
      waiting.push(line);
      timer ||= setTimeout(flush, 30);
    },
    onOver: () => {
      clearTimeout(timer);
      flush();
      say(total ? "It is over." : "It has said nothing.");
    },
    onLost: () => say("The connection is lost; trying again."),
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

function renderLine(line) {
  const kind = Object.hasOwn(KINDS, line.kind) ? line.kind : "text";
  return h("div", { class: ["log-line", `is-${kind}`] }, kind === "trouble" && icon("alert", "bad"),
    KINDS[kind] && h("span", { class: "log-kind" }, KINDS[kind]), h("span", { class: "foreign" }, line.text));
}
