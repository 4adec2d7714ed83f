/**
 * DOM: how elements are made.
 *
 * Owns the one way in which text gets into the page: as text nodes. What an agent wrote may hold markup, control
 * characters and characters that turn the direction of writing; markup stays text, and what is invisible is shown as
 * `<U+202E>`, the form that the terminal uses too.
 */

const SVG = "http://www.w3.org/2000/svg";
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;
const UNSEEN_EACH = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const KEPT = "\n\t";
const READ_ALOUD = new Set(["title", "aria-label", "placeholder", "aria-description"]);

/** A character as it may be shown. */
function escapeChar(char) {
  return KEPT.includes(char) ? char : `<U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** Foreign text as it may be shown: what is not visible becomes `<U+001B>`. */
export function escape(text) {
  const told = String(text);
  return UNSEEN.test(told) ? told.replace(UNSEEN_EACH, escapeChar) : told;
}

/** Text as nodes: a text node, and one marked element for each run of characters that are not visible. */
function makeText(text) {
  if (!UNSEEN.test(text)) return [document.createTextNode(text)];
  const nodes = [];
  let plain = "";
  const flush = () => {
    if (plain) nodes.push(document.createTextNode(plain));
    plain = "";
  };
  for (const char of text) {
    if (KEPT.includes(char) || !UNSEEN.test(char)) {
      plain += char;
    } else {
      flush();
      const mark = document.createElement("span");
      mark.className = "unseen";
      mark.textContent = escapeChar(char);
      nodes.push(mark);
    }
  }
  flush();
  return nodes;
}

/**
 * Where a link may lead: to a page of ours, never to another host or to a script.
 * @param {string} address
 */
function checkAddress(address) {
  if (!/^(\/(?!\/)|#|\?)/.test(address)) throw new Error(`no link leads outside: ${address}`);
  return address;
}

function setProperty(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "style") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
  else if (name === "dataset") Object.assign(element.dataset, value);
  else if (name === "value" || name === "checked" || name === "indeterminate") element[name] = value;
  else if (name === "href") element.setAttribute(name, checkAddress(String(value)));
  else if (name === "class") element.setAttribute(name, [value].flat().filter(Boolean).join(" "));
  else if (value === true) element.setAttribute(name, "");
  else element.setAttribute(name, READ_ALOUD.has(name) ? escape(value) : String(value));
}

function fill(element, children, isDrawn) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    if (child instanceof Node) element.append(child);
    else if (isDrawn) element.append(document.createTextNode(escape(child)));
    else element.append(...makeText(String(child)));
  }
  return element;
}

/**
 * An element. Strings among the children become text, whatever is in them; null and false are left out.
 * `onclick` and its like take functions, `style` an object of properties, `class` a string or a list.
 * @param {string} tag
 * @param {Object<string, any>|null} [props]
 * @param {...any} children
 * @returns {HTMLElement}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) setProperty(element, name, value);
  return fill(element, children, false);
}

/**
 * An element of a drawing.
 * @param {string} tag
 * @param {Object<string, any>|null} [props]
 * @param {...any} children
 * @returns {SVGElement}
 */
export function svg(tag, props, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props ?? {})) setProperty(element, name, value);
  return fill(element, children, true);
}

/** Put these children in the place of those that an element has. */
export function replace(element, ...children) {
  element.replaceChildren();
  return fill(element, children, element.namespaceURI === SVG);
}

/**
 * What a table has for a word that came from outside: `constructor` is no entry of any.
 * @template T
 * @param {Object<string, T>} table
 * @param {string|null|undefined} word
 * @returns {T|undefined}
 */
export function pick(table, word) {
  return Object.hasOwn(table, word ?? "") ? table[word] : undefined;
}

// --- what changes with time ------------------------------------------------------------------------------------------

const ticking = new Set();
const SECOND = 1000;

/**
 * Text that is made anew every second, as long as it is in the page.
 * @param {() => string} render
 * @param {Object<string, any>} [props]
 */
export function tick(render, props) {
  const element = h("span", props, render());
  ticking.add({ element, render, wasSeen: false });
  return element;
}

function turn() {
  for (const each of ticking) {
    if (each.element.isConnected) {
      each.wasSeen = true;
      const told = each.render();
      if (each.element.textContent !== told) replace(each.element, told);
    } else if (each.wasSeen) {
      ticking.delete(each);
    } else {
      each.wasSeen = true; // it has a second to get into the page
    }
  }
}

setInterval(() => document.hidden || turn(), SECOND);
document.addEventListener("visibilitychange", () => document.hidden || turn());

// --- calling later ---------------------------------------------------------------------------------------------------

/**
 * A function that waits until nobody has called it for a while.
 * @param {(...args: any[]) => void} act
 * @param {number} wait_ms
 */
export function debounce(act, wait_ms) {
  let timer = 0;
  const later = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...args), wait_ms);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

const SHARE = 3;

/**
 * A function that acts at once, and then at most once in a while; never twice at a time, and the last call is not lost.
 * What takes long is done more rarely, so that it takes a quarter of the time at most.
 * @param {() => Promise<void>|void} act
 * @param {number} wait_ms
 */
export function throttle(act, wait_ms) {
  let isBusy = false;
  let isWanted = false;
  let isOver = false;
  const run = async () => {
    if (isOver) return;
    if (isBusy) {
      isWanted = true;
      return;
    }
    isBusy = true;
    isWanted = false;
    const begun = performance.now();
    try {
      await act();
    } finally {
      setTimeout(() => {
        isBusy = false;
        if (isWanted) run();
      }, Math.max(wait_ms, SHARE * (performance.now() - begun)));
    }
  };
  run.cancel = () => {
    isOver = true;
  };
  return run;
}
