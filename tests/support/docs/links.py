"""The links of a page of Markdown, and what they can lead to."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from tools.reference.markdown import name_anchor

_FENCED = re.compile(r"^( *)(`{3,}).*?^\1\2$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"\]\(<?([^)<>\s]+)>?\)|^\[[^\]]+\]: (\S+)$", re.MULTILINE)
_ELSEWHERE = ("http://", "https://", "mailto:")


class Link(NamedTuple):
    """Where a link leads, as it is written."""

    file: str
    anchor: str


def list_links(text: str) -> list[Link]:
    """The links of a page that lead to a file of ours. What stands in code is none."""
    plain = _CODE.sub("", _FENCED.sub("", text))
    found = [first or second for first, second in _LINK.findall(plain)]
    return [Link(*each.partition("#")[::2]) for each in found if not each.startswith(_ELSEWHERE)]


@cache
def list_anchors(text: str) -> frozenset[str]:
    """The headings of a page as links name them; one that is there already gets a number."""
    seen: dict[str, int] = {}
    anchors = set()
    for heading in re.findall(r"^#{1,6} (.*)$", _FENCED.sub("", text), re.MULTILINE):
        name = name_anchor(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
        number = seen[name] = seen.get(name, -1) + 1
        anchors.add(f"{name}-{number}" if number else name)
    return frozenset(anchors)
