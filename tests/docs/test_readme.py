"""The README's first lines and its commands. What its examples print is compared by `tests/docs`."""

import re
import subprocess
import sys

from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_example_stands_near_the_top() -> None:
    [first] = re.findall(r"\A.*?^```console\n.*?^```", README, re.MULTILINE | re.DOTALL)
    assert first.count("\n") < 30
    assert "✗ liar: failed · fabricated" in first


def test_every_command_that_is_shown_exists() -> None:
    told = subprocess.run([sys.executable, "-m", "remit", "--help"], capture_output=True, encoding="utf-8", check=True)
    known = set(re.findall(r"^  ([a-z]+)  ", told.stdout, re.MULTILINE))
    assert set(re.findall(r"(?:^\$ |`)remit ([a-z]+)", README, re.MULTILINE)) == known | {"hook"}
