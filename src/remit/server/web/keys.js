/**
 * Keys: what the keyboard does.
 *
 * Owns the one listener for keys. Pages bind what they know to do and unbind it when they end; the help dialog shows
 * what is bound at that moment.
 */

import { h } from "./dom.js";

const TYPED = "input, textarea, select, [contenteditable]";
const SEQUENCE_MS = 1200;

/** @type {{title: string, keys: Object<string, {help: string, act: (event: KeyboardEvent) => void}>}[]} */
const bound = [];
let prefix = "";
let prefixTimer = 0;

/**
 * Bind keys: `j`, `Enter`, `g r` for one after the other.
 * @param {string} title under which the help shows them
 * @param {Object<string, {help: string, act: (event: KeyboardEvent) => void}>} keys
 * @returns {() => void} unbinds them
 */
export function bind(title, keys) {
  const group = { title, keys };
  bound.push(group);
  return () => {
    const at = bound.indexOf(group);
    if (at >= 0) bound.splice(at, 1);
  };
}

function find(name) {
  for (const group of [...bound].reverse()) {
    if (Object.hasOwn(group.keys, name)) return group.keys[name];
  }
  return null;
}

function isPrefix(key) {
  return bound.some((group) => Object.keys(group.keys).some((name) => name.startsWith(`${key} `)));
}

function setPrefix(key) {
  prefix = key;
  clearTimeout(prefixTimer);
  if (key) prefixTimer = setTimeout(() => setPrefix(""), SEQUENCE_MS);
}

/** Whether a key belongs to the element that has the focus: buttons and links take Enter themselves. */
function isTaken(event) {
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest(TYPED)) return event.key !== "Escape";
  return (event.key === "Enter" || event.key === " ")
    && Boolean(target?.closest("button, a[href], summary, [role=tab]"));
}

function press(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector("dialog[open]") || isTaken(event)) return;
  const target = event.target instanceof HTMLElement ? event.target : null;
  if (event.key === "Escape" && target?.matches(TYPED)) {
    target.blur();
    event.preventDefault();
    return;
  }
  const name = prefix ? `${prefix} ${event.key}` : event.key;
  const found = find(name);
  if (!found && !prefix && isPrefix(event.key)) {
    setPrefix(event.key);
    return;
  }
  setPrefix("");
  if (!found) return;
  event.preventDefault();
  found.act(event);
}

/** Begin to listen. */
export function listen() {
  document.addEventListener("keydown", press);
}

const NAMES = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", " ": "Space" };

/** What is bound now, as a list for the help dialog; keys that do the same stand in one row. */
export function renderHelp() {
  return bound.filter((group) => Object.values(group.keys).some((each) => each.help)).map((group) => {
    const rows = new Map();
    for (const [name, { help }] of Object.entries(group.keys)) {
      if (help) rows.set(help, [...(rows.get(help) ?? []), name]);
    }
    return h("section", { class: "keys" }, h("h3", null, group.title),
      h("dl", null, [...rows].map(([help, names]) =>
        h("div", null, h("dt", null, names.map(renderName)), h("dd", null, help)))));
  });
}

function renderName(name) {
  return h("span", { class: "chord" }, name.split(/ (?=.)/).map((key) => h("kbd", null, NAMES[key] ?? key)));
}
