"""All pages of the reference: how their examples run, and how they are written."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tools.reference import examples
from tools.reference.codes import render_codes
from tools.reference.commands import render_commands
from tools.reference.rules import render_rules
from tools.reference.schemas import render_schemas
from tools.reference.settings import render_settings
from tools.reference.source import ROOT
from tools.reference.stage import FILES, play

if TYPE_CHECKING:
    from pathlib import Path

    from tools.reference.stage import Played

REFERENCE = ROOT / "docs" / "reference"
"""Where `make docs` builds the pages."""


def play_alone(folder: Path) -> list[Played]:
    """Play what one machine can show by itself, in an empty folder."""
    return [
        *play(examples.MESSAGES, folder / "messages", ROOT / "examples" / "messages"),
        *play(examples.AGENTS, folder / "agents", ROOT / "examples" / "faulty"),
        *play(examples.WORK, folder / "work", FILES),
    ]


def play_cluster(folder: Path, database: str) -> list[Played]:
    """Play what needs a database, in an empty folder."""
    return play(examples.CLUSTER, folder / "cluster", FILES, {"REMIT_BACKEND": database})


def render_pages(played: list[Played]) -> dict[str, str]:
    """Every page with its examples, by its path below docs/reference/."""
    plain = {**render_rules(), **render_settings(), **render_codes(), **render_schemas()}
    return {**render_commands(played), **plain}


def write_pages(pages: dict[str, str], folder: Path) -> None:
    """Write the pages into a folder, and remove everything else from it."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
