"""Ids: which entry has an id, as the file itself says."""

from pathlib import Path

import pytest

from remit.manifest.ids import TakenId, find_free_id, find_taken
from tests.support.manifest_entries import make_entry, make_line

OTHER = make_entry(title="Another one")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "MANIFEST.jsonl"


def test_the_first_line_with_an_id_has_it(file: Path) -> None:
    file.write_text("\nnonsense\n" + make_line() + make_line(id="auth-2026-01-19-2") + make_line(title="Another one"))
    assert find_taken(str(file), OTHER) == TakenId(3, "auth-2026-01-19-3")


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
    assert find_taken(str(file), entry) == TakenId(1, f"{entry_id}-2")


@pytest.mark.parametrize(
    ("wanted", "free"),
    [("auth-2026-01-19", "auth-2026-01-19-3"), ("auth-2026-01-19-2", "auth-2026-01-19-3"), ("own", "own-2"),
     ("other", "other"), ("päth/\u2014", "päth/\u2014-2"), ("zwei", "zwei-2")],
)  # fmt: skip
def test_the_first_free_number_is_given_whatever_stands_around(file: Path, wanted: str, free: str) -> None:
    """Numbers may have gaps; a line may be bad in another way, and none need have ended."""
    ids = ("auth-2026-01-19", "auth-2026-01-19-2", "auth-2026-01-19-4", "own", "own-3", "päth/\u2014")
    text = "".join(make_line(id=each).replace("/", "\\/") for each in ids)
    file.write_text("nonsense\n" + text + '{"id":"zwei","id":"zwei"}', encoding="utf-8")
    assert find_free_id(str(file), wanted) == free


def test_without_a_manifest_every_id_is_free(file: Path) -> None:
    assert find_free_id(str(file), "auth-2026-01-19") == "auth-2026-01-19"
