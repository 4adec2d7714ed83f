"""`remit show --format`: the run as a file, in the form that was asked for."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.support.ledger_rows import Kept, insert, make_repository, name, opened
from tests.support.screen_text import smooth

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.commands import Inside


@pytest.fixture(autouse=True)
def _run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workspace with a run of two delegations."""
    for variable in ("REMIT_TICKET", "REMIT_SESSION_ID"):
        monkeypatch.delenv(variable, raising=False)
    make_repository(tmp_path)
    with opened(tmp_path) as home:
        insert(home, Kept(0, agent="planner", work="Look at <b>it</b>."), Kept(1, parent=0, root=0, agent="tester"))


def test_it_has_three_forms(inside: Inside) -> None:
    page = inside("show", name(1), "--format", "html")
    assert page.code == 0
    assert page.text.startswith("<!doctype html>\n")
    assert "Look at &lt;b&gt;it&lt;/b&gt;." in page.text
    assert inside("show", name(1), "--format", "md").text.startswith("# planner: ✓ completed\n")
    told = json.loads(inside("show", name(1), "--format", "json").text)
    assert (told["schema"], told["schema_version"], told["root_id"]) == ("remit-report", 1, name(0))
    assert told["remit_version"]
    assert [row["agent"] for row in told["tree"]] == ["planner", "tester"]


def test_without_an_id_it_is_the_last_run_as_markdown(inside: Inside) -> None:
    shown, chosen = (
        re.sub(r"\d\d:\d\d:\d\d", "TIME", inside(*words).text)
        for words in (("show", "--format", "md"), ("show", "-", "--format", "md"))
    )
    assert shown == chosen
    assert inside("show", "--format", "md").text.startswith("# planner")


@pytest.mark.parametrize(
    ("file", "begins"), [("a.html", "<!doctype"), ("a.HTM", "<!doctype"), ("a.json", "{"), ("a.md", "# "), ("a", "# ")]
)
def test_a_file_gets_the_form_of_its_ending(inside: Inside, tmp_path: Path, file: str, begins: str) -> None:
    done = inside("show", "-o", file)
    assert done.code == 0
    assert f"{file} written" in done.text
    assert (tmp_path / file).read_text().startswith(begins)


def test_an_option_goes_before_the_ending(inside: Inside, tmp_path: Path) -> None:
    assert inside("show", "--format", "json", "-o", "a.html").code == 0
    assert json.loads((tmp_path / "a.html").read_text())["schema_version"] == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--format", "htm"], "there is no report format 'htm'; did you mean 'html'?"),
        (
            ["-o", "a.html", "--full"],
            "can't combine --full or --json with a report; use --format json for a report as JSON",
        ),
    ],
)
def test_what_does_not_fit_is_refused(inside: Inside, tmp_path: Path, words: list[str], sentence: str) -> None:
    done = inside("show", *words)
    assert (done.code, done.complaint) == (2, sentence)
    assert not (tmp_path / "a.html").exists()


def test_what_cannot_be_done_is_said(inside: Inside, tmp_path: Path) -> None:
    assert smooth(inside("show", "sess_nope", "--format", "md").complaint) == snapshot(
        "no run matches 'sess_nope'; remit ps --all lists the runs"
    )
    done = inside("show", "-o", "no/such/folder/a.md")
    assert done.code == 2
    assert smooth(done.complaint) == snapshot(
        "'no/such/folder/a.md' can't be written: no such file or directory; check the folder and its permissions"
    )
    assert not (tmp_path / "no").exists()
