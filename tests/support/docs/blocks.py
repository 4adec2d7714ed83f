"""The fenced blocks of the documentation's pages, and what a page says about them where no reader sees it.

Owns how a page is read. An HTML comment right above a block says what the block needs, several wishes joined by `;`:

    in: examples/faulty     the folder that the block begins in is a copy of this one; otherwise it is empty
    has: examples           the folder has a copy of this one in it, at the same place
    goes on                 the block begins in the folder, and in the shell, in which the one before ended
    with: claude            something must be there: `claude`, `postgres`, `curl`, or `time` for what takes long
    before: COMMAND         a command is run first
    exits: 1                its commands end with this exit code, where no output is shown
    file: NAME              the block is the text of this file
    prints                  the block is what the one before prints
    of: NAME                the settings are those of another program
    not run: REASON         nobody can run it here
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.support.paths import ROOT

LEFT_OUT = ("decisions", "reference")
"""Folders whose pages say why, or are built by `make docs`: they have tests of their own."""
_FENCE = re.compile(r"^( *)(`{3,})(\w*)\n(.*?)^\1\2\n", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--(.*?)-->\s*\Z", re.DOTALL)
WISHES = ("in", "has", "goes on", "with", "before", "exits", "file", "prints", "of", "not run")
_NEXT = re.compile(rf";(?=\s*(?:{'|'.join(WISHES)})\b)")


class Block(NamedTuple):
    """A fenced block."""

    page: str
    line: int
    language: str
    text: str
    wishes: dict[str, str]

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        return f"{self.page}:{self.line}"


def list_pages() -> list[str]:
    """The pages whose blocks are run, as paths from the project's folder."""
    found = [page.relative_to(ROOT) for page in (ROOT / "docs").rglob("*.md")]
    docs = sorted(str(page) for page in found if page.parts[1] not in LEFT_OUT)
    examples = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "examples").rglob("README.md"))
    return ["README.md", *docs, *examples]


def load_blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    return parse_blocks(page, (ROOT / page).read_text(encoding="utf-8"))


def parse_blocks(page: str, text: str) -> list[Block]:
    """The blocks in a page's text, in order."""
    blocks = []
    for found in re.finditer(_FENCE, text):
        line = text.count("\n", 0, found.start()) + 1
        indent, _, language, inner = found.groups()
        body = "".join(each.removeprefix(indent) for each in inner.splitlines(keepends=True))
        blocks.append(Block(page, line, language, body, _read_wishes(f"{page}:{line}", text[: found.start()])))
    return blocks


def list_scenes(blocks: list[Block]) -> list[list[Block]]:
    """The blocks that are run one after the other in one folder."""
    scenes: list[list[Block]] = []
    for block in blocks:
        if scenes and ("goes on" in block.wishes or "prints" in block.wishes):
            scenes[-1].append(block)
        else:
            scenes.append([block])
    return scenes


def _read_wishes(place: str, before: str) -> dict[str, str]:
    """What the comments right above a block say."""
    wishes: dict[str, str] = {}
    while found := _COMMENT.search(before[before.rfind("<!--") :] if "<!--" in before else ""):
        for wish in _NEXT.split(found[1]):
            name, _, value = wish.strip().partition(":")
            if name not in WISHES:
                raise ValueError(f"{place}: there is no wish '{name}'")
            wishes[name] = value.strip()
        before = before[: before.rfind("<!--")]
    return wishes
