"""Have agents say every form of secret there is, and look for it in everything that Remit writes down or shows.

Run as `python torture/leaks.py`; `--help` lists the options. Each form goes through two delegations, one that is
completed and one that fails, in the request, the summary, the files' captions, the errors and the next steps. Then the
result, every file of the workspace outside `.remit`, git's messages, and what `show`, `logs`, `errors` and
`ps` print are searched. The ledger keeps what was said word for word: there each secret must be found, or
the search would prove nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from remit.cli import run
from remit.runs.request import Request
from remit.runs.workspace import Workspace
from tests.support.secret_samples import NAMED, STARTS
from torture.stage import spread
from torture.tally import tell

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMS = {name: (begin + rest, rest) for name, (begin, rest) in STARTS.items()} | NAMED
"""A text with each form of secret, and the part of it that nobody may see."""
ENDINGS = ("completed", "failed")
VIEWS = (
    ("show", "--full"), ("show", "--json"), ("logs",), ("logs", "--json"), ("report", "--json"), ("report", "--md"),
    ("report", "--html"),
)  # fmt: skip
OVERVIEWS = (("ps", "--all"), ("ps", "--all", "--json"), ("errors",), ("errors", "--json"), ("status",), ("tree",))
AGENT = '---\nname: worker\nversion: "1.0.0"\nagent_type: research\n---\n\n# worker\n'
_SESSION = re.compile(r"sess_\w+")


class Leak(NamedTuple):
    """A secret that was seen where it should not be."""

    form: str
    place: str


def make_answer(prompt: str, text: str, word: str, path: str) -> str:
    """A good return with a secret wherever an agent may write something."""
    fault = {"type": "tool", "message": f"It broke at {text}", "recoverable": True, "recommendation": f"Use {text}"}
    answer: dict[str, Any] = {
        "status": word,
        "summary": f"It was done with {text[:300]} at last. Nothing else was needed.",
        "artifacts": [{"type": "report", "path": path, "summary": f"With {text}"}] if word == "completed" else [],
        "metadata": {"session_id": _SESSION.findall(prompt)[-1], "duration_seconds": 1, "agent_type": "worker",
                     "delegation_depth": 1, "delegation_path": ["orchestrator", "worker"]},
        "errors": [fault] if word == "failed" else [],
        "next_steps": f"Go on with {text}",
    }  # fmt: skip
    return json.dumps(answer)


async def play(ws: Workspace, name: str, text: str, word: str) -> tuple[str, str]:
    """One delegation; its session, and all that its caller is given."""
    path = f"out/{name}-{word}.md"

    def act(prompt: str) -> str:
        file = Path(ws.root, path)
        file.parent.mkdir(exist_ok=True)
        file.write_text("# Report\n\nWhat was found.\n")
        return make_answer(prompt, text, word, path)

    result = await ws.run(Request("worker", f"Do it with {text}", function=act, evidence=True, reasks=0))
    assert result.status == word, (name, result.status, result.diagnostics)
    return result.session_id, repr(result)


async def play_all(root: Path, names: list[str]) -> dict[tuple[str, str], tuple[str, str]]:
    """Both delegations of each form."""
    async with Workspace.open(root, environ={"PATH": os.environ["PATH"]}) as ws:
        return {(name, word): await play(ws, name, FORMS[name][0], word) for name in names for word in ENDINGS}


def read_view(*command: str) -> str:
    """What a command prints, on both streams."""
    with io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) as out:
        with redirect_stdout(out), redirect_stderr(out):
            run([*command])
        raw = out.buffer
        assert isinstance(raw, io.BytesIO)
        return raw.getvalue().decode("utf-8", "replace")


class Text(NamedTuple):
    """Something that Remit has written down or shows."""

    place: str
    text: str
    form: str = ""
    """The only form that can be in it; empty where every one can."""


def list_texts(root: Path, told: dict[tuple[str, str], tuple[str, str]]) -> Iterator[Text]:
    """Everything that Remit has written down outside of its own folder, or shows."""
    for file in sorted(root.rglob("*")):
        if file.is_file() and not {".remit", ".git"} & set(file.relative_to(root).parts):
            yield Text(str(file.relative_to(root)), file.read_text(errors="replace"))
    log = subprocess.run(["git", "log", "--format=%B"], cwd=root, capture_output=True, text=True, check=True)
    yield Text("git log", log.stdout)
    for command in OVERVIEWS:
        yield Text(" ".join(command), read_view(*command))
    for (name, word), (session_id, result) in told.items():
        yield Text(f"the result, {word}", result, name)
        for view, *options in VIEWS:
            yield Text(" ".join((view, *options, word)), read_view(view, session_id, *options), name)


def find_leaks(names: list[str], texts: list[Text]) -> list[Leak]:
    """Every secret that stands in a text."""
    return [
        Leak(name, each.place)
        for each in texts
        for name in ([each.form] if each.form else names)
        if FORMS[name][1] in each.text
    ]


def make_workspace(root: Path) -> None:
    """A repository with one agent."""
    (root / "agents").mkdir(parents=True)
    (root / "agents" / "worker.md").write_text(AGENT)
    (root / "remit.toml").write_text("")
    for command in (("init", "-q"), ("config", "user.name", "a"), ("config", "user.email", "a@example.invalid"),
                    ("add", "."), ("commit", "-q", "-m", "one")):  # fmt: skip
        subprocess.run(["git", *command], cwd=root, check=True)


def main() -> int:
    """Play all forms, or some, and print where any was seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--most", type=int, default=0, metavar="N", help="at most N forms, evenly spread")
    parser.add_argument("--only", metavar="FORM", choices=FORMS, help="one form")
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    options = parser.parse_args()
    began = time.perf_counter()
    names = [options.only] if options.only else spread(list(FORMS), options.most)
    folder = Path(tempfile.mkdtemp(prefix="remit-leaks-"))
    try:
        root = folder / "workspace"
        make_workspace(root)
        os.chdir(root)
        told = asyncio.run(play_all(root, names))
        texts = list(list_texts(root, told))
        kept = b"".join(file.read_bytes() for file in (root / ".remit").rglob("*") if file.is_file())
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    leaks = find_leaks(names, texts)
    unseen = [name for name in names if FORMS[name][1].splitlines()[0].encode() not in kept]
    tell(len(names), len(leaks) + len(unseen), texts=len(texts))
    if options.json:
        counts = {"forms": len(names), "texts": len(texts), "unseen": unseen}
        print(json.dumps(counts | {"leaks": [each._asdict() for each in leaks]}))
    else:
        for each in leaks[:40]:
            print(f"LEAKED {each.form}: {each.place}\n  again: python torture/leaks.py --only {each.form}")
        for name in unseen:
            print(f"NOT SAID {name}: nothing is proved")
        seconds = time.perf_counter() - began
        print(f"{len(names)} forms of secrets in {len(texts):,} texts: {len(leaks)} leaked, {seconds:.0f} s")
    return 1 if leaks or unseen else 0


if __name__ == "__main__":
    sys.exit(main())
