"""The reference is what the code says: its pages are made again and compared, and nothing is left out of them."""

import re
import tomllib
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from remit import config
from remit.agents.rules.all import RULES
from remit.app.explanations import explain_all
from remit.config import parse_settings
from remit.config.delegation import DelegationSettings
from remit.doors.mcp.schemas import ENVELOPE
from tests.cluster.postgres import Missing, running
from tests.docs.links import Link, list_anchors, list_links
from tools.reference import examples, settings
from tools.reference.commands import list_options, list_pages, share_out, split_exits
from tools.reference.pages import DOCS, list_stale, play_alone, play_cluster, render_pages, render_plain, write_pages
from tools.reference.rules import FAMILIES
from tools.reference.source import ROOT, match, search
from tools.reference.stage import Played, Smoothing
from tools.reference.variables import VARIABLES

AFAR = ("commands/worker.md", "commands/drain.md")
"""Pages whose examples need a database."""
MOST_TOLD = 12


def load(name: str) -> str:
    """A page as it is committed."""
    return (DOCS / name).read_text(encoding="utf-8")


def squeeze(text: str) -> str:
    """A page without the widths of its columns: on a busy machine an agent may take 10.2 s and not 0.3 s."""
    return re.sub(r" {2,}", " ", text)


def find_outdated(pages: dict[str, str]) -> str:
    """How the pages differ from those that are committed; nothing where they do not."""
    told = []
    for name, text in pages.items():
        there = squeeze(load(name)) if (DOCS / name).exists() else ""
        lines = unified_diff(there.splitlines(), squeeze(text).splitlines(), f"docs/{name}", "as it would be", n=0)
        told += [*islice(lines, MOST_TOLD)] if there != squeeze(text) else []
    return "\n".join(told[: 5 * MOST_TOLD])


def list_shown() -> list[Played]:
    """Every example, before it is played."""
    told = (examples.MESSAGES, examples.AGENTS, examples.WORK, examples.CLUSTER)
    return [Played(line, "", "", 0) for story in told for line in re.findall(r"^\$ (.*)$", story, re.MULTILINE)]


def test_the_pages_of_rules_settings_codes_and_schemas_are_up_to_date() -> None:
    assert find_outdated(render_plain()) == "", "run `make docs`"


@pytest.mark.slow
def test_every_example_goes_as_its_page_shows_it() -> None:
    """Played again from the beginning, each prints what is there."""
    with TemporaryDirectory() as folder:  # a path that is shown has to be short: pytest's own are cut
        made = render_pages(play_alone(Path(folder)))
    pages = {name: text for name, text in made.items() if name.startswith("commands/")}
    afar = {name: pages.pop(name) for name in AFAR}
    assert find_outdated(pages) == "", "run `make docs`"
    assert not [
        name for name, text in afar.items() if text != re.sub(r"## Examples\n[\s\S]*(?=## See)", "", load(name))
    ]


@pytest.mark.slow
@pytest.mark.thorough
def test_the_examples_with_a_database_go_as_their_pages_show_them() -> None:
    try:
        with TemporaryDirectory() as folder, running() as server, server.database() as database:
            pages = render_pages(play_cluster(Path(folder), database))
    except Missing as error:
        pytest.skip(f"NO POSTGRESQL: {error}")
    assert find_outdated({name: pages[name] for name in AFAR}) == "", "run `make docs`"


def test_no_page_is_left_of_what_is_gone() -> None:
    pages = render_pages([])
    assert not list_stale(pages)
    assert list_stale({name: text for name, text in pages.items() if name != "commands/run.md"}) == [
        DOCS / "commands" / "run.md"
    ]


def test_writing_changes_what_is_wrong_and_removes_what_is_gone(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "OLD001.md").write_text("gone", encoding="utf-8")
    pages = {"rules/NEW001.md": "new\n", "codes.md": "codes\n"}
    assert write_pages(pages, tmp_path) == ["rules/NEW001.md", "codes.md", "rules/OLD001.md"]
    assert write_pages(pages, tmp_path) == []
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == ["NEW001.md", "codes.md"]


# Commands


def test_every_command_has_an_example() -> None:
    pages = list_pages()
    shared = share_out(list_shown(), pages)
    assert not [name for name, shown in shared.items() if not shown]
    assert len(pages) > 60


def test_every_option_is_on_its_page_and_says_what_it_is_for() -> None:
    for page in list_pages():
        told = load(page.path)
        for option in list_options(page.command):
            assert option.help, f"{page.name} {option.opts[0]}"
            assert option.opts[-1] in told, f"{page.name} {option.opts[0]}"


def test_exit_codes_are_read_from_the_help() -> None:
    known = {page.name: page.command for page in list_pages()}
    about, exits = split_exits(known["task move"])
    assert exits == {"0": "moved", "1": "refused", "2": "could not run"}
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


def test_every_code_is_in_a_family_and_has_a_page() -> None:
    told = explain_all()
    assert {each.code[:3] for each in told} == {*FAMILIES}
    assert not [each.code for each in told if not (DOCS / "rules" / f"{each.code}.md").is_file()]
    index = load("rules/README.md")
    assert not [each.code for each in told if f"[{each.code}]({each.code}.md)" not in index]
    assert {each.code for each in told} >= {*RULES}


# The envelope


def test_every_field_of_an_envelope_is_in_the_tables_of_its_page() -> None:
    rows = re.findall(r"^\| (`[^|]*`) \|", load("contract.md").partition("## The envelope")[2], re.MULTILINE)
    told = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert told == {*ENVELOPE["properties"], "task", "phases", "task_notes"}  # the last are a command's on a task


# Settings


def test_every_table_is_told_and_every_key_has_a_meaning_and_an_example() -> None:
    alone = {"contract": settings.STATUS_WORDS, "route": settings.ROUTE, "engine": settings.ENGINE}
    told = {each.title.partition(".")[0]: each for each in settings.TABLES}
    known = {*config._TABLES, *DelegationSettings._fields, "engine"}  # noqa: SLF001 - what a file may have
    assert {*alone, *told} == known
    for name, each in told.items():
        assert set(settings.read_comments(each.fields)) == set(each.fields._fields)
        tables = tomllib.loads(each.example)[name]
        rows = tables.values() if "." in each.title else [tables]
        assert {key for row in rows for key in row} == set(each.fields._fields)
    for text in (*alone.values(), *(each.example for each in settings.TABLES)):
        assert parse_settings(text) != parse_settings("")


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


def test_every_link_of_the_documentation_leads_somewhere() -> None:
    broken, seen = [], 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for link in list_links(page.read_text(encoding="utf-8")):
            seen += 1
            target = (page.parent / link.file).resolve() if link.file else page
            lost = bool(link.anchor) and target.suffix == ".md" and target.exists() and (
                link.anchor not in list_anchors(target)
            )  # fmt: skip
            if lost or not target.exists():
                broken.append(f"{page.relative_to(ROOT)}: {link.file}#{link.anchor}".rstrip("#"))
    assert not broken
    assert seen > 2000


def test_links_and_headings_are_read_as_a_browser_shows_them(tmp_path: Path) -> None:
    text = "[a](b.md#c) `[x](y)` [`[lint]`](s.md#lint) https://example.org [e](https://example.org)\n```\n[f](g)\n```\n"
    assert list_links(text) == [Link("b.md", "c"), Link("s.md", "lint")]
    page = tmp_path / "page.md"
    page.write_text("# A, b & `c`\n\n## [limits]\n\n## [limits]\n\n```\n# none\n```\n", encoding="utf-8")
    assert list_anchors(page) == {"a-b--c", "limits", "limits-1"}
