"""The table of commands: the tree that users type, what agents may call, and every text that names a command."""

import re
import subprocess
from importlib import import_module

import click
import pytest

from remit import commands
from tests.support.paths import ROOT

TREE = {
    "": "run ps show logs wait cancel resume retry check checks lint explain init status doctor gc serve mcp completion "
    "agent task findings errors return hooks worker config",
    "agent": "new list graph can upgrade build",
    "task": "new list show set-status start done block link phases archive sync research plan implement revise review",
    "findings": "add list show link validate stats export reindex",
    "errors": "list show resolve",
    "return": "submit prompt schema convert",
    "hooks": "install uninstall check",
    "worker": "start list drain",
    "config": "show trust",
}
MAX_HELP = 60
NO_COMMANDS = {"import", "and", "or", "on", "to", "command", "bench", "cluster", "bundles", "heartbeat", "queues"}
"""Words that follow `remit` in Python, in prose and in the names of database connections."""


def test_the_tree_is_this() -> None:
    assert {group: " ".join(commands.list_names(group)) for group in TREE} == TREE
    assert {group.name for group in commands.GROUPS} == {*TREE} - {""}
    assert [entry.name for entry in commands.COMMANDS if entry.is_hidden] == ["hook", "drive"]


@pytest.mark.parametrize("entry", commands.COMMANDS, ids=lambda entry: entry.name)
def test_each_command_is_there_and_has_a_short_help(entry: commands.CommandEntry) -> None:
    assert isinstance(getattr(import_module(entry.module), entry.attribute), click.Command)
    assert entry.help[0].isupper()
    assert entry.help.endswith(".")
    assert len(entry.help) <= MAX_HELP
    assert bool(entry.section) is (" " not in entry.name and not entry.is_hidden)


def test_a_short_form_is_the_command_of_a_task() -> None:
    assert commands.get_command("research") is commands.get_command("task research") is not None
    assert not {*commands.SHORT_FORMS} & {*commands.list_names()}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("run a b", "run"), ("-q run a", "run"), ("-C /tmp --color never task new x", "task new"),
        ("--color=never ps", "ps"), ("task audit 1", None), ("task", None), ("", None), ("--help", None),
        ("-C", None), ("review 1", "task review"),
    ],
)  # fmt: skip
def test_a_line_calls_a_command(line: str, name: str | None) -> None:
    found = commands.find_command(line.split())
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("line", "is_open"),
    [
        ("", True), ("--help", True), ("--version", True), ("task", True), ("task --help", True), ("hooks", True),
        ("check a.md", True), ("-q check a.md", True), ("lint", True), ("lint --diff", True), ("lint a --fix", False),
        ("show", True), ("show x --full", True), ("show x -o a.html", False), ("show -oa.html", False),
        ("show --output=a.html", False), ("task sync --check", True), ("task sync", False),
        ("task sync --repair", False), ("task new x", True), ("task research 1", False), ("research 1", False),
        ("task audit 1", False), ("run a b", False), ("config show", True), ("config trust --yes", False),
        ("worker list", True), ("worker start", False), ("hooks uninstall", False), ("agent can a bash ls", True),
        ("agent new planning a", False), ("drive x", False), ("hook claude", False), ("nothing", False),
    ],
)  # fmt: skip
def test_what_an_agent_may_call_without_a_ticket(line: str, *, is_open: bool) -> None:
    assert commands.is_open_to_agents(line.split()) is is_open


def test_other_words_lead_to_commands() -> None:
    for word, meant in commands.OTHER_WORDS.items():
        assert commands.find_command(word.split()) is None, word
        assert meant == "--version" or commands.find_command(meant.split()) is not None, meant


def test_every_command_that_a_text_names_exists() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    ends = (".py", ".md", ".js", ".toml", ".yaml", ".yml", ".json", ".sh", ".service")
    files = [name for name in listed.split() if name.endswith(ends) and not name.startswith("tests/")]
    files = [name for name in files if (ROOT / name).is_file()]
    root = {*commands.list_names(), *commands.SHORT_FORMS, "hook", "drive"}
    below = {group.name: {*commands.list_names(group.name)} for group in commands.GROUPS}
    own = {"audit"}  # a command of the examples' own
    unknown = []
    for name in files:
        text = (ROOT / name).read_text("utf-8", "replace")
        for found in re.finditer(r"(?<![\w/.@:-])remit (?:-C \S+ |-q )?([a-z][a-z-]*)(?: ([a-z][a-z-]*))?", text):
            word, more = found.groups()
            if word in NO_COMMANDS:
                continue
            if word not in root or (word in below and more is not None and more not in below[word] | own):
                unknown.append(f"{name}:{text[: found.start()].count(chr(10)) + 1}: {found[0]}")
    assert len(files) > 1000
    assert unknown == []
