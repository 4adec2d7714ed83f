/**
 * List: rows of one height, of which only those in sight are in the page.
 *
 * Owns scrolling, which row is chosen, and what a screen reader is told of rows that are not drawn. What a row shows is
 * the caller's matter; a row is drawn anew only when its stamp has changed, so that a live list does not flicker.
 */

import { h } from "./dom.js";

const BEYOND = 8; // rows drawn above and below those in sight
let number = 0;

/**
 * @typedef {Object} ListOptions
 * @property {string} label what screen readers call it
 * @property {"grid"|"tree"} kind
 * @property {() => number} height of a row, in pixels
 * @property {(index: number) => HTMLElement} render
 * @property {(index: number) => string} stamp what a row shows, as a short text
 * @property {HTMLElement} [head] a row of column names
 * @property {(first: number, last: number) => void} [onRange] rows that came into sight
 * @property {(index: number) => void} [onChoose]
 * @property {(index: number, event: Event) => void} [onOpen] Enter on a row
 */

/** @param {ListOptions} options */
export function makeList(options) {
  const id = `list-${++number}`;
  const isGrid = options.kind === "grid";
  const sizer = h("div", { class: "list-sizer", role: "presentation" });
  const scroller = h("div", { class: "list-scroller", role: isGrid ? "rowgroup" : "presentation", tabindex: "-1" },
    sizer);
  const element = h("div", { class: "list", role: isGrid ? "grid" : "tree", "aria-label": options.label,
    tabindex: "0" }, options.head, scroller);
  /** @type {Map<number, {row: HTMLElement, stamp: string}>} */
  const drawn = new Map();
  let total = 0;
  let chosen = -1;
  let height = options.height();
  let frame = 0;

  function draw() {
    frame = 0;
    const first = Math.max(0, Math.floor(scroller.scrollTop / height) - BEYOND);
    const last = Math.min(total, Math.ceil((scroller.scrollTop + scroller.clientHeight) / height) + BEYOND);
    for (const [index, { row }] of drawn) {
      if (index < first || index >= last) {
        row.remove();
        drawn.delete(index);
      }
    }
    for (let index = first; index < last; index += 1) drawRow(index);
    options.onRange?.(first, last);
  }

  function drawRow(index) {
    const stamp = options.stamp(index);
    const known = drawn.get(index);
    if (known?.stamp === stamp) return;
    const row = options.render(index);
    row.id = `${id}-${index}`;
    row.classList.add("list-row");
    row.setAttribute("role", isGrid ? "row" : "treeitem");
    if (isGrid) row.setAttribute("aria-rowindex", String(index + 2)); // the names of the columns are the first row
    row.setAttribute("aria-selected", String(index === chosen));
    row.style.setProperty("transform", `translateY(${index * height}px)`);
    row.style.setProperty("height", `${height}px`);
    if (known) known.row.replaceWith(row);
    else sizer.append(row);
    drawn.set(index, { row, stamp });
  }

  function drawSoon() {
    frame ||= requestAnimationFrame(draw);
  }

  function measure() {
    element.style.setProperty("--scrollbar", `${scroller.offsetWidth - scroller.clientWidth}px`);
    const now = options.height();
    if (now !== height) {
      const top = scroller.scrollTop / height;
      height = now;
      clear();
      setCount(total);
      scroller.scrollTop = top * height;
    }
    drawSoon();
  }

  function clear() {
    for (const { row } of drawn.values()) row.remove();
    drawn.clear();
  }

  function setCount(count) {
    total = count;
    sizer.style.setProperty("height", `${count * height}px`);
    if (isGrid) element.setAttribute("aria-rowcount", String(count + 1));
    drawSoon();
  }

  function choose(index, how = {}) {
    const before = chosen;
    chosen = total === 0 ? -1 : Math.max(-1, Math.min(index, total - 1));
    drawn.get(before)?.row.setAttribute("aria-selected", "false");
    if (chosen >= 0 && how.scroll !== false) reveal(chosen);
    drawn.get(chosen)?.row.setAttribute("aria-selected", "true");
    if (chosen >= 0) element.setAttribute("aria-activedescendant", `${id}-${chosen}`);
    else element.removeAttribute("aria-activedescendant");
    if (!how.quiet && chosen >= 0) options.onChoose?.(chosen);
  }

  /** Scroll just so far that a row is in sight, and draw it at once: it is to be told as the active one. */
  function reveal(index) {
    const highest = index * height;
    const lowest = highest + height - scroller.clientHeight;
    scroller.scrollTop = Math.min(highest, Math.max(lowest, scroller.scrollTop));
    draw();
  }

  const watcher = new ResizeObserver(measure);
  watcher.observe(scroller);
  scroller.addEventListener("scroll", drawSoon, { passive: true });
  element.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(scroller.clientHeight / height) - 1);
    const step = { PageDown: page, PageUp: -page, Home: -total, End: total }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(Math.max(0, chosen + step));
  });

  return {
    element,
    scroller,
    setCount,
    choose,
    reveal,
    /** Draw anew what has changed. */
    refresh: draw,
    get chosen() {
      return chosen;
    },
    get height() {
      return height;
    },
    /** Go so many rows down. */
    move(step) {
      element.focus({ preventScroll: true }); // so that screen readers say which row it is
      choose(chosen < 0 ? 0 : Math.max(0, chosen + step));
    },
    /** Rows were put in above or taken out: what is in sight stays where it is. */
    shift(rows) {
      if (scroller.scrollTop > 0) scroller.scrollTop += rows * height;
    },
    end() {
      cancelAnimationFrame(frame);
      watcher.disconnect();
    },
  };
}
