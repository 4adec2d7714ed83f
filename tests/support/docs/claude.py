"""Claude Code as the pages have it: the real program, with a model that plays the parts that a page tells of.

Owns the parts. A reader types a plain prompt; `claude` on the path adds the words by which the model knows its script.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from remit.testing import ScriptedModel, call, find_cli, say
from tests.support.harness_workspace import give

if TYPE_CHECKING:
    from collections.abc import Iterator

SUMMARY = "Entries leave the cache when their time is up, and in no other way. The report says where that is decided."
ARTIFACT = {"type": "report", "path": "cache.md", "summary": "How the cache is invalidated"}
SCRIPTS = {
    "lead": [
        call("task", agent="researcher", prompt="[[play researcher]] How is the cache invalidated? Write cache.md."),
        say("The researcher has written cache.md."),
    ],
    "researcher": [
        say("All done! The cache is invalidated by time, see cache.md."),
        call("write", path="cache.md", content="# The cache\n\nBy time.\n"),
        give(summary=SUMMARY, artifacts=[ARTIFACT]).grab(agent=r"You are ([\w-]+), session"),
    ],
}
"""The person's own session hands the question to a researcher, who is sent back once: it has written nothing."""
_WRAPPER = """\
#!/bin/sh
# The prompt of the page is the last word; the model plays the part of the caller. Remit's own sessions have others.
case " $* " in *" -p "*"Let the researcher"*) exec {program} "$@ [[play lead]]" ;; esac
exec {program} "$@"
"""


@contextmanager
def stage_claude(folder: Path) -> Iterator[dict[str, str] | None]:
    """What the environment of a reader's shell has in addition; None where Claude Code is not installed."""
    program = find_cli("claude")
    if program is None:
        yield None
        return
    programs = folder / "programs"
    programs.mkdir()
    (programs / "claude").write_text(_WRAPPER.format(program=program))
    (programs / "claude").chmod(0o755)
    with ScriptedModel(SCRIPTS) as model:
        environ = model.environ("claude", folder / "home")
        path = os.pathsep.join((str(programs), str(Path(sys.executable).parent), environ["PATH"]))
        yield environ | {"PATH": path}
