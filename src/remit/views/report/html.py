"""HTML: a report as one self-contained file without scripts.

All links lead to parts of the page. The content security policy permits only the one style sheet, by its hash. So even
a bug in the escaping couldn't make a browser run or fetch anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.views.report import content
from remit.views.report.markup import Markup, element, join, trust
from remit.views.report.style import POLICY, STYLE
from remit.views.report.timeline import count_left_out, draw_timeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_DEEPEST = 6


def render_html(report: Mapping[str, Any]) -> str:
    """Return the whole page."""
    root = report["tree"][0]
    title = f"{root['agent']}: {content.describe(root).word}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"Remit report: {title}"),
        element("style", trust(STYLE)),
    )
    body = element(
        "body",
        element("header", _render_head(report)),
        element("main", _render_tree(report), _render_timeline(report), _render_nodes(report)),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _render_badge(look: content.StatusBadge) -> Markup:
    return element("span", f"{look.mark} {look.word}", class_=f"tone {look.tone}")


def _render_head(report: Mapping[str, Any]) -> Iterator[Markup]:
    root, totals = report["tree"][0], report["totals"]
    took = content.format_span(totals["started_ms"], totals["ended_ms"] or report["made_ms"])
    facts = (content.format_headline(report), took and f"{took} in all", content.format_usage(totals))
    yield element("h1", root["agent"], " ", _render_badge(content.describe(root)))
    yield element("p", root["work"])
    yield element("p", " · ".join(fact for fact in facts if fact), class_="soft")
    yield element("p", f"Project {report['project']}, run ", element("code", report["root_id"]), class_="soft")
    yield element("p", content.format_as_of(report), class_="note")
    if report["left_out"]:
        yield element("p", " ".join(report["left_out"]), class_="note")


# --- the run ---------------------------------------------------------------------------------------------------------


def _render_tree(report: Mapping[str, Any]) -> Markup:
    numbers = _number(report)
    heads = [element("th", name, scope="col", class_=kind) for name, kind in (
        ("State", None), ("Agent", None), ("Work", None), ("Took", "number"), ("Tokens", "number"), ("Cost", "number"),
    )]  # fmt: skip
    rows = [_render_row(report, row, numbers.get(row["session_id"])) for row in report["tree"]]
    table = element("table", element("thead", element("tr", heads)), element("tbody", rows))
    return element("section", element("h2", "The run"), element("div", table, class_="wide"))


def _number(report: Mapping[str, Any]) -> dict[str, int]:
    """The number of each run, used as its anchor: a session id is foreign text."""
    return {node["session_id"]: number for number, node in enumerate(report["nodes"], 1)}


def _render_row(report: Mapping[str, Any], row: Mapping[str, Any], number: int | None) -> Markup:
    end_ms = report["made_ms"] if row["ended_ms"] is None else row["ended_ms"]
    tokens, cost = row["tokens"], row["cost_usd"]
    name = row["agent"] if number is None else element("a", row["agent"], href=f"#n{number}")
    return element(
        "tr",
        element("td", _render_badge(content.describe(row))),
        element("td", name, class_=f"l{min(row['level'], _DEEPEST)}"),
        element("td", row["work"]),
        element("td", content.format_span(row["started_ms"], end_ms), class_="number"),
        element("td", "" if tokens is None else f"{tokens:,}", class_="number"),
        element("td", "" if cost is None else f"${cost:,.2f}", class_="number"),
    )


def _render_timeline(report: Mapping[str, Any]) -> Markup | None:
    drawn = draw_timeline(report)
    if drawn is None:
        return None
    missing = count_left_out(report)
    more = f" {missing} more have no bar here." if missing else ""
    note = element("p", f"A dashed line marks the deadline.{more}", class_="soft")
    return element("section", element("h2", "Timeline"), element("div", drawn, class_="wide"), note)


# --- one run ---------------------------------------------------------------------------------------------------------


def _render_nodes(report: Mapping[str, Any]) -> Markup:
    nodes = [_render_node(report, node, number) for number, node in enumerate(report["nodes"], 1)]
    return element("section", element("h2", "Runs"), nodes)


def _render_node(report: Mapping[str, Any], node: Mapping[str, Any], number: int) -> Markup:
    run = node["run"]
    facts = [
        element("div", element("dt", name), element("dd", value)) for name, value in content.list_facts(report, node)
    ]
    left_out = element("p", f"Not everything is shown: {', '.join(node['left_out'])}.", class_="soft")
    return element(
        "article",
        element("h3", run["agent"], " ", _render_badge(content.describe(run))),
        element("dl", facts),
        _render_asked(node["asked"]),
        _render_result(node["result"]) if node["result"] else _render_open(run),
        _render_checks(node["checks"]),
        [_render_attempt(node, attempt) for attempt in node["attempts"]],
        _render_list("Changed, but not reported", [f"{each['path']} ({each['kind']})" for each in node["unclaimed"]]),
        _render_list("Finish steps", content.format_steps(node["steps"])),
        left_out if node["left_out"] else None,
        id=f"n{number}",
    )


def _render_list(title: str, lines: Sequence[str | Markup]) -> Markup | None:
    return join(element("h4", title), element("ul", [element("li", line) for line in lines])) if lines else None


def _render_long(text: Mapping[str, Any], name: str) -> Iterator[Markup]:
    yield element("pre", text["text"])
    if text["cut"]:
        yield element("p", content.format_cut(text, name), class_="soft")


def _render_asked(asked: Mapping[str, Any]) -> Iterator[Markup | None]:
    if asked["text"]:
        yield element("h4", "Asked")
        yield join(_render_long(asked, "prompt"))
    yield _render_list("Inputs", [f"{name} = {value}" for name, value in asked["inputs"].items()])
    yield _render_list("Given to read", content.format_context(asked["context"]))


def _render_open(run: Mapping[str, Any]) -> Iterator[Markup]:
    yield element("h4", "Now")
    yield element("p", run["activity"] or "It has not answered yet.")
    if run["waits_for"]:
        yield element("p", f"Waits for {', '.join(map(str, run['waits_for']))}.")


def _render_result(result: Mapping[str, Any]) -> Iterator[Markup | None]:
    yield element("h4", "Result")
    yield element("p", result["summary"] or "It has no summary.")
    artifacts = [
        join(element("code", each.get("path", "")), f" {each.get('summary', '')}") for each in result["artifacts"] or ()
    ]
    yield _render_list("Files", artifacts)
    yield _render_list("Errors", [content.format_error(each) for each in result.get("errors", ())])
    yield _render_list("Next", [result["next_steps"]] if result.get("next_steps") else [])
    yield _render_list("Notes", [str(each) for each in result["remit"].get("notes", ())])


def _render_checks(checks: Sequence[Mapping[str, Any]]) -> Iterator[Markup]:
    """The acceptance checks, each with its command and its output."""
    if not checks:
        return
    yield element("h4", "Acceptance checks")
    for each in checks:
        look = content.describe_check(each)
        mark = element("span", look.mark, class_=f"tone {look.tone}")
        command = element("code", each.get("command") or each["name"])
        yield element("p", mark, f" {content.format_check(each)} ", command)
        if each.get("output"):
            output = element("pre", each["output"])
            is_shown = each["answer"] != "passed"
            yield output if is_shown else element("details", element("summary", "The end of its output"), output)


def _render_attempt(node: Mapping[str, Any], attempt: Mapping[str, Any]) -> Iterator[Markup | None]:
    span = content.format_span(attempt["started_ms"], attempt["ended_ms"])
    yield element("h4", f"Attempt {attempt['number']}")
    yield element("p", _render_badge(content.describe_attempt(attempt)), f" {span}")
    diagnostics = [
        join(_render_badge(content.describe_severity(each)), " ", element("code", each.get("code", "")),
             f" {content.format_diagnostic(each)}")
        for each in attempt["diagnostics"]
    ]  # fmt: skip
    yield element("ul", [element("li", each) for each in diagnostics]) if diagnostics else None
    yield _render_list("Acceptance checks", content.format_attempt_checks(node, attempt))
    yield _render_list("Repaired", [str(each.get("message", "")) for each in attempt["repairs"]])
    claims = content.list_claims(node, attempt)
    if claims:
        yield element("h4", "Reported files")
        yield element("div", _render_claims(claims), class_="wide")
    if attempt["answer"]:
        answer = attempt["answer"]
        size = f"Answer, {answer['characters']:,} characters"
        yield element("details", element("summary", size), _render_long(answer, "answer"))


def _render_claims(claims: Iterable[Mapping[str, Any]]) -> Markup:
    heads = [element("th", name, scope="col") for name in ("Claimed", "Found", "Why")]
    rows = [
        element(
            "tr",
            element("td", element("code", claim.get("path", ""))),
            element("td", _render_badge(content.describe_claim(claim))),
            element("td", str(claim.get("reason") or "")),
        )
        for claim in claims
    ]
    return element("table", element("thead", element("tr", heads)), element("tbody", rows))
