"""Commands that agents run all day and that a deny list must not get in the way of.

They are written as they come up in work on a repository, the awkward ones among them: loops, here-documents, one-liners
in other languages, variables, pipelines. `tests/data/ordinary_commands.jsonl` has them.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from tests.support.paths import DATA

DENIED = (
    "rm", "rm -rf", "sudo", "curl", "git push", "dd", "chmod +x", "npm publish", "pip install", "kubectl delete",
    "docker run", "shutdown", "terraform destroy", "wget",
)  # fmt: skip
"""What a deny list names."""


class Ordinary(NamedTuple):
    """A command, and what may be denied while it is run."""

    kind: str
    command: str
    deny: tuple[str, ...]


def list_ordinary() -> list[Ordinary]:
    """Every command with the deny list, less what it uses itself."""
    lines = (DATA / "ordinary_commands.jsonl").read_text("utf-8").splitlines()
    return [Ordinary(row["kind"], row["command"], _list_denied(**row)) for row in map(json.loads, lines)]


def _list_denied(kind: str, command: str) -> tuple[str, ...]:
    return tuple(each for each in DENIED if kind == MENTIONS or not uses(command, each))


def uses(command: str, pattern: str) -> bool:
    """Whether a command has the words of a pattern, the first of them somewhere before the others."""
    if pattern == "rm -rf":
        pattern = "rm"
    words = (rf"(?<![\w./-]){re.escape(word)}\b" for word in pattern.split())
    return re.search(".*?".join(words), command) is not None


MENTIONS = "only mentioned"
"""Here the denied words stand where nothing is started by them: the whole list applies."""
