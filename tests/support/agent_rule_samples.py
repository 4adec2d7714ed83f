"""The bad and the good file of each rule on agent files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tests.support.paths import ROOT

if TYPE_CHECKING:
    from tests.support.agent_samples import Sample

SAMPLES: dict[str, Sample] = {}
"""By the rule's code. Those of one subject are in a module `samples_SUBJECT` beside the tests of the rules."""
for file in sorted((ROOT / "tests/agents/rules").glob("samples_*.py")):
    SAMPLES |= import_module(f"tests.agents.rules.{file.stem}").SAMPLES
