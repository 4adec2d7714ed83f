"""The parsed text of an agent file: frontmatter, tags, headings and ignore comments.

Parsing never fails. If a file or its frontmatter can't be read, the document says why and has the parts that can.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from remit.agents.frontmatter import Frontmatter, find_frontmatter, parse_frontmatter
from remit.agents.outline import Outline, make_outline
from remit.agents.profiles import Profile, choose_profile, find_place
from remit.agents.tags import Body, Tag, scan_body
from remit.harnesses import codex
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.positions import LineIndex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.agents.frontmatter import Span
    from remit.model import TextSpan

MAX_BYTES = 1024 * 1024
"""An agent file is a prompt, and a larger prompt wouldn't fit into any model's context."""
MAX_IGNORES = 1_000


class Ignore(NamedTuple):
    """An ignore comment: `<!-- remit: ignore[CODE, …] -->` or, in the frontmatter, `# remit: ignore[CODE, …]`."""

    codes: tuple[str, ...]
    """Empty: all codes."""
    line: int
    """The line whose diagnostics are hidden: the comment's, or the next if the comment is alone on its line."""
    whole_file: bool
    place: TextSpan
    cut: tuple[int, int]
    """The span to delete: the comment, or its whole line if it is alone there."""


class AgentDocument:
    """One agent file."""

    def __init__(
        self,
        path: str,
        text: str,
        profile: Profile,
        place: Profile | None,
        *,
        frontmatter: Frontmatter | None,
        body: Body,
        body_start: int,
        unreadable: str | None = None,
        unclosed_frontmatter: bool = False,
    ) -> None:
        self.path = path
        """Relative to the workspace root, with slashes."""
        self.text = text
        self.profile = profile
        self.place = place
        """The harness whose folder contains the file, or None."""
        self.frontmatter = frontmatter
        self.body = body
        self.body_start = body_start
        self.unreadable = unreadable
        """Why the file can't be read, or None."""
        self.unclosed_frontmatter = unclosed_frontmatter
        self.ignores: list[Ignore] = []
        self._lines: LineIndex | None = None
        self._lowered: str | None = None
        self._outline: Outline | None = None

    @property
    def stem(self) -> str:
        """The file name without its extension."""
        return self.path.rpartition("/")[2].rpartition(".")[0] or self.path.rpartition("/")[2]

    @property
    def values(self) -> Mapping[str, Any]:
        """The frontmatter's values. Empty if the file has no frontmatter."""
        return self.frontmatter.values if self.frontmatter else {}

    @property
    def has_head(self) -> bool:
        """Whether the frontmatter could be read, so that a key that isn't in it is missing."""
        found = self.frontmatter
        return found is not None and not self.unclosed_frontmatter and bool(found.values or not found.problems)

    @property
    def lines(self) -> int:
        """The number of lines."""
        return self.text.count("\n") + (not self.text.endswith("\n") and bool(self.text))

    @property
    def lowered(self) -> str:
        """The body in lower case. Searching it is much faster than a case-insensitive pattern."""
        if self._lowered is None:
            self._lowered = self.text[self.body_start :].lower()
        return self._lowered

    @property
    def outline(self) -> Outline:
        """The sections and steps of the body."""
        if self._outline is None:
            self._outline = make_outline(self.text, self.body)
        return self._outline

    def get(self, *keys: str) -> Any:  # noqa: ANN401 - any YAML value
        """Return the frontmatter's value at a path of keys, or None."""
        value: Any = self.values
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def get_section(self, key: str) -> Any:  # noqa: ANN401 - any YAML value
        """Return the value of a top-level key that should be a table, or None if its YAML is broken."""
        value = self.values.get(key)
        broken = isinstance(value, str) and self.frontmatter is not None and not self.frontmatter.whole
        return None if broken else value

    def text_of(self, tag: Tag) -> str:
        """Return the text inside a tag, without surrounding whitespace."""
        return self.text[tag.inner_start : tag.inner_end].strip()

    def locate(self, span: Span) -> TextSpan:
        """Return the lines and columns of a span."""
        if self._lines is None:
            self._lines = LineIndex(self.text)
        return self._lines.locate(*span)

    def span_of(self, pointer: str) -> Span:
        """Return the span of a frontmatter value, or of its nearest parent if the value is missing."""
        found = self.frontmatter
        if found is None:
            return 0, min(1, len(self.text))
        while pointer:
            if pointer in found.spans:
                return found.spans[pointer]
            pointer = pointer.rpartition("/")[0]
        return found.start, min(found.start + 1, len(self.text))

    def key_span(self, pointer: str) -> Span:
        """Return the span of a frontmatter key, or of its value if it has no key."""
        keys = self.frontmatter.keys if self.frontmatter else {}
        return keys.get(pointer) or self.span_of(pointer)


def parse_document(path: str, content: bytes | str) -> AgentDocument:
    """Parse an agent file. Invalid bytes are kept as surrogates, so that fixes write them back unchanged."""
    text = content if isinstance(content, str) else ""
    if isinstance(content, bytes):
        if len(content) > MAX_BYTES:
            return make_unreadable(path, f"it is larger than {MAX_BYTES // 1024} KiB")
        if b"\0" in content:
            return make_unreadable(path, "it contains a NUL byte, so it isn't text")
        text = content.decode("utf-8", "surrogateescape")
    unreadable = "it isn't UTF-8" if not text.isascii() and _HALF.search(text) else None
    if path.endswith(".toml"):
        return _parse_toml(path, text, unreadable)
    return _parse_markdown(path, text, unreadable)


_HALF = lazy("[\ud800-\udfff]")


def make_unreadable(path: str, unreadable: str) -> AgentDocument:
    """Return an empty document for a file that can't be read."""
    place = find_place(path)
    return AgentDocument(
        path, "", place or "standard", place, frontmatter=None, body=Body(0, 0), body_start=0, unreadable=unreadable
    )


def _parse_markdown(path: str, text: str, unreadable: str | None) -> AgentDocument:
    found = find_frontmatter(text)
    frontmatter, body_start, unclosed = None, 0, False
    if found is not None:
        start, end, body_start = found
        frontmatter = parse_frontmatter(text, start, end)
        unclosed = end >= body_start
    body = scan_body(text, body_start)
    values = frontmatter.values if frontmatter else {}
    profile = choose_profile(path, values, {tag.name for tag in body.root.children})
    document = AgentDocument(
        path,
        text,
        profile,
        find_place(path),
        frontmatter=frontmatter,
        body=body,
        body_start=body_start,
        unreadable=unreadable,
        unclosed_frontmatter=unclosed,
    )
    document.ignores = _find_ignores(document)
    return document


def _parse_toml(path: str, text: str, unreadable: str | None) -> AgentDocument:
    from remit.agents.toml import parse_toml  # noqa: PLC0415 - few workspaces have Codex's files

    document = make_unreadable(path, "")
    document.text, document.unreadable = text, unreadable
    document.frontmatter = parse_toml(text)
    document.body_start = len(text)
    document.body = scan_body(text, len(text))
    document.ignores = _find_ignores(document)
    return document


def read_body(document: AgentDocument) -> str:
    """Return the agent's instructions, with line feeds and without ignore comments."""
    given = document.get(codex.INSTRUCTIONS_KEY) if document.profile == "codex" else None
    if isinstance(given, str):  # a TOML file has no body
        return given.replace("\r\n", "\n").strip("\n").rstrip() + "\n"
    text, parts, at = document.text, [], document.body_start
    for start, end in sorted(ignore.cut for ignore in document.ignores):
        if start >= at:
            parts.append(text[at:start])
            at = end
    body = "".join([*parts, text[at:]])
    return body.replace("\r\n", "\n").strip("\n").rstrip() + "\n"


# --- ignore comments -------------------------------------------------------------------------------------------------

_IGNORE = lazy(
    r"(?P<open><!--|#)[ \t]{0,9}remit:[ \t]{0,9}ignore(?P<file>-file)?"
    r"(?:\[(?P<codes>[A-Za-z0-9_, \t-]{0,400})\])?[ \t]{0,9}(?:-->)?"
)


def _find_ignores(document: AgentDocument) -> list[Ignore]:
    """Return the ignore comments in the frontmatter, and in the body outside of code."""
    text, ignores = document.text, []
    if "remit:" not in text:
        return []
    comments = {start for start, _ in document.body.comments}
    for found in islice(_IGNORE.finditer(text), MAX_IGNORES):
        in_head = found.start() < document.body_start
        if in_head is (found["open"] == "<!--"):
            continue
        if not in_head and found.start() not in comments:
            continue
        codes = tuple(code.strip().upper() for code in (found["codes"] or "").split(",") if code.strip())
        place = document.locate(found.span())
        start = text.rfind("\n", 0, found.start()) + 1
        end = text.find("\n", found.end()) + 1 or len(text)
        alone = not (text[start : found.start()] + text[found.end() : end]).strip()
        cut = (start, end) if alone else found.span()
        ignores.append(Ignore(codes, place.line + alone, bool(found["file"]), place, cut))
    return ignores
