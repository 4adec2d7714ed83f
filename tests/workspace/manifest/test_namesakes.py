"""Namesakes: who has an id already, as the file itself says."""

from pathlib import Path

import pytest

from remit.workspace.manifest.namesakes import Taken, find_taken
from tests.workspace.manifests import make_entry, make_line

OTHER = make_entry(title="Another one")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "MANIFEST.jsonl"


def test_the_first_line_with_an_id_has_it(file: Path) -> None:
    file.write_text("\nnonsense\n" + make_line() + make_line(id="auth-2026-01-19-2") + make_line(title="Another one"))
    assert find_taken(str(file), OTHER) == Taken(3, "auth-2026-01-19-3")


def test_the_same_entry_twice_is_no_other(file: Path) -> None:
    file.write_text(make_line() + make_line())
    assert find_taken(str(file), make_entry()) is None
    renamed = make_entry(without=("file",), output_file=make_entry()["file"])
    assert find_taken(str(file), renamed) is None


@pytest.mark.parametrize("entry_id", ["auth-2026-01-19-4", "auth-2026-01", "", None, 3])
def test_an_id_that_nobody_has_is_free(file: Path, entry_id: object) -> None:
    file.write_text(make_line(id="auth-2026-01-19") + make_line(id="auth-2026-01-19-40"))
    assert find_taken(str(file), make_entry(id=entry_id)) is None


@pytest.mark.parametrize(
    ("line", "entry_id"),
    [
        ("\ufeff" + make_line(), "auth-2026-01-19"),
        (make_line().replace('"auth-', r'"\u0061uth-'), "auth-2026-01-19"),
        (make_line(id="größe-2026-01-19"), "größe-2026-01-19"),
        (make_line(id="?-2026-01-19").replace("?", "größe"), "größe-2026-01-19"),
    ],
    ids=["marked", "escaped", "ascii", "utf-8"],
)
def test_an_id_is_known_however_it_is_spelled(file: Path, line: str, entry_id: str) -> None:
    file.write_text(line, encoding="utf-8")
    entry = make_entry(id=entry_id, title="Another one")
    assert find_taken(str(file), entry) == Taken(1, f"{entry_id}-2")
