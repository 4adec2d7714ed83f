"""Every rule finds fault with its bad file and not with its good one; every fix puts right what it promises."""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from remit.agents import rules
from remit.agents.edits import apply_fixes
from remit.agents.rules.register import MODULES, RETIRED, load_all_rules
from remit.model import Diagnostic
from tests.support.agent_rule_samples import SAMPLES
from tests.support.agent_samples import Sample, fix_until_stable, lint

PAGES = Path(rules.__path__[0]).parent / "pages"
AGENT_RULES = load_all_rules()
FIXED = sorted(code for code in SAMPLES if code in AGENT_RULES and AGENT_RULES[code].fix)


def find(text: str, code: str, sample: Sample) -> list[Diagnostic]:
    return [finding for finding in lint(text, sample.path, sizes=sample.sizes) if finding.code == code]


LOAD = """
import sys
from remit.agents.rules.register import load_rules
from remit.agents.rules.register import AGENT_RULES
load_rules(sys.argv[1])
print(*(code for code, rule in AGENT_RULES.items() if sys.argv[1] in rule.profiles))
"""


def test_every_rule_of_a_profile_is_loaded_for_it(subtests: pytest.Subtests) -> None:
    for profile in MODULES:
        with subtests.test(profile=profile):
            loaded = subprocess.run([sys.executable, "-c", LOAD, profile], check=True, capture_output=True, text=True)
            assert sorted(loaded.stdout.split()) == sorted(
                code for code, rule in AGENT_RULES.items() if profile in rule.profiles
            )


def test_every_module_with_rules_is_loaded() -> None:
    folder = Path(rules.__path__[0])
    named = {".".join(file.relative_to(folder).with_suffix("").parts): file for file in folder.rglob("*.py")}
    registers = re.compile(r"^(@agent_rule| *add_rule|add_table)\(", re.MULTILINE)
    owners = {name for name, file in named.items() if registers.search(file.read_text("utf-8"))}
    assert owners - {"register", "field_table"} == {name for names in MODULES.values() for name in names}


def test_a_rule_has_one_page() -> None:
    pages = {file.stem for file in PAGES.glob("*.md")}
    assert pages == {code for code, rule in AGENT_RULES.items() if not rule.check.__doc__}


def test_a_retired_code_is_not_used_again() -> None:
    assert not RETIRED.keys() & AGENT_RULES.keys()


def test_every_rule_has_a_sample() -> None:
    assert sorted(SAMPLES) == sorted(AGENT_RULES)


def test_the_bad_file_is_reported(subtests: pytest.Subtests) -> None:
    for code in sorted(SAMPLES):
        with subtests.test(code=code):
            sample = SAMPLES[code]
            findings = find(sample.bad, code, sample)
            assert findings
            lines = sample.bad.split("\n")
            for finding in findings:
                assert finding.place is not None
                assert 1 <= finding.place.line <= len(lines)
                assert 1 <= finding.place.column <= len(lines[finding.place.line - 1]) + 1
                assert finding.message
                assert finding.hint[0].isupper()
                assert finding.hint.endswith((".", "?", ")"))


def test_the_good_file_is_not(subtests: pytest.Subtests) -> None:
    for code in sorted(SAMPLES):
        with subtests.test(code=code):
            sample = SAMPLES[code]
            assert not find(sample.good, code, sample)


def test_a_fix_puts_it_right(subtests: pytest.Subtests) -> None:
    for code in FIXED:
        with subtests.test(code=code):
            sample = SAMPLES[code]
            findings = find(sample.bad, code, sample)
            assert any(finding.fix for finding in findings), "the rule promises a fix, its bad file gets none"
            once = apply_fixes(findings, sample.bad, unsafe=True)
            assert len(find(once.text, code, sample)) < len(findings)
            if sample.fixed is not None:
                assert once.text == sample.fixed


def test_fixing_twice_changes_nothing_more(subtests: pytest.Subtests) -> None:
    for code in FIXED:
        with subtests.test(code=code):
            sample = SAMPLES[code]
            check = partial(lint, path=sample.path, sizes=sample.sizes)
            fixed = fix_until_stable(sample.bad, check, unsafe=True)
            assert fixed.applied
            assert not apply_fixes(check(fixed.text), fixed.text, unsafe=True).applied


def test_a_rule_is_documented(subtests: pytest.Subtests) -> None:
    for code in sorted(AGENT_RULES):
        with subtests.test(code=code):
            each = AGENT_RULES[code]
            paragraphs = [part.strip() for part in each.documentation.split("\n\n")]
            assert paragraphs[0].endswith(".")
            for word in ("Why: ", "Bad: ", "Good: "):
                assert any(part.startswith(word) for part in paragraphs), f"{code} does not say {word}"
            assert bool(each.fix) == any(part.startswith("Fix (") for part in paragraphs)
