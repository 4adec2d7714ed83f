/**
 * Lines: what an agent prints, as it comes.
 *
 * Owns the stream of one log. It rests while nobody looks, and goes on after the last line that came; where enough
 * pages of this browser listen already, it asks now and then.
 */

import { get, isSignedOut, makeAddress } from "./api.js";
import { takeSlot } from "./slots.js";

const AGAIN_MS = 2000;
const MOST_STREAMS = 2;
const MOST_POLLED = 500;

/**
 * Follow a log until the server says that it is over.
 * @param {string} path of the log
 * @param {{onOpen: () => void, onSkip: (lines: number) => void, onLine: (line: any) => void, onOver: () => void,
 *          onLost: () => void}} how onSkip: so many lines came before the first
 * @returns {() => void} ends it
 */
export function followLines(path, how) {
  let after = 0;
  let own = { end: () => {} };
  let again = 0;

  function rest() {
    clearTimeout(again);
    own.end();
    own = { end: () => {} };
  }

  async function begin() {
    rest();
    if (isSignedOut()) return;
    const mine = own;
    const release = await takeSlot("lines", MOST_STREAMS);
    if (mine !== own) release?.();
    else if (release) listen(release);
    else await poll(mine);
  }

  function listen(release) {
    const made = new EventSource(makeAddress(`${path}/stream`, { after }));
    own.end = () => {
      made.close();
      release();
    };
    made.addEventListener("open", () => how.onOpen());
    made.addEventListener("hello", (event) => how.onSkip(JSON.parse(event.data).skipped ?? 0));
    made.addEventListener("line", (event) => take(JSON.parse(event.data)));
    made.addEventListener("finished", finish);
    made.addEventListener("error", lose);
  }

  async function poll(mine) {
    try {
      const told = await get(path, { after, limit: MOST_POLLED });
      if (mine !== own) return;
      how.onOpen();
      told.items.forEach(take);
      if (told.finished) finish();
      else again = setTimeout(begin, told.items.length < MOST_POLLED ? AGAIN_MS : 0);
    } catch {
      if (mine === own) lose();
    }
  }

  function take(line) {
    after = line.number;
    how.onLine(line);
  }

  function lose() {
    rest();
    how.onLost();
    again = setTimeout(begin, AGAIN_MS);
  }

  function finish() {
    stop();
    how.onOver();
  }

  const look = () => (document.hidden ? rest() : begin());
  function stop() {
    rest();
    document.removeEventListener("visibilitychange", look);
  }

  document.addEventListener("visibilitychange", look);
  begin();
  return stop;
}
