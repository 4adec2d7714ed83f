"""Codex's files: values as TOML has them, and where each stands; a broken or hostile file is a problem, no more."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.agents.document import parse_document, read_body
from remit.agents.frontmatter import Frontmatter
from remit.agents.toml import parse_toml
from tests.support.agent_samples import CODEX, CODEX_PATH, lint
from tests.support.sample_sizes import choose

FILE = '''\
# who it is
name = "reviewer" # not its file's
description = """
Reviews code:
name = "no key"
"""
quoted."key x" = 'v # no comment'
list = [ "a", # ]
  "b]" ]
when = 1979-05-27 07:32:00 # a date
inline = { a = "}", b = [1] }
sandbox_mode="read-only"

[mcp_servers.github]
command = "gh" # the program

[[skills.config]]
path = "x"
[[skills.config]]
path = "y"
'''


def show(found: Frontmatter, text: str) -> dict[str, str]:
    return {pointer: text[slice(*span)] for pointer, span in found.spans.items()}


@pytest.mark.parametrize("text", [FILE, f"\ufeff{FILE}", FILE.replace("\n", "\r\n")], ids=["plain", "bom", "crlf"])
def test_every_value_has_its_place(text: str) -> None:
    found = parse_toml(text)
    assert found.whole
    assert not found.problems
    seen = {pointer: value.replace("\r\n", "\n") for pointer, value in show(found, text).items()}
    assert seen["/name"] == '"reviewer"'
    assert seen["/description"] == '"""\nReviews code:\nname = "no key"\n"""'
    assert seen["/quoted/key x"] == "'v # no comment'"
    assert seen["/list"] == '[ "a", # ]\n  "b]" ]'
    assert seen["/when"] == "1979-05-27 07:32:00"
    assert seen["/inline"] == '{ a = "}", b = [1] }'
    assert seen["/sandbox_mode"] == '"read-only"'
    assert seen["/mcp_servers/github/command"] == '"gh"'
    assert seen["/skills/config/0/path"] == '"x"'
    assert seen["/skills/config/1/path"] == '"y"'
    assert text[slice(*found.keys["/mcp_servers/github"])] == "mcp_servers.github"
    assert text[slice(*found.keys["/quoted/key x"])] == 'quoted."key x"'
    assert found.values["mcp_servers"] == {"github": {"command": "gh"}}


def test_a_broken_file_is_read_as_far_as_it_goes() -> None:
    text = 'name = "reviewer"\ndescription = never quoted\ndeveloper_instructions = """\nYou review.\n"""\n'
    found = parse_toml(text)
    assert not found.whole
    assert [problem.kind for problem in found.problems] == ["syntax"]
    assert text[found.problems[0].start :].startswith("never")
    assert found.values["name"] == "reviewer"
    assert found.values["developer_instructions"] == "You review."


def test_the_place_of_a_fault_counts_the_mark_at_the_start() -> None:
    for text in ("\ufeffname = \n", "\ufeff\r\n\r\nname = !\r\n", "x = [1,\n"):
        problem = parse_toml(text).problems[0]
        assert 0 <= problem.start < problem.end <= len(text)
    assert "\ufeffname = !"[parse_toml("\ufeffname = !").problems[0].start] == "!"


HOSTILE = {
    "brackets": "a = [\n" * 100_000,
    "dots": "a" + ".a" * 200_000 + " = 1",
    "dots in a table": "x = {a" + ".a" * 200_000 + " = 1}",
    "a deep header": "[a" + ".a" * 100_000 + "]",
    "digits": "x = " + "1" * 500_000,
    "quotes": '"' * 900_000,
    "backslashes": 'x = """' + "\\" * 900_000,
    "single quotes": "x = '''" + "''a" * 300_000,
    "lines without a key": "= \n" * 300_000,
    "the same key": "a=1\n" * 100_000,
    "rows": "[[a]]\n" * 150_000,
    "a long list": "x = [" + "1," * 200_000 + "]",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.thorough
def test_a_hostile_file_is_read_in_no_time(text: str) -> None:
    started = time.process_time()
    findings = lint(text, CODEX_PATH)
    assert time.process_time() - started < 8  # 1.5 s at most; shared machines are slow
    assert findings


SCRAPS = st.lists(
    st.sampled_from(["name", " = ", '"a"', "'", '"""', "'''", "\n", "[", "]", "[[", "{", "}", ".", ",", "#", "\\", "1",
                     "\r\n", "true", "é", "\ufeff", "=", " ", "1979-05-27", "x = 1\n", "[t]\n", "\udcff"]),
    max_size=40,
).map("".join)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=choose(60, 300), deadline=None)
@given(SCRAPS)
def test_reading_never_fails(text: str) -> None:
    found = parse_toml(text)
    for start, end in [*found.spans.values(), *found.keys.values()]:
        assert 0 <= start <= end <= len(text)
    for problem in found.problems:
        assert 0 <= problem.start <= problem.end <= max(1, len(text))
    parse_document(CODEX_PATH, text)
    lint(text, CODEX_PATH)
    lint(CODEX + text, CODEX_PATH)


@settings(max_examples=choose(30, 150), deadline=None)
@given(st.dictionaries(st.sampled_from(["name", "a-b", "model", "x_1"]), st.text(max_size=30), min_size=1))
def test_the_place_of_a_text_is_that_text(values: dict[str, str]) -> None:
    import json  # noqa: PLC0415 - only here
    import tomllib  # noqa: PLC0415 - only here

    text = "".join(f"{key} = {json.dumps(value)} # é\n" for key, value in values.items())
    found = parse_toml(text)
    if found.whole:  # half of a character that JSON writes in two is none in TOML
        for key, value in values.items():
            assert tomllib.loads(f"x = {text[slice(*found.spans[f'/{key}'])]}")["x"] == value


def test_what_it_tells_its_agent_stands_in_a_value_of_it() -> None:
    document = parse_document(CODEX_PATH, 'name = "a"\ndeveloper_instructions = """\nBe brief.\r\nStop.\n\n"""\n')
    assert read_body(document) == "Be brief.\nStop.\n"
