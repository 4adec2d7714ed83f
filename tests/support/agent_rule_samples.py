"""The bad and the good file of each rule on agent files, from `tests/data/agent_rules.toml`.

Each table of that file is a rule. `base` names a good file in `tests/data/agents` (default: `standard`); `bad`, `good`
and `fixed` list replacements in it, or `bad_text`, `good_text` and `fixed_text` have the whole file. `fixed` is the bad
file after its fix. `sizes` has sizes of context files, or false for a file that doesn't exist.
"""

from __future__ import annotations

import tomllib
from typing import Any

from tests.support import agent_samples
from tests.support.agent_samples import PATHS, SIZES, STANDARD, Sample, change
from tests.support.paths import DATA


def _load(row: dict[str, Any]) -> Sample:
    base = getattr(agent_samples, row.get("base", "standard").upper())

    def make(key: str) -> str | None:
        if f"{key}_text" in row:
            return str(row[f"{key}_text"])
        if key not in row:
            return None
        text: str = base
        for old, new in row[key]:
            text = change(old, new, base=text)
        return text

    sizes = SIZES | {path: None if size is False else size for path, size in row.get("sizes", {}).items()}
    bad = make("bad")
    assert bad is not None
    return Sample(bad, make("good") or base, row.get("path", PATHS[base]), sizes, make("fixed"))


SAMPLES = {code: _load(row) for code, row in tomllib.loads((DATA / "agent_rules.toml").read_text()).items()} | {
    "AGT001": Sample("---\nname: planner\n---\n\udcff\n"),  # TOML has no invalid bytes
    "AGT012": Sample(STANDARD + "<a></a>\n" * 12_000),
}
"""By the rule's code."""
