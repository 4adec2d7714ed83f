"""A CLEO project: the manifest protocol to the letter, and a `cleo` that logs its calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.cleo_manifest import record
from tests.support.hook_session import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.conformance_project import Project

MANIFEST = ".cleo/agent-outputs/MANIFEST.jsonl"


@pytest.fixture
def shop(place: Callable[[str], Project]) -> Project:
    return place("cleo-project")


def list_calls(shop: Project) -> list[list[str]]:
    log = shop.root / ".cleo/calls.log"
    return [*map(json.loads, log.read_text().splitlines())] if log.exists() else []


def list_changed(shop: Project) -> set[str]:
    """The files that differ from the example."""
    shop.git("add", "--all")
    return set(shop.git("diff", "--cached", "--name-only", "HEAD~" if has_commit(shop) else "HEAD").split())


def has_commit(shop: Project) -> bool:
    return len(shop.git("log", "--format=%s").splitlines()) > 1


def test_the_manifest_that_is_there_is_valid(shop: Project) -> None:
    """D5: 004's default for EPIC_ID is an empty item."""
    assert shop("findings", "validate").code == 0
    assert shop("lint").code == 0


def test_no_program_runs_before_the_user_agreed(shop: Project) -> None:
    ended = shop("task", "research", "T1234", "--command", record(shop, "complete").command)
    assert ended.code == 2
    assert "remit config trust" in ended.err.decode()
    assert list_calls(shop) == []


@pytest.mark.parametrize("words", [("research", "T1234"), ("run", "cleo-subagent", "Find out.", "--task", "T1234")])
def test_the_protocol_runs_to_its_end(shop: Project, words: tuple[str, ...]) -> None:
    """D3 D16: after one `remit config trust`, by its own id and in its own format."""
    assert shop("config", "trust", "--yes").code == 0
    ended = shop(*words, "--command", record(shop, "complete").command)
    assert ended.code == 0, (ended.text, ended.err)
    assert "Research complete. See MANIFEST.jsonl for summary." in ended.text
    entries = [json.loads(line) for line in (shop.root / MANIFEST).read_text().splitlines()]
    assert [each["linked_tasks"][-1] for each in entries] == ["T1200", "T1234"]
    calls = list_calls(shop)
    assert [each[0] for each in calls] == ["show", "focus", "show", "complete", "research"]
    assert calls[-1] == ["research", "link", "T1234", entries[1]["id"]]
    (task,) = (each for each in shop.load(".cleo/tasks.json")["tasks"] if each["id"] == "T1234")
    assert (task["status"], task["linkedResearch"]) == ("done", [entries[1]["id"]])
    assert all(path.startswith(".cleo/") for path in list_changed(shop))


OWN_STEPS = """
import subprocess
for words in OWN:
    done = [*words, line["id"]] if words[0] == "research" else words
    subprocess.run(["bin/cleo", *done], check=True)
"""


@pytest.mark.parametrize("steps", [1, 2])
def test_an_agent_that_completes_its_task_itself_is_accepted(shop: Project, steps: int) -> None:
    """D1 D16: it obeys its file to the letter, and Remit does what is missing; `cleo` completes no task twice."""
    assert shop("config", "trust", "--yes").code == 0
    own = [["complete", "T1234"], ["research", "link", "T1234"]][:steps]
    program = record(shop, "complete")
    program.file.write_text(program.file.read_text() + OWN_STEPS.replace("OWN", repr(own)))
    ended = shop("run", "cleo-subagent", "Find out.", "--task", "T1234", "--command", program.command)
    assert ended.code == 0, (ended.text, ended.err)
    (prompt,) = program.prompts
    assert "cleo complete T1234" in prompt
    assert "Remit completes the task" not in prompt
    calls = [each[0] for each in list_calls(shop)]
    assert (calls.count("complete"), calls.count("research")) == (1, 1)
    (task,) = (each for each in shop.load(".cleo/tasks.json")["tasks"] if each["id"] == "T1234")
    assert (task["status"], len(task["linkedResearch"])) == ("done", 1)


CUT_SHORT = """
told = re.search(r"Write your findings to (\\S+)", prompt)[1]
write(told)
write("notes.md")
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", [("research", "T1234"), ("run", "cleo-subagent", "Find out.", "--task", "T1234")])
def test_what_a_timed_out_agent_left_is_committed(shop: Project, words: tuple[str, ...]) -> None:
    """D17: the findings file where it was told to write it; another file may be the user's."""
    assert shop("config", "trust", "--yes").code == 0
    program = shop.program(CUT_SHORT)
    ended = shop(*words, "--command", program.command, "--timeout", "3s", "--json")
    told = json.loads(ended.out)
    assert (told["status"], told["remit"]["stop_reason"]) == ("partial", "timeout")
    path = f".cleo/agent-outputs/{told['file']}"
    assert path in program.prompts[0]
    assert path in shop.git("show", "--name-only", "--format=").split()
    assert "?? notes.md" in shop.git("status", "--porcelain")
    assert shop("findings", "validate").code == 0


def test_the_harness_starts_the_agent(shop: Project) -> None:
    """D3 by hook events: it is instructed and judged by the manifest protocol."""
    assert shop("config", "trust", "--yes").code == 0
    stage = Stage(shop.root, quick=True)
    child = stage.call("cleo-subagent", "Which paints may share a shelf?\ntask_id: T1234\n")
    child.start()
    assert "MANIFEST.jsonl" in child.told
    assert child.stop("Which paints? All of them may.")["decision"] == "block"
