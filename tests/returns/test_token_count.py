"""Token counts: exact where a tokenizer is installed, and no obstacle where there is none."""

import subprocess
import sys

import pytest

from remit import check
from remit.model import Expectation
from remit.returns import check as check_values
from remit.returns.rules.fields import MAX_TOKENS, WANTED_CHARS
from remit.returns.token_count import count_tokens
from tests.support.return_samples import fenced, standard

DENSE = "Schlüsselübergabe überprüft für Größenänderungsanträge. " * 6 + "Fertig."


def test_tokens_are_counted() -> None:
    """C4: a real tokenizer, offline."""
    pytest.importorskip("splintr", reason="the extra [tokens] is not installed")
    assert count_tokens("") == 0
    assert count_tokens("hello world") == 2


def test_a_short_summary_of_many_tokens_is_too_long() -> None:
    """R0.4 C4: over 100 tokens, though under 400 characters; shortened if it can't be sent back."""
    pytest.importorskip("splintr", reason="the extra [tokens] is not installed")
    tokens = count_tokens(DENSE)
    assert tokens is not None
    assert len(DENSE) <= WANTED_CHARS
    assert tokens > MAX_TOKENS
    message = fenced(standard({"/summary": DENSE}))
    verdict = check(message)
    assert verdict.name == "invalid"
    assert [(finding.code, finding.message) for finding in verdict.diagnostics if finding.severity == "error"] == [
        ("RET030", f"summary has {tokens} tokens, the maximum is 100")
    ]
    shortened = check_values(message, expectation=Expectation(shortens=True))
    assert (shortened.name, [repair.kind for repair in shortened.repairs]) == ("repaired", ["shortened"])
    assert shortened.returned is not None
    kept = shortened.returned.summary
    assert DENSE.startswith(kept.removesuffix("…"))
    assert MAX_TOKENS - 20 < (count_tokens(kept) or 0) <= MAX_TOKENS


def test_plain_text_may_have_a_token_for_almost_every_character() -> None:
    """R0.4 C4: a token is at least one byte, and nothing more is certain."""
    pytest.importorskip("splintr", reason="the extra [tokens] is not installed")
    curt = ("a b c d. " * 22).strip()
    assert curt.isascii()
    assert len(curt) < 200
    tokens = count_tokens(curt)
    findings = check(fenced(standard({"/summary": curt}))).diagnostics
    assert f"summary has {tokens} tokens, the maximum is 100" in [finding.message for finding in findings]


def test_a_summary_that_cannot_have_too_many_tokens_is_not_counted() -> None:
    """C4: 100 bytes are at most 100 tokens, so the tokenizer is not loaded."""
    pytest.importorskip("splintr", reason="the extra [tokens] is not installed")
    program = "import sys, remit\nprint([f.code for f in remit.check(sys.stdin.read()).diagnostics], 'splintr' in sys.modules)"
    for size, loaded in ((100, False), (101, True)):
        text = fenced(standard({"/summary": "It works. " + "x" * (size - 11) + "."}))
        output = subprocess.run([sys.executable, "-c", program], input=text, capture_output=True, text=True, check=True)
        assert output.stdout == f"[] {loaded}\n"


def test_without_a_tokenizer_characters_decide() -> None:
    """C4: the count is an extra; nothing else depends on it."""
    program = (
        "import sys; sys.modules['splintr'] = None\n"
        "import remit; from remit.returns.token_count import count_tokens\n"
        "print(count_tokens('a'), [f.code for f in remit.check(sys.stdin.read()).diagnostics])"
    )
    text = fenced(standard({"/summary": DENSE}))
    output = subprocess.run([sys.executable, "-c", program], input=text, capture_output=True, text=True, check=True)
    assert output.stdout.split(None, 1)[0] == "None"
    assert "RET031" not in output.stdout
