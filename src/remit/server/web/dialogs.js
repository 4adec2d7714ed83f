/**
 * Dialogs: questions that are asked in the page, and short notices.
 *
 * Owns the one dialog that can be open, and the place where notices appear. The browser gives a modal dialog its focus
 * trap and Escape.
 */

import { h, replace } from "./dom.js";
import { icon } from "./format.js";

const NOTICE_MS = 4000;
let number = 0;

/**
 * Show a dialog.
 * @param {string} title
 * @param {any} content
 * @param {{wide?: boolean}} [how]
 * @returns {HTMLDialogElement}
 */
export function show(title, content, how = {}) {
  const id = `dialog-${++number}`;
  const close = h("button", { class: "button plain", type: "button", "aria-label": "Close",
    onclick: () => dialog.close() }, icon("close"));
  const dialog = h("dialog", { class: how.wide ? "wide" : null, "aria-labelledby": id },
    h("header", null, h("h2", { id }, title), close), content);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // outside of it
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Ask before something is done. The dialog stays open, with what went wrong in it, until it is done or given up.
 * @param {{title: string, text?: any, fields?: any, action: string, isBad?: boolean, wide?: boolean,
 *          act: (form: FormData) => Promise<void>}} asked
 */
export function ask(asked) {
  const trouble = h("div", { role: "alert" });
  const doIt = h("button", { class: ["button", asked.isBad ? "bad" : "main"], type: "submit" }, asked.action);
  const giveUp = h("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Not now");
  const form = h("form", { class: "ask", autocomplete: "off" },
    asked.text && h("p", null, asked.text), asked.fields, trouble, h("footer", null, giveUp, doIt));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    doIt.disabled = true;
    replace(trouble);
    try {
      await asked.act(new FormData(form));
      dialog.close();
    } catch (error) {
      replace(trouble, h("div", { class: "problem" }, h("strong", null, error.message),
        error.hint && h("p", { class: "hint" }, error.hint)));
    } finally {
      doIt.disabled = false;
    }
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  const dialog = show(asked.title, form, { wide: asked.wide });
  (form.querySelector("[autofocus], input, textarea, select") ?? giveUp).focus();
  return dialog;
}

/**
 * Say something for a few seconds; screen readers say it too.
 * @param {string} text
 * @param {"good"|"bad"|""} [tone]
 */
export function notify(text, tone = "") {
  let place = document.getElementById("notices");
  if (!place) {
    place = h("div", { id: "notices", role: "status", "aria-live": "polite" });
    document.body.append(place);
  }
  const notice = h("div", { class: ["notice", tone && `tone-${tone}`] },
    tone && icon(tone === "good" ? "check" : "error"), h("span", null, text));
  place.append(notice);
  setTimeout(() => notice.remove(), NOTICE_MS);
}
