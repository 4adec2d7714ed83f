"""Fuzz a target and watch every branch: what reaches a new one is kept, and changed further.

Run as `python fuzz/watch.py NAME -max_total_time=20`; other options are libFuzzer's. A case that breaks a law is
written to a file, and `python fuzz/watch.py NAME FILE` runs it again. What is worth keeping stays in `.fuzz/NAME`,
which git does not see; `fuzz/count.py` begins with it.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[1]
WORKSHOP = ROOT / ".fuzz"
MAX_SEEDS = 1_000
"""So many are looked at before anything is changed: more would take all the time there is in a short run."""

# Run by path, the folder that holds `fuzz` is not on the import path.
sys.path.insert(0, str(ROOT))

from fuzz.target import MAX_SECONDS, TARGETS, list_words, load_target, take_every, try_case  # noqa: E402


def main() -> None:
    """Run libFuzzer over what earlier runs found worth keeping, or over the files that were named."""
    name, *options = sys.argv[1:]
    if name not in TARGETS:
        raise SystemExit(f"there is no target '{name}'; available: {', '.join(TARGETS)}")
    # Much of the package is imported when it is first needed, which would be too late to be watched.
    with atheris.instrument_imports(include=["remit"]):
        target = load_target(name)
        for package in target.packages:
            for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
                importlib.import_module(module.name)
    corpus, words = WORKSHOP / name, WORKSHOP / f"{name}.words"
    corpus.mkdir(parents=True, exist_ok=True)
    named = [option for option in options if not option.startswith("-")]
    if not named:
        seeds = list(target.seeds())
        for number, seed in enumerate(take_every(len(seeds) // MAX_SEEDS + 1, seeds)):
            (corpus / f"seed{number}").write_bytes(seed[: target.max_bytes])
    lines = ["".join(f"\\x{byte:02x}" for byte in word[:64]) for word in list_words(target)]
    words.write_text("".join(f'"{line}"\n' for line in lines), encoding="ascii")
    with target.open() as check:

        def test_one_input(data: bytes) -> None:
            try_case(check, data, max_seconds=MAX_SECONDS * target.asks * target.slower)

        own = [f"-dict={words}", f"-max_len={target.max_bytes}", "-timeout=20", f"-artifact_prefix={WORKSHOP}/{name}-"]
        atheris.Setup([sys.argv[0], *own, *options, *([] if named else [str(corpus)])], test_one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
