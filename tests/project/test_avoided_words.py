"""The report of avoided words reads what users and models read, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.avoided_words import find_uses, main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_prose_counts_and_code_does_not(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Told\n\n```\nwhoever\n```\n\nNobody runs `whoever`, and [it](besides.md) can't tell.\nIt is no JSON.\n"
    )
    assert [(use.line, use.word) for use in find_uses(page)] == [(1, "tell, told"), (7, "nobody"), (8, "is no")]


def test_messages_and_help_count_and_names_and_docstrings_do_not(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""Whoever reads this."""\n'
        "told = besides = 1  # nobody\n"
        "@group.command()\n"
        "def run(x):\n"
        '    """Look at a run, whoever started it."""\n'
        '    raise ValueError(f"{x} was put right besides")\n'
    )
    found = [(use.line, use.word) for use in find_uses(module)]
    assert found == [(5, "look at, on, for"), (5, "whoever"), (6, "put right"), (6, "besides")]


def test_labels_of_the_dashboard_count(tmp_path: Path) -> None:
    script = tmp_path / "page.js"
    script.write_text("// nobody\nconst told = 'held';\nshow(\"Nobody drives it\");\n")
    assert [(use.line, use.word) for use in find_uses(script)] == [(3, "nobody")]


def test_the_report_names_files_and_sums(capsys: pytest.CaptureFixture[str]) -> None:
    main(["docs/found.md", "README.md"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split()[1:4] in (["in", "0", "files"], ["in", "1", "files:"], ["in", "2", "files:"])
    counts = [int(line.split()[0]) for line in lines]
    assert sum(counts[:-1]) == counts[-1]
