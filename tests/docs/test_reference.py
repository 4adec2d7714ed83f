"""The reference covers the code: every command, rule, setting, code and schema has its page, and no link is dead."""

import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from remit import config
from remit.agents.rules.register import load_all_rules
from remit.config import parse_settings
from remit.config.runs import RunSettings
from remit.runs.check_message import SCHEMAS, schema
from remit.schemas import ResultObject
from remit.validation import build_schema
from remit.views.explanations import explain, explain_all
from tests.support.docs.links import Link, list_anchors, list_links
from tests.support.postgres import Missing, running
from tools.reference import examples, settings
from tools.reference.commands import list_options, list_pages, share_out, split_exits
from tools.reference.pages import REFERENCE, play_alone, play_cluster, render_pages, write_pages
from tools.reference.rules import FAMILIES
from tools.reference.source import ROOT, match, search
from tools.reference.stage import FILES, Played, Smoothing, play
from tools.reference.variables import VARIABLES

AFAR = ("commands/worker.md", "commands/worker-start.md", "commands/worker-list.md", "commands/worker-drain.md")
"""Pages whose examples need a database."""


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Every page of the reference, without examples."""
    return render_pages([])


def list_shown() -> list[Played]:
    """Every example, before it runs."""
    stories = (examples.MESSAGES, examples.AGENTS, examples.WORK, examples.CLUSTER)
    return [Played(line, "", "", 0) for story in stories for line in re.findall(r"^\$ (.*)$", story, re.MULTILINE)]


def find_commands_without_output(pages: dict[str, str]) -> list[str]:
    """Command pages that show no example."""
    return [name for name, text in pages.items() if name.startswith("commands/") and "## Examples" not in text]


@pytest.mark.slow
def test_every_command_page_shows_what_its_examples_print() -> None:
    with TemporaryDirectory() as folder:  # a path that is shown has to be short: pytest's own are cut
        made = render_pages(play_alone(Path(folder)))
    assert find_commands_without_output(made) == ["commands/README.md", "commands/hooks-check.md", *AFAR]


@pytest.mark.slow
@pytest.mark.thorough
def test_the_commands_of_a_cluster_show_what_their_examples_print() -> None:
    try:
        with TemporaryDirectory() as folder, running() as server, server.database() as database:
            made = render_pages(play_cluster(Path(folder), database))
    except Missing as error:
        pytest.skip(f"NO POSTGRESQL: {error}")
    assert not {*AFAR} & {*find_commands_without_output(made)}


def test_an_example_that_cannot_run_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="could not run: exit code 2"):
        play("# No such option.\n$ remit ps --gone\n", tmp_path / "stage", FILES)


def test_a_build_writes_every_page_and_removes_old_ones(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "OLD001.md").write_text("gone", encoding="utf-8")
    write_pages({"rules/NEW001.md": "new\n", "codes.md": "codes\n"}, tmp_path)
    assert {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*.md")} == {
        "rules/NEW001.md": "new\n",
        "codes.md": "codes\n",
    }


def test_git_ignores_the_built_pages() -> None:
    assert "docs/reference/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert REFERENCE == ROOT / "docs" / "reference"


# Commands


def test_every_command_has_a_page_and_an_example(pages: dict[str, str]) -> None:
    commands = list_pages()
    assert not [command.name for command in commands if command.path not in pages]
    shared = share_out(list_shown(), commands)
    assert [name for name, shown in shared.items() if not shown] == ["hooks check"]  # it needs a harness
    assert len(commands) > 60


def test_every_option_is_on_its_page_and_says_what_it_is_for(pages: dict[str, str]) -> None:
    for page in list_pages():
        told = pages[page.path]
        for option in list_options(page.command):
            assert option.help, f"{page.name} {option.opts[0]}"
            assert option.opts[-1] in told, f"{page.name} {option.opts[0]}"


def test_exit_codes_are_read_from_the_help() -> None:
    known = {page.name: page.command for page in list_pages()}
    about, exits = split_exits(known["task set-status"])
    assert exits == {"0": "changed", "1": "refused", "2": "could not run"}
    assert not [part for part in about if "Exit code" in part]
    assert split_exits(known["retry"])[1] == {"": "as of [`remit run`](run.md#exit-codes)"}


def test_only_what_differs_is_smoothed(tmp_path: Path) -> None:
    smooth = Smoothing("$ remit show sess_1763200000_k3x9qz", tmp_path)
    assert smooth("sess_1763200000_k3x9qz took 1800 s, RET051 at 4:10") == (
        "sess_1763200000_k3x9qz took 1800 s, RET051 at 4:10"
    )
    first, again = smooth("sess_1794850030_w0qda0 1.4 s"), smooth("sess_1794850030_w0qda0 12 s")
    assert first == again
    assert smooth("sess_1794850031_w0qda0").split()[0] != first.split()[0]


# Rules


def test_every_code_is_in_a_family_and_has_a_page(pages: dict[str, str]) -> None:
    told = explain_all()
    assert {each.code[:3] for each in told} == {*FAMILIES}
    assert not [each.code for each in told if f"rules/{each.code}.md" not in pages]
    index = pages["rules/README.md"]
    assert not [each.code for each in told if f"[{each.code}]({each.code}.md)" not in index]
    assert {each.code for each in told} >= {*load_all_rules()}


def test_every_error_code_of_the_page_is_explained(pages: dict[str, str]) -> None:
    codes = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)*)`", pages["codes.md"]))
    assert len(codes) > 30
    assert all(explain(code).documentation for code in codes)


def test_every_schema_has_a_file(pages: dict[str, str]) -> None:
    for name in SCHEMAS:
        assert json.loads(pages[f"schemas/{name}.json"]) == schema(name)
    assert {"schemas/openapi.json", "schemas/mcp-tools.json"} <= {*pages}


# The result


def test_every_field_of_a_result_is_in_the_tables_of_its_page() -> None:
    page = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*`) \|", page.partition("## The result")[2], re.MULTILINE)
    told = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    added = build_schema(ResultObject)["properties"]["remit"]["properties"]
    assert told == {*added, "line", "task", "phases", "task_notes"}  # the last are a command's


# Settings


def test_every_table_is_told_and_every_key_has_a_meaning_and_an_example(pages: dict[str, str]) -> None:
    alone = {"route": settings.ROUTE, "backend": settings.BACKEND}
    told = {each.title.partition(".")[0]: each for each in settings.TABLES}
    known = {*config._TABLES, *RunSettings._fields, "backend", "checks"}  # noqa: SLF001 - what a file may have
    assert {*alone, *told} == known
    for name, each in told.items():
        assert set(settings.read_comments(each.fields)) == set(each.fields._fields)
        tables = tomllib.loads(each.example)[name]
        rows = tables.values() if "." in each.title else [tables]
        assert {key for row in rows for key in row} == set(each.fields._fields)
        assert not [key for key in each.fields._fields if f"| `{key}` |" not in pages["settings.md"]]
    for text in (*alone.values(), *(each.example for each in settings.TABLES)):
        assert parse_settings(text) != parse_settings("")


@pytest.mark.thorough
def test_every_variable_that_is_read_is_told() -> None:
    told = {name for variables in VARIABLES.values() for name in variables}
    named = search(r'"(_?(?:REMIT|OTEL)_[A-Z_]+)"')
    asked = search(r'(?:environ|env)(?:\.get\(|\[)"([A-Z_]+)"')
    made_up = {f"OTEL_{one}" for one in search(r"OTEL_\{signal.upper\(\)\}_([A-Z]+)")}
    assert made_up, "nobody makes a variable's name any more"
    assert sorted((named | asked) - told) == []
    assert [name for name in told - named - asked if not search(rf"\b({name})\b") and "OTEL" not in name] == []


def test_a_word_that_nobody_tells_stops_the_making() -> None:
    with pytest.raises(LookupError, match="new"):
        match({"old": "It is old."}, ("old", "new"), "words")
    with pytest.raises(LookupError, match="old"):
        match({"old": "It is old."}, (), "words")


# Links


def find_dead_links(page: Path, text: str, built: dict[str, str]) -> Iterator[str]:
    """Links of a page that lead to no file or heading; `built` are the pages below docs/reference."""
    for link in list_links(text):
        target = Path(os.path.normpath(page.parent / link.file)) if link.file else page
        if target.is_relative_to(REFERENCE):
            there = built.get(target.relative_to(REFERENCE).as_posix())
        else:
            there = target.read_text(encoding="utf-8") if target.suffix == ".md" and target.is_file() else None
        is_lost = bool(link.anchor) and there is not None and link.anchor not in list_anchors(there)
        if is_lost or (there is None and (target.is_relative_to(REFERENCE) or not target.exists())):
            yield f"{page.relative_to(ROOT)}: {link.file}#{link.anchor}".rstrip("#")


def test_every_link_of_a_page_in_git_leads_to_something_in_git() -> None:
    written = [page for page in (ROOT / "docs").rglob("*.md") if not page.is_relative_to(REFERENCE)]
    texts = {page: page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *sorted(written)]}
    assert not [dead for page, text in texts.items() for dead in find_dead_links(page, text, {})]
    assert sum(len(list_links(text)) for text in texts.values()) > 150


def test_every_link_of_a_built_page_leads_somewhere(pages: dict[str, str]) -> None:
    texts = {REFERENCE / name: text for name, text in pages.items() if name.endswith(".md")}
    assert not [dead for page, text in texts.items() for dead in find_dead_links(page, text, pages)]
    assert sum(len(list_links(text)) for text in texts.values()) > 2000


def test_a_dead_link_is_found() -> None:
    page = ROOT / "docs" / "made-up.md"
    text = "[a](reference/codes.md) [b](gone.md) [c](contract.md#gone) [d](contract.md)"
    assert [*find_dead_links(page, text, {})] == [
        "docs/made-up.md: reference/codes.md",
        "docs/made-up.md: gone.md",
        "docs/made-up.md: contract.md#gone",
    ]
    assert "docs/made-up.md: reference/codes.md" not in find_dead_links(page, text, {"codes.md": ""})


def test_links_and_headings_are_read_as_a_browser_shows_them() -> None:
    text = "[a](b.md#c) `[x](y)` [`[lint]`](s.md#lint) https://example.org [e](https://example.org)\n```\n[f](g)\n```\n"
    assert list_links(text) == [Link("b.md", "c"), Link("s.md", "lint")]
    page = "# A, b & `c`\n\n## [limits]\n\n## [limits]\n\n```\n# none\n```\n"
    assert list_anchors(page) == {"a-b--c", "limits", "limits-1"}
