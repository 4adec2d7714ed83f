"""What patterns cover, and which spellings get round a denial: by a second matcher, and by running them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.agents.patterns import (
    RUNNERS,
    covers,
    covers_command,
    find_runners,
    find_way_round,
    is_plain,
    matches_command,
    matches_path,
    matches_whole,
    respell,
)
from remit.globs import EVERYTHING

BUILT_INS = {"eval", "exec", "command", "time"}
NEEDS_A_PERSON = {"sudo", "su", "doas"}
"""They ask for a password, or for root."""
NEEDS_MORE = {
    "watch",
    "vim",
    "vi",
    "nvim",
    "npx",
    "npm",
    "uv",
    "tmux",
    "screen",
    "go",
    "cargo",
    "docker",
    "podman",
    "fd",
}
"""They take seconds, a terminal, a project, an image or another file, or go on behind one's back."""


# --- paths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wide", "narrow"), [
    ("**/*", "docs/plan.md"), ("docs/**", "docs/a/b.md"), ("docs/**/*", "docs/**"), ("docs/**", "docs/**/*"),
    ("docs/**", "docs/*/reports/*.md"), ("**/*.md", "docs/plan.md"), ("**/*.md", "plan.md"), ("**/x.md", "a/b/x.md"),
    ("docs/*", "docs/plan.md"), ("docs/*.md", "docs/p*.md"), ("*.{js,ts}", "a.ts"), ("**/*.ts", "src/*.ts"),
    ("./docs/**", "docs/a"), ("a?c", "abc"), ("specs/*/reports/**/*", "specs/7/reports/x.md"), ("*", "a/b/c"),
    ("**/*.{md,txt}", "docs/{a,b}.md"),
])  # fmt: skip
def test_a_pattern_covers_a_narrower_one(wide: str, narrow: str) -> None:
    assert covers(wide, narrow)


@pytest.mark.parametrize(("wide", "narrow"), [
    ("docs/*", "docs/a/b.md"), ("docs/**", "docs.md"), ("docs/**", "other/docs/x"), ("**/*.md", "docs/**"),
    ("docs/**", "docs/../secret"), ("a/*", "a/**"), ("**/x.md", "ax.md"), ("docs/**", "**/*"), ("a?c", "a*c"),
    ("*.{js,ts}", "a.py"), ("**/*", "!docs/x"), ("docs", "docs/x"), ("*.md", "docs/x.md"), ("[ab].md", "c.md"),
])  # fmt: skip
def test_a_pattern_does_not_cover_another(wide: str, narrow: str) -> None:
    assert not covers(wide, narrow)


PARTS = st.sampled_from(["a", "b", "ab", "*", "**", "a*", "*b", "?", "[ab]", "b?"])
PATTERNS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "ba", "aab", "bb"]), min_size=1, max_size=5).map("/".join)


def matches_by_regex(pattern: str, path: str) -> bool:
    """A second matcher, slow and plain."""
    if pattern in EVERYTHING:
        return True
    parts = pattern.split("/")
    parts = [*parts, "*"] if parts[-1] == "**" else parts
    text = ""
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            text += "(?:[^/]+/)*"
        else:
            inner = "".join({"*": "[^/]*", "?": "[^/]"}.get(sign, sign) for sign in part)
            text += inner + ("" if last else "/")
    return re.fullmatch(text, path) is not None


@given(PATTERNS, PATHS)
def test_paths_are_matched_as_by_a_second_matcher(pattern: str, path: str) -> None:
    if "[" not in pattern or matches_path(pattern, path):  # a class is compared by its text: no is no proof
        assert matches_path(pattern, path) == matches_by_regex(pattern, path)


@given(PATTERNS, PATTERNS, st.lists(PATHS, max_size=20))
def test_what_the_narrow_one_matches_the_wide_one_matches(wide: str, narrow: str, paths: list[str]) -> None:
    if covers(wide, narrow):
        for path in paths:
            assert matches_by_regex(wide, path) or not matches_by_regex(narrow, path), path


@given(PATTERNS, PATTERNS, PATTERNS)
def test_covering_is_an_order(one: str, two: str, three: str) -> None:
    assert covers(one, one)
    if covers(one, two) and covers(two, three) and not {one, two, three} & EVERYTHING:
        assert covers(one, three)


@given(st.text(max_size=400), st.text(max_size=400))
def test_any_text_can_be_compared(one: str, two: str) -> None:
    covers(one, two)
    covers_command(one, two)
    matches_command(one, two)
    list(respell(one))
    find_way_round(one, deny=[one, two], allow=[two])


def test_long_patterns_take_no_time() -> None:
    """Each would keep a backtracking matcher busy for years."""
    assert not covers("*a" * 140 + "b", "a" * 290)
    assert not covers("**/a/" * 50 + "b", "a/" * 140 + "c")
    assert not matches_command("*a" * 5_000 + "b", "a" * 10_000)


# --- bash ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pattern", "command"), [
    ("rm", "rm"), ("rm", "rm -rf x"), ("rm *", "rm x"), ("rm:*", "rm x"), ("git push:*", "git push origin"),
    ("git *--force", "git push origin --force"), ("git -*", "git -C . push"), ("*", "anything"), ("", "anything"),
    ("git push *-f", "git push -f"), ("npm run test*", "npm run test:unit"), ("rm  -rf", "rm -rf x"),
])  # fmt: skip
def test_a_command_is_matched(pattern: str, command: str) -> None:
    assert matches_command(pattern, command)


@pytest.mark.parametrize(("pattern", "command"), [
    ("rm", "rmdir x"), ("rm -rf", "rm -r -f x"), ("git push", "git -C . push"), ("git *--force", "git push --forced"),
    ("git push", "git pull"), ("rm", "env rm"), ("git *--force", "git push"),
])  # fmt: skip
def test_a_command_is_not_matched(pattern: str, command: str) -> None:
    assert not matches_command(pattern, command)


WORDS = st.lists(st.sampled_from(["git", "push", "-f", "--force", "origin", "rm", "*"]), min_size=1, max_size=4)


@given(WORDS, WORDS, WORDS)
def test_what_the_narrow_bash_pattern_matches_the_wide_one_matches(
    one: list[str], two: list[str], more: list[str]
) -> None:
    wide, narrow = " ".join(one), " ".join(two)
    command = " ".join(two + more).replace("*", "word")
    if covers_command(wide, narrow) and matches_command(narrow, command):
        assert matches_command(wide, command)


@pytest.mark.parametrize(("denied", "allow", "way"), [
    ("rm -rf", ["rm"], "rm -r -f"),
    ("git push --force", ["git"], "git push -f"),
    ("git push -f", ["git"], "git push --force"),
    ("git push", ["git"], "git -C . push"),
    ("rm", ["grep", "find"], "find . -maxdepth 0 -exec rm \\;"),
    ("rm -rf", ["grep", "python3"], "python3 -c 'import os; os.system(\"rm -rf\")'"),
    ("rm", ["command"], "command rm"),
    ("rm -rf", None, "rm -r -f"),
    ("curl", None, "/usr/bin/curl"),
])  # fmt: skip
def test_a_way_round_is_found(denied: str, allow: list[str] | None, way: str) -> None:
    assert find_way_round(denied, deny=[denied], allow=allow) == way


@pytest.mark.parametrize(("deny", "allow"), [
    (["rm -rf"], ["grep", "wc"]),  # what is not on the list cannot be run at all
    (["rm"], []),
    (["rm"], ["grep", "git status", "find docs -name"]),
    (["rm", "find *-exec"], ["grep", "find"]),
    (["git push *--force", "git push *-f", "git push --force", "git -*"], ["git push"]),
    (["echo x | rm"], ["echo"]),
])  # fmt: skip
def test_where_nothing_gets_round_nothing_is_found(deny: list[str], allow: list[str]) -> None:
    assert [find_way_round(denied, deny=deny, allow=allow) for denied in deny if is_plain(denied)] == [
        None for denied in deny if is_plain(denied)
    ]


def test_without_an_allow_list_something_gets_round_nearly_everything() -> None:
    """Also where somebody has thought of the path, of env and of command."""
    deny = ["rm", "/usr/bin/rm", "command", "env"]
    assert find_way_round("rm", deny=deny, allow=None) == "bash -c 'rm'"


COMMANDS = st.sampled_from(["rm -rf", "rm -fr", "git push --force", "git commit -an", "curl", "sudo", "chmod -R"])
PROGRAMS = st.lists(
    st.sampled_from(["rm", "git", "git push", "grep", "find", "env", "python3", "curl", "*"]), max_size=5
)


@given(COMMANDS, st.lists(COMMANDS, max_size=3), st.none() | PROGRAMS)
def test_a_way_round_is_allowed_and_not_denied(denied: str, others: list[str], allow: list[str] | None) -> None:
    deny = [denied, *others]
    way = find_way_round(denied, deny=deny, allow=allow)
    if way is not None:
        assert not any(matches_command(pattern, way) for pattern in deny)
        assert allow is None or any(matches_command(pattern, way) for pattern in allow)


@pytest.mark.parametrize(("pattern", "command", "expected"), [
    ("git push *", "git push", True), ("git push *", "git push origin", True), ("git push *", "git pushx", False),
    ("git push*", "git pushx", True), ("git push", "git push origin", False), ("*", "rm -rf /", True),
    ("*rm*", "sudo rm x", True), ("ls ?", "ls x", True), ("ls ?", "ls", False), ("rm *", "/bin/rm x", False),
])  # fmt: skip
def test_a_whole_command(pattern: str, command: str, expected: bool) -> None:  # noqa: FBT001 - a column of the table
    assert matches_whole(pattern, command) is expected


def test_a_long_command_takes_no_time() -> None:
    assert not matches_whole("*a" * 149 + "b", "a" * 590)


def test_a_program_of_which_only_a_part_is_allowed() -> None:
    ways = dict(
        find_runners("touch x", ["tar xf", "tar -xf", "tar tf"], deny=[], allow=["tar xf", "tar -xf", "tar tf"])
    )
    assert ways == {"tar xf": "tar xf FILE --to-command='touch x'", "tar -xf": "tar -xf FILE --to-command='touch x'"}


# --- the ways really lead there --------------------------------------------------------------------------------------


def run(command: str, where: Path) -> str:
    """Run a command in a shell, away from whatever the user has set."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(where), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["bash", "-c", command], cwd=where, capture_output=True, text=True, timeout=30, check=False,
                          stdin=subprocess.DEVNULL, env=environment)  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("program", sorted(set(RUNNERS) - NEEDS_A_PERSON - NEEDS_MORE))
def test_a_program_that_runs_others_does(program: str, tmp_path: Path) -> None:
    if program not in BUILT_INS and shutil.which(program) is None:
        pytest.skip(f"{program} is not here")
    ((_, way),) = find_runners(f"touch {tmp_path}/done", [program], deny=[], allow=[program])
    run(way, tmp_path)
    assert (tmp_path / "done").exists(), way


@pytest.mark.parametrize("denied", ["rm -rf", "rm -fr", "rm -r -f", "rm --recursive --force", "rm -R --force"])
def test_another_spelling_of_rm_removes_as_much(denied: str, tmp_path: Path) -> None:
    ways = [*respell(denied), f"/usr/bin/{denied}", f"command {denied}"]
    assert len(ways) > 4
    for way in ways:
        (tmp_path / "DIR" / "inner").mkdir(parents=True)
        run(way if "DIR" in way else f"{way} DIR", tmp_path)
        assert not (tmp_path / "DIR").exists(), way


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
@pytest.mark.parametrize("denied", ["git push --force", "git push -f"])
def test_another_spelling_of_a_forced_push_is_one(denied: str, tmp_path: Path) -> None:
    """What was pushed is replaced by something that does not follow from it."""
    setup = (
        "git init -q --bare far && git init -q near && cd near && git config user.name x && git config user.email x@x"
        " && git remote add origin ../far && git config push.default current && git commit -q --allow-empty -m one"
        " && git push -q origin HEAD"
    )
    ways = [*respell(denied), denied.replace("git", "git -C ."), f"command {denied}"]
    for index, way in enumerate(ways):
        place = tmp_path / str(index)
        place.mkdir()
        run(f"{setup} && git commit -q --amend --allow-empty -m two && {way}", place)
        assert run("git -C far log --all --format=%s", place).split() == ["two"], way
