"""Count what the policy says of spellings of denied programs and of hidden writes, from their words alone.

Run as `python torture/plain_words.py`. This is what a machine without kernel support has: no judge at exec, and no
limits on files. It is bad if too many spellings are allowed, or too much ordinary work is asked about.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from remit.policy import Permissions, ToolCall, judge
from tests.support.ordinary_commands import DENIED, list_ordinary
from tests.support.policy_questions import GROUND
from torture.denied_programs import load_spellings
from torture.tally import tell

WRITES: Final = Path(__file__).resolve().parents[1] / "tests" / "data" / "confine_writes.jsonl"
ALLOWED_SHARE: Final = 0.02
ASKED_SHARE: Final = 0.1
ANSWERS: Final = ("allow", "ask", "deny")


def count_answers(cases: list[tuple[str, tuple[str, ...]]], *, is_judged: bool) -> Counter[str]:
    """The answers to scripts, each with what is denied to its agent."""
    ground = GROUND._replace(is_judged=is_judged)
    return Counter(
        judge(ToolCall("bash", command=script), [Permissions(deny={"bash": deny})], ground).answer
        for script, deny in cases
    )


def main() -> int:
    """Count, and print a line for each corpus, without and with a judge at exec."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="the counts as JSON")
    options = parser.parse_args()
    writes = [json.loads(line)["script"] for line in WRITES.read_text("utf-8").splitlines()]
    corpora: dict[str, list[tuple[str, tuple[str, ...]]]] = {
        "spellings of denied programs": [(each.script, (each.deny,)) for each in load_spellings()],
        "hidden writes, with rules for bash": [(script, DENIED) for script in writes],
        "hidden writes, without": [(script, ()) for script in writes],
        "ordinary commands": [(each.command, each.deny) for each in list_ordinary()],
    }
    counts = {
        name: [count_answers(cases, is_judged=is_judged) for is_judged in (False, True)]
        for name, cases in corpora.items()
    }
    spelled, ordinary = counts["spellings of denied programs"][0], counts["ordinary commands"][0]
    bad = int(spelled["allow"] > ALLOWED_SHARE * spelled.total())
    bad += ordinary["deny"] > 0 or ordinary["ask"] > ASKED_SHARE * ordinary.total()
    tell(spelled.total(), bad, ordinary=ordinary.total(), writes=len(writes))
    if options.json:
        print(json.dumps(counts))
    for name, both in counts.items() if not options.json else ():
        for way, found in zip(("words alone", "with a judge"), both, strict=True):
            told = ", ".join(f"{found[answer]} {answer}" for answer in ANSWERS)
            print(f"{name:<36} {way:<13} {found.total():>6}: {told}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
