"""Labels: what the line that introduces a block calls it.

Owns the words by which a message sets a block aside: a draft, an example, what somebody else answered earlier.
"""

from __future__ import annotations

import re
from typing import Literal, cast

Aside = Literal["thinking", "quoted", "draft", "example", "earlier"]

_FENCE_LINE = re.compile(r"(?:```|~~~)[^\n]{0,40}\s*\Z")
_LABEL = re.compile(
    r"\b(?:(?P<draft>draft|preliminary|tentative|provisional|not (?:yet )?(?:the )?final|first attempt|scratch)"
    r"|(?P<example>examples?|sample|template|placeholder|quot(?:e|ed|ing)|skeleton|schema|expected format|for instance)"
    r"|(?P<earlier>previous(?:ly)?|earlier|prior|old|original|superseded|outdated|reference|other agent"
    r"|(?:sub)?agent (?:returned|replied|said|reported)))\b"
)
_FINAL = re.compile(
    r"(?<!not )(?<!not yet )(?<!not the )(?<!yet the )\b(?:final|corrected|actual|real|updated|revised|my return)\b"
)
LABEL_CHARS = 160


def read_label(before: str) -> Aside | None:
    """What the line that introduces a block calls it: a draft, an example, somebody's earlier answer."""
    fence = max(before.rfind("```"), before.rfind("~~~"))
    head = (before[:fence] if fence >= 0 and _FENCE_LINE.match(before, fence) else before).rstrip()
    line = head[head.rfind("\n") + 1 :].strip()
    if not line or len(line) > LABEL_CHARS or not (line[-1] in ":*_" or line[0] in "#*_"):
        return None
    line = line.lower()
    label = _LABEL.search(line)
    if not label or _FINAL.search(line):
        return None
    return cast("Aside", label.lastgroup)
