/**
 * Fresh: what a page shows is asked for again when it may have changed.
 *
 * Owns when that is: after an event of the ledger, and when somebody comes back to the page, since files are edited by
 * people too. What is the same is not drawn anew, and who has the focus keeps it.
 */

import { follow, isAborted } from "./api.js";
import { replace, throttle } from "./dom.js";
import { problem } from "./format.js";

const AGAIN_MS = 1500;

/**
 * @param {{place: HTMLElement, ask: (signal: AbortSignal) => Promise<any>, draw: (told: any) => void,
 *          follows?: boolean}} how follows: whether events of the ledger change it
 * @returns {{reload: () => Promise<void>, look: () => void, end: () => void}}
 */
export function keepFresh(how) {
  let abort = new AbortController();
  let shown = null;
  let isOver = false;

  /** @param {boolean} isAsked whether somebody waits for it: then what goes wrong is told in the page */
  async function load(isAsked) {
    abort.abort();
    abort = new AbortController();
    try {
      const told = await how.ask(abort.signal);
      const stamp = JSON.stringify(told);
      if (isOver || (stamp === shown && !isAsked)) return;
      shown = stamp;
      keepFocus(how.place, () => how.draw(told));
    } catch (error) {
      if (isOver || isAborted(error)) return;
      if (isAsked || shown === null) {
        shown = null;
        replace(how.place, problem(error, () => load(true)));
      }
    }
  }

  const again = throttle(() => load(false), AGAIN_MS);
  const look = () => document.hidden || again();
  document.addEventListener("visibilitychange", look);
  addEventListener("focus", look);
  const unfollow = how.follows === false ? () => {} : follow({ onChange: again, onReset: again });
  load(true);
  return {
    reload: () => load(true),
    look,
    end: () => {
      isOver = true;
      document.removeEventListener("visibilitychange", look);
      removeEventListener("focus", look);
      unfollow();
      again.cancel();
      abort.abort();
    },
  };
}

/** Draw, and give the focus back to what has the same `data-key`. */
export function keepFocus(place, draw) {
  const active = document.activeElement;
  const key = active instanceof HTMLElement && place.contains(active) ? active.dataset.key : null;
  draw();
  if (!key || place.contains(document.activeElement)) return;
  [...place.querySelectorAll("[data-key]")].find((each) => each.dataset.key === key)?.focus({ preventScroll: true });
}
