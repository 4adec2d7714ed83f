/**
 * Slots: how many streams all pages of a browser have open together.
 *
 * Owns their number. Browsers keep six connections to one host, for all windows: were each page to hold one, the
 * seventh would not even load. A slot is a lock that the browser frees when its page is gone.
 */

/**
 * Take one of some slots, where one is free.
 * @param {string} name
 * @param {number} most how many there are
 * @returns {Promise<(() => void)|null>} gives it back; null where all are taken
 */
export async function takeSlot(name, most) {
  if (!navigator.locks) return () => {}; // only pages of this machine have them, or encrypted ones
  for (let at = 1; at <= most; at += 1) {
    const release = await tryLock(`remit-${name}-${at}`);
    if (release) return release;
  }
  return null;
}

function tryLock(name) {
  return new Promise((resolve) => {
    const hold = (lock) => {
      if (lock) return new Promise((release) => resolve(release));
      resolve(null);
      return undefined;
    };
    navigator.locks.request(name, { ifAvailable: true }, hold).catch(() => resolve(() => {}));
  });
}
