"""Secrets: none is left in a text that is kept, and a message without one stays as it is.

No key stands here: each is put together from how it begins and letters that a counter gives, so that nobody who looks
for keys in this repository finds one.
"""

import json
import time
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.storage.secrets import redact
from tests.support.secret_samples import NAMED, PASSWORD, STARTS, make


def test_a_secret_is_known_by_how_it_looks(subtests: pytest.Subtests) -> None:
    for name, around in product(
        STARTS, ["{}", "the key {} was refused", "curl -H 'X: {}' failed", "id={};", '{{"k": "{}"}}']
    ):
        with subtests.test(name=name, around=around):
            begin, rest = STARTS[name]
            told = redact(around.format(begin + rest))
            assert rest not in told
            assert "[redacted" in told


@pytest.mark.parametrize("name", NAMED)
def test_a_secret_is_known_by_the_word_before_it(name: str) -> None:
    text, secret = NAMED[name]
    assert secret in text
    told = redact(f"it failed: {text}\nand went on")
    assert secret not in told
    assert told.startswith("it failed: ")


@pytest.mark.parametrize("times", range(7))
def test_json_inside_of_json_hides_no_secret(times: int) -> None:
    """What an agent prints is a line of JSON, with the answer of a tool in it, in which another agent's stands."""
    secrets = {"password": PASSWORD, "X-Api-Key": make(16), "Authorization": f"Bearer {make(20)}"}
    text = json.dumps(secrets)
    for _ in range(times):
        text = json.dumps({"said": text})
    assert all(each.removeprefix("Bearer ") in text for each in secrets.values())
    told = redact(text)
    assert not [each for each in secrets.values() if each.removeprefix("Bearer ") in told]


def test_enough_formats_are_tried() -> None:
    assert len(STARTS) + len(NAMED) >= 90


@pytest.mark.parametrize(
    "text",
    [
        "unexpected token: identifier on line 3",
        "SyntaxError: unexpected token '}' in JSON at position 17",
        "max_tokens=4000, tokens used: 12345",
        "the password is required; token: missing",
        "risk-assessment-of-the-whole-thing failed in task-management-and-planning",
        "npm_config_registry is not set; hf_hub_download timed out",
        "commit 0172b6394dc9e1f8a1b2c3d4e5f60718293a4b5c was not found in src/remit/tokens.py:12",
        "see https://docs.example:8080/a/b?page=2#top and mail@example.test",
        "sess_1786342011_4592c8 left .return-meta.json at status=in_progress",
        "Basic authentication failed for user ada",
        "KeyError: 'task_number'",
        "PASSWORD=$DB_PASSWORD python app.py --token $TOKEN",
        "",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text.replace("--token $TOKEN", "--token [redacted]")


@given(
    st.lists(
        st.sampled_from([*(a + b for a, b in STARTS.values()), *(text for text, _ in NAMED.values())])
        | st.text(max_size=20),
        max_size=6,
    )
)
def test_to_redact_twice_changes_nothing(parts: list[str]) -> None:
    once = redact(" ".join(parts))
    assert redact(once) == once


@pytest.mark.parametrize(
    "piece",
    ["eyJaaaaaaaa-", "-----BEGIN PRIVATE KEY", "://a:", "password", "--a-", "x-", "M" + "a" * 22, "token = ",
     "9" * 8 + ":A", "authorization: ", "a.", "sk-", "SG." + "a" * 16, "-us", "Q~", " \t", '="', "https://u:p",
     "\\", "token" + "\\" * 63],
)  # fmt: skip
def test_a_long_text_takes_time_that_grows_with_its_length(piece: str) -> None:
    """No repetition of anything makes it look at the same place again and again."""
    text = piece * (200_000 // len(piece))
    start = time.process_time()
    redact(text)
    assert time.process_time() - start < 1.0
