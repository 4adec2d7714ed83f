"""Links of a task to its plan, reports and summaries: read from TODO.md and state.json, and written to TODO.md.

Accepts the forms that projects use: `- **Plan**: [path]`, `- **Research**: [name](path), [name](path)`, and a list
below `- **Research Artifacts**:`. No side effects.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.tasks.markdown import clean_line, find_line_end, is_within, walk_fields, walk_lines
from remit.tasks.task import Linked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.tasks.markdown import Field, Span

KINDS = ("plan", "research", "summary")
_FIELDS = {
    "plan": "plan", "implementation plan": "plan", "plan link": "plan",
    "research": "research", "research report": "research", "research reports": "research", "report": "research",
    "reports": "research", "summary": "summary", "implementation summary": "summary",
    "artifacts": "", "research artifacts": "", "implementation artifacts": "",
}  # fmt: skip
"""The fields with links, in lower case, and their kind; if the kind is empty, the path decides it."""
_LABELS = {"plan": ("Plan", "Implementation Plan"), "research": ("Research", "Research Report"),
           "summary": ("Summary", "Implementation Summary")}  # fmt: skip
"""The name of a new field, and its name if a field of the first name has prose."""
_WORDS = {"plan": "plan", "research": "research", "report": "research", "summary": "summary"}
"""The types of artifacts in state.json that are linked."""
_FOLDERS = {"plans": "plan", "summaries": "summary"}
_LINK = re.compile(
    r"\[(?P<name>[^\]\[\n]{1,300})\]\((?P<named>[^()\s]{1,400})\)|\[(?P<bare>[^\]\[\s]{1,400})\]|`(?P<code>[^`\s]{1,400})`"
)
_PLAIN = re.compile(r"(?P<plain>[^\s`\[\]()]{1,400}\.md)")
_FOLDER = re.compile(r"(?:\A|(?<=/))([0-9]{1,9}_)")
"""The folder of a task, `{number}_{slug}`."""
_EMPTY = ("", "-", "—", "none", "n/a", "tbd", "not yet", "pending")


class Link(NamedTuple):
    """A link in TODO.md, and its form."""

    kind: str
    path: str
    """The path as the file gives it."""
    start: int
    end: int
    written: str
    """The text of the whole link."""
    field: Field
    lead: str = ""
    """The text before it on a line below its field; "" on the field's own line."""

    @property
    def is_listed(self) -> bool:
        """True if its field lists artifacts of several kinds."""
        return not _FIELDS[self.field.name.strip().lower()]


def find_kind(path: str, word: str = "") -> str:
    """Return the kind of a linked file, by its type or its folder (R1.20); "" for other files."""
    if word in _WORDS:
        return _WORDS[word]
    *_, folder, name = ("", *path.split("/"))
    if folder == "reports" and name.startswith("research"):
        return "research"
    return _FOLDERS.get(folder, "")


def read_state_links(fields: Mapping[str, Any]) -> tuple[Linked, ...]:
    """Return the links of a task in state.json, the current one of each kind last: its artifacts, then `plan_path`."""
    listed = fields.get("artifacts")
    found = []
    for each in listed if isinstance(listed, list) else ():
        path, word = (each.get("path"), each.get("type")) if isinstance(each, dict) else (each, "")
        if isinstance(path, str) and path.strip():
            kind = find_kind(path, word if isinstance(word, str) else "")
            found += [Linked(kind, path)] if kind else []
    plan = fields.get("plan_path")
    return (*found, Linked("plan", plan)) if isinstance(plan, str) and plan.strip() else tuple(found)


def find_links(text: str, start: int, end: int, fences: list[Span]) -> Iterator[Link]:
    """Yield the links of a task in TODO.md, in their order. `start` is the line below its heading."""
    for field in walk_fields(text, start, end, fences):
        kind = _FIELDS.get(field.name.strip().lower())
        if kind is None:
            continue
        yield from _read_line(text, field.value_start, field.value_end, kind, field)
        for at, stop in walk_below(text, field, end):
            if not is_within(at, fences):
                yield from _read_line(text, at, stop, kind, field)


def walk_below(text: str, field: Field, end: int) -> Iterator[Span]:
    """Yield the lines that are indented below a field."""
    indent = len(field.prefix) - len(field.prefix.lstrip())
    for start, stop in walk_lines(text, find_line_end(text, field.start, end) + 1, end):
        line = text[start:stop]
        if not line.strip() or len(line) - len(line.lstrip()) <= indent or line.lstrip("-*+ \t").startswith("**"):
            return
        yield start, stop


def _read_line(text: str, start: int, end: int, kind: str, field: Field) -> Iterator[Link]:
    """Yield the links on a line: in brackets or backticks, or a field's whole value if it is a path."""
    below = start > field.value_end
    found = [hit for hit in _LINK.finditer(text, start, end) if _is_path(hit["named"] or hit["bare"] or hit["code"])]
    if not found and not below:
        found = [hit for hit in (_PLAIN.fullmatch(text, start, end),) if hit is not None]
    for hit in found:
        path = hit[hit.lastgroup or 0]
        chosen = kind or find_kind(path)
        if chosen == "research" and find_kind(path) == "summary":  # projects list a report with its summary
            chosen = "summary"
        if chosen:
            yield Link(chosen, path, *hit.span(), hit[0], field, text[start : hit.start()] if below else "")


def _is_path(text: str) -> bool:
    return "://" not in text and ("/" in text or text.endswith(".md"))


def name_file(path: str, number: int) -> str:
    """Return a path from the task's folder on, because files write the part before it in different ways."""
    steps = [step for step in path.strip().split("/") if step not in ("", ".")]
    starts = (f"{number}_", f"{number:03}_")
    at = next((index for index, step in enumerate(steps) if step.startswith(starts)), 0)
    return "/".join(steps[at:])


def find_unlinked(number: int, links: Iterable[Linked], others: Iterable[Linked]) -> list[Linked]:
    """Return the current link of each kind that the other file doesn't have. Older links may be missing.

    A task has one plan, so it is compared with the other file's current plan. A report or summary counts as linked if
    the other file has it as any kind. Paths that can't be a link in TODO.md, such as those with spaces, are ignored.
    """
    known = [(each.kind, name_file(each.path, number)) for each in others]
    plans = [name for kind, name in known if kind == "plan"][-1:]
    current = {each.kind: each for each in links if each.path.isprintable() and _PLAIN.fullmatch(each.path)}
    return [
        each
        for kind, each in current.items()
        if name_file(each.path, number) not in (plans if kind == "plan" else [name for _, name in known])
    ]


# --- writing to TODO.md ----------------------------------------------------------------------------------------------


class Placed(NamedTuple):
    """Where a link goes: a span of TODO.md and its new text, or a new field."""

    text: str
    start: int = 0
    end: int = 0
    label: str = ""
    """The name of the new field; `text` follows it."""


def find_samples(links: Iterable[Link]) -> dict[str, Link]:
    """Return a sample link for each kind: the first one in a field for only this kind, else the first in a list."""
    samples: dict[str, Link] = {}
    for link in links:
        known = samples.get(link.kind)
        if known is None or (known.is_listed and not link.is_listed):
            samples[link.kind] = link
    return samples


def place_link(text: str, link: Linked, own: list[Link], fields: list[Field], sample: Link | None) -> Placed:
    """Return how to write a link into a task of TODO.md: in the style of its other links, else of other tasks.

    `own` are the task's links, `fields` its fields, and `sample` is a link of this kind in another task. A newline in
    the result stands for the file's own line break.
    """
    alike = [each for each in own if each.kind == link.kind and not each.is_listed]
    if not alike and (sample is None or sample.is_listed):
        alike = [each for each in own if each.kind == link.kind]
    if alike:
        last = alike[-1]
        form = _render(link.path, last)
        if link.kind == "plan":
            return Placed(form, last.start, last.end)
        stop = _find_stop(text, last.end) if last.lead else last.end
        return Placed(f"\n{last.lead}{form}" if last.lead else f", {form}", stop, stop)
    named = {field.name.strip().lower(): field for field in reversed(fields)}
    form = _render(link.path, sample)
    if sample is not None and sample.lead:
        there, line = named.get(sample.field.name.strip().lower()), f"\n{sample.lead}{form}"
        if there is None:
            return Placed(line, label=sample.field.name.strip())
        below = [stop for _, stop in walk_below(text, there, len(text))]
        stop = below[-1] if below else _find_stop(text, there.value_end)
        return Placed(line, stop, stop)
    usual, other = _LABELS[link.kind]
    label = usual if sample is None or sample.is_listed else sample.field.name.strip()
    there = named.get(label.lower())
    if there is not None and there.value.strip("[] \t").lower() in _EMPTY:
        return Placed(f" {form}", len(text[: there.value_start].rstrip(" \t")), there.value_end)
    return Placed(f" {form}", label=label if there is None else other)


def _find_stop(text: str, at: int) -> int:
    stop = find_line_end(text, at, len(text))
    return stop - (text[stop - 1 : stop] == "\r")


def _render(path: str, like: Link | None) -> str:
    """Return a link to a path in the form of another one. Default: a Markdown link with the file name."""
    path = clean_line(path)
    if like is not None and _FOLDER.match(like.path):  # paths are relative to the spec folder
        found = _FOLDER.search(path)
        path = path if found is None else path[found.start(1) :]
    written = "[]()" if like is None else like.written
    if written.startswith("`"):
        return f"`{path}`"
    if not written.startswith("["):
        return path
    return f"[{path.rpartition('/')[2]}]({path})" if written.endswith(")") else f"[{path}]"
