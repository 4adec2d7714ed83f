/**
 * Format: how times, costs, sizes and states are said.
 *
 * The words and marks for states of runs, the same on every page. A shape and a word name a state;
 * colour only helps.
 */

import { h, pick, svg, tick } from "./dom.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// --- numbers ---------------------------------------------------------------------------------------------------------

/** `850 ms`, `12 s`, `3 min 20 s`, `2 h 05 min`, `4 d 3 h`. */
export function duration(span_ms) {
  if (span_ms === null || span_ms === undefined) return "";
  const ms = Math.max(0, span_ms);
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${pad(Math.floor((ms % MINUTE) / SECOND))} s`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${pad(Math.floor((ms % HOUR) / MINUTE))} min`;
  return `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`;
}

/** `now`, `12 s`, `3 min`, `5 h`, `2 d`: how long ago, in one unit. */
export function age(at_ms, now_ms = Date.now()) {
  if (at_ms === null || at_ms === undefined) return "";
  const ms = Math.max(0, now_ms - at_ms);
  if (ms < 2 * SECOND) return "now";
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** `$0.42`, `$12.30`, `<$0.01`; nothing where it is not known. */
export function cost(usd) {
  if (usd === null || usd === undefined) return "";
  if (usd > 0 && usd < 0.01) return "<$0.01";
  return `$${usd.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** `850`, `12.3k`, `4.1M`. */
export function tokens(number) {
  if (number === null || number === undefined) return "";
  if (number < 1000) return String(number);
  if (number < 1_000_000) return `${trim(number / 1000)}k`;
  return `${trim(number / 1_000_000)}M`;
}

/** `512 B`, `3.4 kB`, `12 MB`. */
export function bytes(size) {
  if (size === null || size === undefined) return "";
  if (size < 1000) return `${size} B`;
  if (size < 1_000_000) return `${trim(size / 1000)} kB`;
  return `${trim(size / 1_000_000)} MB`;
}

/** `1 error`, `3 errors`, `12,000 runs`. */
export function count(number, noun, many = `${noun}s`) {
  return `${whole(number)} ${number === 1 ? noun : many}`;
}

/** `12,000`. */
export function whole(number) {
  return Number(number).toLocaleString("en");
}

/** `2026-11-16 11:02:33`, by the clock of who looks. */
export function when(at_ms) {
  if (at_ms === null || at_ms === undefined) return "";
  const at = new Date(at_ms);
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${clock(at_ms)}`;
}

/** `11:02:33`. */
export function clock(at_ms) {
  const at = new Date(at_ms);
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

/** The part of a session's id that tells it from others. */
export function shortId(session_id) {
  return String(session_id).split("_").pop();
}

function pad(number) {
  return String(number).padStart(2, "0");
}

function trim(number) {
  return number < 10 ? number.toFixed(1).replace(/\.0$/, "") : String(Math.round(number));
}

/** How long ago, kept up to date; the whole time on pointing at it. */
export function ago(at_ms) {
  return at_ms === null || at_ms === undefined ? "" : tick(() => age(at_ms), { class: "num", title: when(at_ms) });
}

/** `5 min ago`, kept up to date. */
export function since(at_ms) {
  if (at_ms === null || at_ms === undefined) return "";
  return tick(() => (age(at_ms) === "now" ? "just now" : `${age(at_ms)} ago`), { class: "num", title: when(at_ms) });
}

/** How long it took, or has taken until now. */
export function took({ started_ms, ended_ms }) {
  if (started_ms === null) return "";
  return ended_ms === null ? tick(() => duration(Date.now() - started_ms)) : duration(ended_ms - started_ms);
}

// --- how it stands ---------------------------------------------------------------------------------------------------

/**
 * @typedef {"good"|"bad"|"false_claim"|"warn"|"live"|"wait"|"off"} Tone
 * @typedef {{word: string, tone: Tone, mark: string, why: string}} Badge
 */

const OPEN = {
  running: ["live", "run"],
  waiting: ["wait", "wait"],
  starting: ["wait", "dots"],
  queued: ["wait", "ring"],
  finishing: ["live", "dots"],
  abandoned: ["bad", "alert"],
  ended: ["warn", "half"],
};
const ENDED = {
  completed: ["good", "check"],
  partial: ["warn", "half"],
  blocked: ["warn", "block"],
  failed: ["bad", "cross"],
};
const ENDINGS = { timeout: ["timed out", "warn", "clock"], cancelled: ["cancelled", "off", "slash"] };

/**
 * The badge of a run: a word, its color, the shape of its mark, and the reason if the word doesn't name it.
 * @param {{state: string, status?: string|null, verdict?: string|null,
 *   stop_reason?: string|null}} told
 * @returns {Badge}
 */
export function describe(told) {
  const { state, status, verdict, stop_reason } = told;
  if (state !== "finished") {
    const [tone, mark] = pick(OPEN, state) ?? ["wait", "dots"];
    return { word: state, tone, mark, why: "" };
  }
  const ended = status ?? stop_reason ?? state;
  if (verdict === "fabricated") return { word: "false claim", tone: "false_claim", mark: "flag",
    why: "it reported files that it did not change" };
  if (verdict === "unproven") return { word: "unproven", tone: "warn", mark: "question",
    why: "Remit could not verify its files" };
  if (ended === "completed") return { word: ended, tone: "good", mark: "check",
    why: verdict === "repaired" ? verdict : "" };
  if (pick(ENDINGS, stop_reason)) {
    const [word, tone, mark] = ENDINGS[stop_reason];
    return { word, tone, mark, why: stop_reason === "timeout" ? ended : "" };
  }
  const [tone, mark] = pick(ENDED, ended) ?? ["off", "slash"];
  const isTold = verdict === "accepted" || verdict === "repaired" || !verdict;
  return { word: ended, tone, mark, why: isTold ? (stop_reason === "exited" ? "" : (stop_reason ?? "")) : verdict };
}

const SHAPES = {
  check: ["M3.5 8.5l3 3 6-7"],
  cross: ["M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6"],
  flag: ["M4.5 14V2.5M4.5 3h7.5l-2 3 2 3H4.5"],
  half: ["M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 1 0 0-11", "!M8 2.5a5.5 5.5 0 0 1 0 11z"],
  block: ["M3.5 3.5h9v9h-9z", "M5.5 8h5"],
  clock: ["M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 1 0 0-11", "M8 5v3.2l2.2 1.4"],
  slash: ["M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 1 0 0-11", "M4.2 11.8l7.6-7.6"],
  alert: ["M8 2.2L14.2 13H1.8z", "M8 6.2v3.2M8 11.2v.2"],
  question: ["M5.2 5.6a2.8 2.8 0 1 1 4.3 2.4c-1 .6-1.5 1.1-1.5 2.2", "M8 12.6v.2"],
  ring: ["M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 1 0 0-11"],
  wait: ["M4.5 2.5h7M4.5 13.5h7M5 2.5c0 3 6 8 6 11M11 2.5c0 3-6 8-6 11"],
  dots: ["M3.4 8h.2M7.9 8h.2M12.4 8h.2"],
  run: ["!M5 3.2l7.6 4.8L5 12.8z"],
  error: ["M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 1 0 0-11", "M6 6l4 4M10 6l-4 4"],
  warning: ["M8 2.2L14.2 13H1.8z", "M8 6.2v3.2M8 11.2v.2"],
  note: ["M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 1 0 0-11", "M8 7.4v3.4M8 5.2v.1"],
  theme: ["M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 1 0 0-11", "!M8 2.5a5.5 5.5 0 0 0 0 11z"],
  search: ["M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 1 0 0-8.4", "M10.2 10.2l3.3 3.3"],
  plus: ["M8 3v10M3 8h10"],
  close: ["M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6"],
  back: ["M9.8 3.4L5.2 8l4.6 4.6"],
  down: ["M3.4 6.2L8 10.8l4.6-4.6"],
  right: ["M6.2 3.4L10.8 8l-4.6 4.6"],
};

/**
 * A mark of 16 × 16.
 * @param {string} name one of SHAPES
 * @param {string} [tone]
 */
export function icon(name, tone = "") {
  const paths = (pick(SHAPES, name) ?? SHAPES.dots).map((path) =>
    path.startsWith("!") ? svg("path", { d: path.slice(1), class: "solid" }) : svg("path", { d: path }));
  return svg("svg", { class: ["icon", `icon-${name}`, tone && `tone-${tone}`], viewBox: "0 0 16 16",
    "aria-hidden": "true" }, paths);
}

/** The badge of a run, as mark and word. */
export function badge(told, props = {}) {
  const { word, tone, mark, why } = describe(told);
  return h("span", { class: ["badge", `tone-${tone}`], title: why || null, ...props }, icon(mark),
    h("span", { class: "badge-word" }, word));
}

/** The severity of a finding, as mark and word. */
export function severity(name) {
  const tone = pick({ error: "bad", warning: "warn", note: "live" }, name) ?? "off";
  return h("span", { class: ["badge", `tone-${tone}`] }, icon(pick(SHAPES, name) ? name : "note"),
    h("span", { class: "badge-word" }, name));
}

/**
 * Where there is nothing: what that means, and the command that changes it.
 * @param {string} title
 * @param {string} text
 * @param {string} [command]
 */
export function empty(title, text, command) {
  return h("div", { class: "empty" }, h("h2", null, title), h("p", null, text),
    command && h("pre", { class: "command" }, command));
}

/** What went wrong, in the server's words. */
export function problem(error, retry) {
  return h("div", { class: "problem", role: "alert" },
    h("strong", null, error.title ?? "Error"), h("p", null, error.message),
    error.hint && h("p", { class: "hint" }, error.hint),
    retry && h("button", { class: "button", type: "button", onclick: retry }, "Try again"));
}
