/**
 * Workers: the machines that work for this workspace, what waits for them, and who holds what.
 *
 * Their database tells no event of the ledger, so that it is asked again and again while somebody looks.
 */

import { get, part } from "./api.js";
import { h, replace } from "./dom.js";
import { count, duration, empty, icon, shortId, when, whole } from "./format.js";
import { keepFresh } from "./fresh.js";
import { section } from "./parts.js";

const LOOK_MS = 2000;
const LOOKS = { active: ["good", "run"], draining: ["warn", "half"], gone: ["off", "slash"], silent: ["bad", "alert"] };

/** @param {HTMLElement} root */
export function page(root) {
  const place = h("div", { class: "matter" });
  replace(root, place);
  const fresh = keepFresh({ place, follows: false, ask: (signal) => get("/cluster", {}, { signal }),
    draw: (told) => replace(place, renderPage(told)) });
  const timer = setInterval(fresh.look, LOOK_MS);
  return () => {
    clearInterval(timer);
    fresh.end();
  };
}

function renderPage(told) {
  if (told.backend === "local") {
    return empty("All work is done by this machine",
      "With backend set to a PostgreSQL, workers on other machines take it. Each is started with:",
      "remit worker start");
  }
  const there = told.workers.filter((each) => each.state !== "gone");
  const live = there.filter((each) => each.live).length;
  return [
    h("header", { class: "matter-head" }, h("div", { class: "matter-top" }, h("h1", null, "Workers"),
      h("p", { class: "soft" }, `${count(live, "worker")} at `, h("code", { class: "foreign" }, told.database)),
      h("p", { class: "soft" }, told.lag_s === null ? "Nothing waits."
        : `The oldest waits for ${seconds(told.lag_s)}.`))),
    told.trouble && h("div", { class: "problem", role: "alert" },
      h("strong", null, "The database doesn't answer"), h("p", { class: "foreign" }, told.trouble)),
    !told.trouble && !told.has_active_worker && h("div", { class: "problem" },
      h("strong", null, live ? "All workers drain" : "No worker is there"),
      h("p", null, "Runs are queued until a worker starts: ", h("code", { class: "command" }, "remit worker start"))),
    section("Workers", renderWorkers(there)),
    section("Queues", renderQueues(told.queues)),
    section("Leases", renderLeases(told.leases)),
  ];
}

function renderTable(names, rows) {
  if (!rows.length) return null;
  return h("div", { class: "scroll-x" }, h("table", { class: "records" },
    h("thead", null, h("tr", null, names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", null, rows.map((cells) => h("tr", null, cells.map((each) => h("td", { class: "foreign" }, each)))))));
}

function renderWorkers(workers) {
  return renderTable(["Worker", "Host", "State", "Running", "Heard", "Agents", "Version"], workers.map((each) => [
    h("strong", { title: `since ${when(each.started_ms)}, process ${each.pid}` }, each.worker_id), each.host,
    renderState(each.live ? each.state : "silent"), `${whole(each.running)} of ${whole(each.concurrency)}`,
    `${seconds(each.beat_ago_s)} ago`, each.agents.join(", ") || "all", each.version]));
}

function renderState(state) {
  const [tone, mark] = Object.hasOwn(LOOKS, state) ? LOOKS[state] : LOOKS.gone;
  return renderMark(tone, mark, state);
}

function renderMark(tone, mark, word) {
  return h("span", { class: ["badge", `tone-${tone}`] }, icon(mark), h("span", { class: "badge-word" }, word));
}

function renderQueues(queues) {
  return renderTable(["Queue", "Waiting", "Running", "Oldest"], queues.map((each) => [
    each.queue || "not in one yet", whole(each.waiting), whole(each.running),
    each.oldest_s === null ? "" : seconds(each.oldest_s)]));
}

function renderLeases(leases) {
  return renderTable(["Session", "Agent", "Worker", "Lease", "Waited", "Fence"], leases.map((each) => [
    each.here ? h("a", { href: `/runs/${part(each.session_id)}`, title: each.session_id,
      "data-key": `lease-${each.session_id}` }, h("code", null, shortId(each.session_id)))
      : h("code", { title: `${each.session_id}, of another workspace` }, shortId(each.session_id)),
    each.agent, each.worker ?? "", renderLease(each), seconds(each.waited_s), whole(each.fence)]));
}

function renderLease(each) {
  if (each.lease_left_s === null) return "";
  if (each.lease_left_s < 0) return renderMark("bad", "alert", `${seconds(-each.lease_left_s)} over`);
  return `${seconds(each.lease_left_s)} left${each.cancelled ? ", to be ended" : ""}`;
}

function seconds(span_s) {
  return duration(span_s * 1000);
}
