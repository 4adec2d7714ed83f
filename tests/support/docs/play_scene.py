"""A scene of a page, played: each of its blocks is run, parsed or written down, in order, as a reader would.

Owns what is done with a block of each language.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from typing import TYPE_CHECKING, Any

import jsonschema
import yaml

import remit
from remit.config import parse_settings
from remit.returns.formats import FORMATS, render_schema
from tests.support.docs.compare import is_shown, smooth, split_session
from tests.support.docs.shell import Said, Shell
from tests.support.paths import ROOT
from tools.reference.commands import list_options, list_pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.docs.blocks import Block

QUIET = ("text", "mermaid", "markdown", "ini")
"""Languages of which nothing can be run."""
DATABASE = "postgresql://postgres:secret@localhost:5432/postgres"
"""The address that pages show; the one of the tests' own server takes its place."""


class Scene:
    """A folder, a shell in it, and what the last block printed."""

    def __init__(self, folder: Path, home: Path, more: dict[str, str]) -> None:
        self.folder = folder
        self.database = more.pop("DATABASE", DATABASE)
        self._home, self._more = home, more
        self._said = Said("", 0)

    def play(self, blocks: list[Block]) -> None:
        """Play the blocks, the first of which says what the scene begins with."""
        begin(self.folder, blocks[0])
        with Shell(self.folder, self._home, self._more) as shell:
            for block in blocks:
                if "before" in block.wishes:
                    self._expect_code(0, block, block.wishes["before"], shell)
                self._play_block(block, shell)

    def _play_block(self, block: Block, shell: Shell) -> None:
        if block.language not in ("console", "python", "sql"):
            parse(block)
        if "file" in block.wishes:
            file = self.folder / block.wishes["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif "prints" in block.wishes:
            self._compare(block, "the block above", block.text)
        elif "not run" in block.wishes:
            return
        elif block.language == "console":
            self._play_session(block, shell)
        elif block.language == "sql":
            run_sql(self.database, block.text)
        elif block.language == "python":
            script = self._home / f"block-{block.line}.py"
            script.write_text(block.text, encoding="utf-8")
            self._expect_code(0, block, f"python {script}", shell)

    def _play_session(self, block: Block, shell: Shell) -> None:
        """Where some output is shown all is compared; where none is, the exit code."""
        session = split_session(block.text)
        shows = any(shown for _, shown in session)
        for command, shown in session:
            if shows:
                self._said = shell.run(command.replace(DATABASE, self.database))
                if command.endswith("&"):
                    self._said = shell.listen(lambda text: self._agrees(shown, text))  # noqa: B023 - heard at once
                self._compare(block, command, shown)
            else:
                self._expect_code(int(block.wishes.get("exits", "0")), block, command, shell)

    def _expect_code(self, code: int, block: Block, command: str, shell: Shell) -> None:
        self._said = shell.run(command.replace(DATABASE, self.database))
        assert self._said.code == code, f"{block.place}: {command} ends with {self._said.code}: {self._said.text}"

    def _compare(self, block: Block, command: str, shown: str) -> None:
        printed = self._said.text
        agrees = self._agrees(shown, printed)
        assert agrees, f"{block.place}: {command}\n--- shown\n{shown}\n--- printed\n{printed}"

    def _agrees(self, shown: str, printed: str) -> bool:
        return is_shown(smooth(shown), smooth(printed.replace(_hide(self.database), _hide(DATABASE)), self.folder))


def _hide(address: str) -> str:
    """An address as it is printed: without the password."""
    return re.sub(r":[^:/@]+@", "@", address)


def run_sql(address: str, text: str) -> None:
    """Run statements at the server of a database, and take back what they have made for all of it."""
    import psycopg  # noqa: PLC0415 - an extra

    made = re.findall(r"CREATE (ROLE|DATABASE) (\w+)", text)
    with psycopg.connect(address, autocommit=True) as connection:
        try:
            for statement in filter(None, (part.strip() for part in text.split(";"))):
                connection.execute(statement.encode())
        finally:
            for kind, name in reversed(made):
                connection.execute(f"DROP {kind} IF EXISTS {name}".encode())


def begin(folder: Path, block: Block) -> None:
    """Make the folder that a scene begins in."""
    wishes = block.wishes
    if "in" in wishes:
        shutil.copytree(ROOT / wishes["in"], folder, dirs_exist_ok=True)
    for place in filter(None, wishes.get("has", "").split()):
        shutil.copytree(ROOT / place, folder / place, dirs_exist_ok=True)


def parse(block: Block) -> None:
    """Read a block that is not run: it is what its language says, and where it is ours, by our own rules."""
    match block.language:
        case "toml" if "of" in block.wishes:
            tomllib.loads(block.text)
        case "toml":
            parse_settings(block.text)
        case "json":
            check_return(block, json.loads(block.text))
        case "yaml":
            check_steps(block, yaml.safe_load(block.text))
        case language:
            assert language in QUIET, f"{block.place}: nobody knows what to do with {language!r}"


def check_steps(block: Block, value: Any) -> None:  # noqa: ANN401 - any YAML
    """What names our hooks or our action says nothing that they do not know."""
    assert value, block.place
    ours = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    hooks = {each["id"]: each["entry"] for each in ours}
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"].keys()
    for part in _list_mappings(value):
        unknown = {hook["id"] for hook in part.get("hooks", ())} - hooks.keys()
        for hook in () if unknown else part.get("hooks", ()):
            given = {each for each in hook.get("args", ()) if each.startswith("-")}
            unknown |= given - _load_options(hooks[hook["id"]])
        if not str(part.get("uses", "actions/")).startswith("actions/"):
            unknown |= part.get("with", {}).keys() - inputs
        assert not unknown, f"{block.place}: there is no {unknown}"


def _load_options(entry: str) -> set[str]:
    """The options of the command that an entry calls."""
    name = " ".join(word for word in entry.split()[1:] if not word.startswith("-"))
    [page] = [page for page in list_pages() if page.name == name]
    return {word for option in list_options(page.command) for word in option.opts}


def _list_mappings(value: Any) -> Iterator[dict[Any, Any]]:  # noqa: ANN401 - any YAML
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _list_mappings(part)


def check_return(block: Block, payload: Any) -> None:  # noqa: ANN401 - any JSON
    """What looks like a return fits its schema, and is accepted where it would be sent as a message."""
    like = [
        return_format
        for return_format in FORMATS.values()
        if isinstance(payload, dict) and return_format.is_like(payload)
    ]
    if like:
        return_format = max(like, key=lambda each: each.overlap(payload))
        jsonschema.validate(payload, render_schema(return_format))
        verdict = remit.check(block.text)
        assert verdict.accepted or return_format.name == "manifest", f"{block.place}: {verdict.diagnostics}"
