"""What a page shows against what is printed: equal but for what differs from run to run.

Owns what is smoothed away (ids, times, hashes), and that `…` stands for anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_DIFFERENT = (
    (r"(?m)^sess_\d+_\w{6}: .* follow it with: .*\n", ""),  # on a terminal a live tree, which leaves nothing behind
    (r"\[\[play \w+\]\] ", ""),  # by which a scripted model knows its part
    (r"(?<=\S) {2,}", "  "),  # columns are as wide as what stands in them
    (r"sess_\d+_\w{6}", "sess_1_abcdef"),
    (r"(?<=\ds) \(\d+:\d\d:\d\d\)", ""),  # what pytest adds after a minute
    (r"\b\d+ min( \d+ s)?\b|\b\d+(\.\d+)? ?(s|ms)\b", "1 s"),
    (r"\b20\d\d-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?", "2026-01-01"),
    (r"\b20\d{6}\b", "20260101"),
    (r"\b\d\d:\d\d:\d\d\b", "00:00:00"),
    (r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b", "0abcdef"),
)


def smooth(text: str, folder: Path | None = None) -> str:
    """A text without what differs from run to run."""
    if folder is not None:
        text = text.replace(str(folder), "~/project")
    for pattern, same in _DIFFERENT:
        text = re.sub(pattern, same, text)
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def is_shown(shown: str, printed: str) -> bool:
    """Whether smooth texts agree. `…` in a line stands for any text in it, alone on a line for any lines."""
    pattern = ""
    for line in shown.splitlines(keepends=True):
        parts = [re.escape(part) for part in line.split("…")]
        pattern += "(?s:.*)" if line.strip() == "…" else "[^\n]*".join(parts)
    return re.fullmatch(pattern, printed) is not None


def split_session(text: str) -> list[tuple[str, str]]:
    """A console block as its commands, each with what is shown below it. A backslash goes on in the next line."""
    session: list[tuple[str, str]] = []
    typing = False
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            session.append((line[2:], ""))
        elif not session:
            raise ValueError(f"a session begins with a command, not with {line!r}")
        elif typing:
            session[-1] = (session[-1][0] + line, "")
        else:
            session[-1] = (session[-1][0], session[-1][1] + line)
        typing = line.endswith("\\\n") and (line.startswith("$ ") or typing)
    return [(_strip_comment(command), shown) for command, shown in session]


def _strip_comment(command: str) -> str:
    """A comment behind a command is for people."""
    return re.sub(r"\s{2,}# .*", "", command).strip()
