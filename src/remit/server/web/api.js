/**
 * API: what is asked of the server, and what the server tells by itself.
 *
 * Owns every request. An answer that is an error becomes a `Problem` with the server's own words. Changes come over one
 * stream for the whole page, since browsers keep few connections to one host; where many pages of a browser are open,
 * some ask now and then instead. It is closed while nobody looks, and what was missed is caught up by event number.
 */

import { takeSlot } from "./slots.js";

const BASE = "/api/v1";
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const HIDDEN_MS = 3000;
const MOST_STREAMS = 3;
const MOST_POLLED = 500;
const POLL_MS = 1000;
const MOST_REMEMBERED = 2000;
const LONGEST_PATIENCE_S = 5;

/** What the server answered instead of what was asked for. */
export class Problem extends Error {
  /** @param {{title?: string, detail?: string, status?: number, error?: {hint?: string, code?: string}}} told */
  constructor(told) {
    super(told.detail || told.title || "something went wrong");
    this.name = "Problem";
    this.title = told.title ?? "Error";
    this.detail = told.detail ?? "";
    this.hint = told.error?.hint ?? "";
    this.status = told.status ?? 0;
    this.code = told.error?.code ?? "";
    this.data = told.error?.data ?? {};
  }
}

// --- asking ----------------------------------------------------------------------------------------------------------

/**
 * The address of an operation.
 * @param {string} path below /api/v1
 * @param {Object<string, any>} [params] those that are null or empty are left out
 */
export function makeAddress(path, params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const told = query.toString();
  return BASE + path + (told ? `?${told}` : "");
}

async function readProblem(response) {
  let told = {};
  try {
    told = await response.json();
  } catch {
    told = { detail: `the server answered ${response.status}` };
  }
  return new Problem({ ...told, status: response.status });
}

/** The session is over: nothing more is asked, since every failed try counts against who asks. */
function leave() {
  isOut = true;
  close();
  dispatchEvent(new CustomEvent("remit:signed-out"));
}

/** How long the server wants us to wait; null where it does not say so, or too long. */
function findPatience_ms(response, how) {
  if (response.status !== 429 || how.method === "POST") return null;
  const seconds = Number(response.headers.get("Retry-After") ?? NaN);
  return seconds >= 0 && seconds <= LONGEST_PATIENCE_S ? seconds * 1000 : null;
}

async function send(address, how) {
  let response;
  try {
    response = await fetch(address, { credentials: "same-origin", redirect: "error", ...how });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    const hint = "start it again: remit serve --open";
    throw new Problem({ title: "No answer", detail: "the server does not answer", error: { hint } });
  }
  if (response.status === 401) leave();
  const patience_ms = findPatience_ms(response, how);
  if (patience_ms !== null) {
    await new Promise((resolve) => setTimeout(resolve, patience_ms));
    return send(address, { ...how, method: "GET" });
  }
  if (!response.ok) throw await readProblem(response);
  return response.status === 204 ? null : response.json();
}

/**
 * Ask for something.
 * @param {string} path below /api/v1, parts of it encoded
 * @param {Object<string, any>} [params]
 * @param {{signal?: AbortSignal}} [how]
 */
export function get(path, params, how = {}) {
  return send(makeAddress(path, params), { headers: { Accept: "application/json" }, ...how });
}

/**
 * Have something done.
 * @param {string} path
 * @param {any} body
 * @param {{key?: string}} [how] key: the same key twice is done once
 */
export function post(path, body, how = {}) {
  const headers = { "Content-Type": "application/json", Accept: "application/json" };
  if (how.key) headers["Idempotency-Key"] = how.key;
  return send(BASE + path, { method: "POST", headers, body: JSON.stringify(body ?? {}) });
}

/** A part of a path. */
export function part(text) {
  return encodeURIComponent(text);
}

/** Whether the server does not know this browser any more. */
export function isSignedOut() {
  return isOut;
}

/** Whether an error only says that its answer is not wanted any more. */
export function isAborted(error) {
  return error?.name === "AbortError";
}

// --- being told ------------------------------------------------------------------------------------------------------

/**
 * @typedef {{number: number, at_ms: number, session_id: string, root_id: string, kind: string, details: any}} Change
 * @typedef {"off"|"connecting"|"live"|"lost"} Link
 */

/** @type {Set<{onChange?: (change: Change) => void, onReset?: () => void}>} */
const listeners = new Set();
/** @type {Set<(link: Link) => void>} */
const watchers = new Set();
/** @type {{end: () => void, isOver: boolean}|null} how this page is told at the moment */
let source = null;
let last = null;
/** @type {Change[]} what was told lately: all after the number `remembered` */
const recent = [];
let remembered = Infinity;
let wait_ms = FIRST_WAIT_MS;
let timer = 0;
let hiddenTimer = 0;
let isOut = false;
/** @type {Link} */
let link = "off";

function setLink(now) {
  if (link === now) return;
  link = now;
  for (const watch of watchers) watch(now);
}

/** Be told how the stream stands: at once, and at every change. */
export function watchLink(watch) {
  watchers.add(watch);
  watch(link);
  return () => watchers.delete(watch);
}

/**
 * Be told of changes in the ledger after an event number, which every answer that can be followed carries. `onReset` is
 * called when some were missed for good: what is shown must be asked for anew.
 * @param {{after?: number|null, onChange?: (change: Change) => void, onReset?: () => void}} listener
 * @returns {() => void} ends it
 */
export function follow(listener) {
  listeners.add(listener);
  if (source === null && !timer) open(listener.after ?? null);
  if (last !== null && (listener.after ?? last) < last) queueMicrotask(() => catchUp(listener, last));
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) close();
  };
}

/** Who comes with an older number than the stream has told is told again, as far as it is remembered. */
function catchUp(listener, until) {
  if (listener.after < remembered) {
    if (listeners.has(listener)) listener.onReset?.();
    return;
  }
  for (const change of recent.filter((each) => each.number > listener.after && each.number <= until)) {
    if (listeners.has(listener)) listener.onChange?.(change);
  }
}

function remember(change) {
  recent.push(change);
  if (recent.length > MOST_REMEMBERED) remembered = recent.shift().number;
}

function forget() {
  recent.length = 0;
  remembered = last ?? Infinity;
}

function tell(name, ...told) {
  for (const each of [...listeners]) {
    if (listeners.has(each)) each[name]?.(...told);
  }
}

function open(after) {
  clearTimeout(timer);
  timer = 0;
  if (isOut) return;
  if (last === null) {
    last = after;
    forget();
  }
  setLink("connecting");
  source = { end: () => {}, isOver: false };
  connect(source);
}

/** Listen to the stream, or ask now and then where enough of this browser's pages listen already. */
async function connect(own) {
  const release = await takeSlot("events", MOST_STREAMS);
  if (own.isOver) {
    release?.();
  } else if (release) {
    const made = listen(own);
    own.end = () => {
      made.close();
      release();
    };
  } else {
    await poll(own);
  }
}

function listen(own) {
  const made = new EventSource(makeAddress("/events", { after: last }));
  made.addEventListener("open", () => setLive());
  made.addEventListener("hello", (event) => {
    const now = JSON.parse(event.data).event;
    if (last !== null && now >= last) return;
    const isOther = last !== null; // another ledger than the one we knew
    last = now;
    forget();
    if (isOther) tell("onReset");
  });
  made.addEventListener("change", (event) => takeChange(JSON.parse(event.data)));
  made.addEventListener("reset", (event) => takeReset(JSON.parse(event.data || "{}").event ?? last));
  made.addEventListener("error", () => reopen(own));
  return made;
}

async function poll(own) {
  try {
    if (last === null) {
      last = (await get("/status")).event;
      forget();
    }
    const told = await get("/events", { after: last, limit: MOST_POLLED });
    if (own.isOver) return;
    setLive();
    if (told.reset) takeReset(told.last);
    else told.items.forEach(takeChange);
    const again = setTimeout(() => connect(own), told.items.length < MOST_POLLED ? POLL_MS : 0);
    own.end = () => clearTimeout(again);
  } catch {
    reopen(own);
  }
}

function setLive() {
  wait_ms = FIRST_WAIT_MS;
  setLink("live");
}

function takeChange(change) {
  if (last !== null && change.number <= last) return; // a connection that was opened anew may tell it twice
  last = change.number;
  remember(change);
  tell("onChange", change);
}

function takeReset(number) {
  last = Number(number);
  forget();
  tell("onReset");
}

/** The browser's own way to connect again gives up at the first answer that is no stream; this one does not. */
function reopen(own) {
  if (source !== own) return;
  drop();
  setLink("lost");
  const jitter = 0.75 + Math.random() / 2;
  timer = setTimeout(tryAgain, wait_ms * jitter);
  wait_ms = Math.min(wait_ms * 2, LONGEST_WAIT_MS);
}

/** A stream does not say why it was refused; so it is asked first whether the server still knows us. */
async function tryAgain() {
  try {
    await get("/status");
  } catch {
    // `send` has told it, or the stream fails once more
  }
  if (listeners.size) open(null);
  else timer = 0;
}

function drop() {
  if (source === null) return;
  source.isOver = true;
  source.end();
  source = null;
}

function close() {
  clearTimeout(timer);
  timer = 0;
  drop();
  setLink("off");
}

/** Try at once to connect again. */
export function reconnect() {
  close();
  wait_ms = FIRST_WAIT_MS;
  if (listeners.size) open(null);
}

document.addEventListener("visibilitychange", () => {
  clearTimeout(hiddenTimer);
  if (document.hidden) hiddenTimer = setTimeout(close, HIDDEN_MS);
  else if (source === null && listeners.size) reconnect();
});
