"""Ordinary work: commands that developers type all day, and builds of three projects, all without a network.

Owns the project that they work in. The commands are data, in `tests/data/confine_work.jsonl`; `torture/confinement.py`
runs them bare and confined and compares.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_DATA: Final = Path(__file__).resolve().parents[1] / "tests" / "data"


class Work(NamedTuple):
    """A command, and what it needs."""

    kind: str
    """`command` or `build`."""
    name: str
    script: str
    needs: Sequence[str] = ()
    """Programs without which it isn't tried."""
    fails: str = ""
    """Why it fails for a confined agent, as the guide has it; empty if it has to work as it does bare."""
    varies: bool = False
    """Whether what it says differs from one time to the next."""


WORK: Final = tuple(Work(**json.loads(line)) for line in (_DATA / "confine_work.jsonl").read_text("utf-8").splitlines())

_WHEEL: Final = """
import zipfile
with zipfile.ZipFile("wheels/tiny-1.0-py3-none-any.whl", "w") as f:
    for name, text in {
        "tiny.py": "VALUE = 42\\n",
        "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n",
        "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "tiny-1.0.dist-info/RECORD": "tiny.py,,\\n",
    }.items():
        f.writestr(zipfile.ZipInfo(name), text)  # with a fixed time
"""
SETUP: Final = f"""
set -e
mkdir wheels && python3 - <<'X'
{_WHEEL}X
git init -q -b main . && git config user.email a@b.invalid && git config user.name n
git config commit.gpgsign false && git config gc.auto 0
git add -A && git commit -qm one
git checkout -qb settings && echo '# another' > remit.toml && git commit -qam settings
git checkout -q main && echo three >> notes.txt && git commit -qam two
"""
"""What makes a repository of the project's files: two branches, of which one has another `remit.toml`."""


def write_project(folder: Path) -> None:
    """Write the files of the project, with an agent whose permissions are those of one that builds."""
    for name, text in json.loads((_DATA / "confine_project.json").read_text("utf-8")).items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
