"""Markdown: a report for wikis, merge requests and other agents.

Text of agents is escaped: in a line, each character that has a meaning in Markdown; a long text is put into a code
block whose delimiter is longer than any in the text. Invisible characters are shown as `<U+202E>`. So no text of an
agent becomes a link, an image, HTML or a heading, or ends its code block.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from remit.terminal import escape
from remit.views.report import content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_SIGNS = re.compile(r"[\\`*\[\]<>|~&$@]|(?<![^\W_])_|_(?![^\W_])")
"""Characters with a meaning inside a line; an underscore has none between letters."""
_ADDRESS = re.compile(r"(?i)(?<=[a-z0-9]):(?=/)|(?<=www)\.|(?<=mailto):|(?<=xmpp):")
_FIRST = re.compile(r"()[-+=#:]|(\d{1,10})[.)](?=\s|$)")
"""Starts of a line that make it a heading, a rule or a list item."""
_TICKS = re.compile(r"`+")
_DEEPEST = 12


def render_markdown(report: Mapping[str, Any]) -> str:
    """Return the whole document."""
    return "\n".join([*_render_head(report), *_render_tree(report), *_render_nodes(report)]) + "\n"


# --- text ------------------------------------------------------------------------------------------------------------


def quote(text: object) -> str:
    """Return text of an agent, escaped for use inside one line."""
    line = " ".join(escape(str(text), keep="\n\t").split())
    line = _SIGNS.sub(lambda sign: f"\\{sign.group()}", line)
    line = _ADDRESS.sub(lambda sign: f"\\{sign.group()}", line)
    first = _FIRST.match(line)
    at = 0 if first is None else len(first[2] or "")
    return line if first is None else f"{line[:at]}\\{line[at:]}"


def fence(text: str) -> Iterator[str]:
    """Yield the lines of a code block with a long text."""
    shown = escape(text, keep="\n\t")
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    yield ""
    yield f"{ticks}text"
    yield shown
    yield ticks
    yield ""


def code(text: object) -> str:
    """Return text of an agent as inline code."""
    shown = " ".join(escape(str(text), keep="\n\t").split())
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    return f"{ticks} {shown} {ticks}" if "`" in shown else f"`{shown or ' '}`"


def _list(title: str, lines: Iterable[str]) -> Iterator[str]:
    shown = [f"- {line}" for line in lines]
    if shown:
        yield from ("", f"**{title}**", "", *shown)


def _render_badge(look: content.StatusBadge) -> str:
    return f"{look.mark} {quote(look.word)}"


# --- the run ---------------------------------------------------------------------------------------------------------


def _render_head(report: Mapping[str, Any]) -> Iterator[str]:
    root, totals = report["tree"][0], report["totals"]
    took = content.format_span(totals["started_ms"], totals["ended_ms"] or report["made_ms"])
    facts = (content.format_headline(report), took and f"{took} in all", content.format_usage(totals))
    yield f"# {quote(root['agent'])}: {_render_badge(content.describe(root))}"
    yield ""
    yield from (quote(root["work"]), "") if root["work"] else ()
    yield from (f"- {quote(fact)}" for fact in facts if fact)
    yield f"- Project {quote(report['project'])}, run {code(report['root_id'])}"
    yield f"- {quote(content.format_as_of(report))}"
    yield from (f"- {quote(note)}" for note in report["left_out"])


def _render_tree(report: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", "## The run", "")
    for row in report["tree"]:
        end_ms = report["made_ms"] if row["ended_ms"] is None else row["ended_ms"]
        facts = (content.format_span(row["started_ms"], end_ms), content.format_usage(row))
        note = ", ".join(fact for fact in facts if fact)
        lead = "  " * min(row["level"], _DEEPEST)
        name = f"**{quote(row['agent'])}**{f' ({quote(note)})' if note else ''}"
        yield f"{lead}- {_render_badge(content.describe(row))} {name}{': ' if row['work'] else ''}{quote(row['work'])}"


# --- one run ---------------------------------------------------------------------------------------------------------


def _render_nodes(report: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", "## Runs")
    for node in report["nodes"]:
        run = node["run"]
        yield from ("", f"### {quote(run['agent'])}: {_render_badge(content.describe(run))}", "")
        yield from (f"- {name}: {quote(value)}" for name, value in content.list_facts(report, node))
        yield from _render_asked(node["asked"])
        yield from _render_result(node["result"]) if node["result"] else _render_open(run)
        yield from _render_checks(node["checks"])
        for attempt in node["attempts"]:
            yield from _render_attempt(node, attempt)
        unclaimed = (f"{code(each['path'])} {quote(each['kind'])}" for each in node["unclaimed"])
        yield from _list("Changed, but not reported", unclaimed)
        yield from _list("Finish steps", map(quote, content.format_steps(node["steps"])))
        if node["left_out"]:
            yield from ("", f"Not everything is shown: {quote(', '.join(node['left_out']))}.")


def _render_long(text: Mapping[str, Any], name: str) -> Iterator[str]:
    yield from fence(text["text"])
    if text["cut"]:
        yield quote(content.format_cut(text, name))


def _render_asked(asked: Mapping[str, Any]) -> Iterator[str]:
    if asked["text"]:
        yield from ("", "**Asked**")
        yield from _render_long(asked, "prompt")
    yield from _list("Inputs", (f"{code(name)} = {quote(value)}" for name, value in asked["inputs"].items()))
    yield from _list("Given to read", map(quote, content.format_context(asked["context"])))


def _render_checks(checks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The acceptance checks, and the command and the output of each that didn't pass."""
    lines = (f"{content.describe_check(each).mark} {quote(content.format_check(each))}" for each in checks)
    yield from _list("Acceptance checks", lines)
    for each in checks:
        if each["answer"] != "passed" and (each.get("output") or each.get("command")):
            yield from ("", f"{quote(each['name'])}: {code(each.get('command') or each['name'])}")
            yield from fence(each["output"]) if each.get("output") else ()


def _render_open(run: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", "**Now**", "", quote(run["activity"] or "It has not answered yet."))
    if run["waits_for"]:
        yield from ("", f"Waits for {quote(', '.join(map(str, run['waits_for'])))}.")


def _render_result(result: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", "**Result**", "", quote(result["summary"] or "It has no summary."))
    artifacts = result["artifacts"] or ()
    yield from _list("Files", (f"{code(each.get('path', ''))} {quote(each.get('summary', ''))}" for each in artifacts))
    yield from _list("Errors", (quote(content.format_error(each)) for each in result.get("errors", ())))
    yield from _list("Next", map(quote, [result["next_steps"]] if result.get("next_steps") else ()))
    yield from _list("Notes", map(quote, result["remit"].get("notes", ())))


def _render_attempt(node: Mapping[str, Any], attempt: Mapping[str, Any]) -> Iterator[str]:
    span = content.format_span(attempt["started_ms"], attempt["ended_ms"])
    yield from (
        "",
        f"#### Attempt {attempt['number']}: {_render_badge(content.describe_attempt(attempt))} {span}".rstrip(),
    )
    diagnostics = (
        f"{_render_badge(content.describe_severity(each))} {code(each.get('code', ''))} "
        f"{quote(content.format_diagnostic(each))}"
        for each in attempt["diagnostics"]
    )
    yield from _list("Diagnostics", diagnostics)
    yield from _list("Acceptance checks", map(quote, content.format_attempt_checks(node, attempt)))
    yield from _list("Repaired", (quote(each.get("message", "")) for each in attempt["repairs"]))
    claims = (
        f"{code(each.get('path', ''))}: {_render_badge(content.describe_claim(each))}"
        + (f" ({quote(each['reason'])})" if each.get("reason") else "")
        for each in content.list_claims(node, attempt)
    )
    yield from _list("Reported files", claims)
    if attempt["answer"]:
        yield from ("", "**Answer**")
        yield from _render_long(attempt["answer"], "answer")
