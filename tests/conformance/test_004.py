"""The manifest protocol (004): the findings file, the line, the sentence, and the task system around them."""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.cleo_manifest import FINDINGS, record
from tests.support.conformance_project import codes, judge
from tests.support.return_rule_samples import Message
from tests.support.return_samples import DROP, entry, line, pretty, sentence

if TYPE_CHECKING:
    from pathlib import Path

    from remit.model import Verdict
    from tests.support.conformance_project import Project

conforms = pytest.mark.conforms
MANIFEST = "manifest"


def check(changes: dict[str, object] | None = None, *, reply: str | None = None, tail: str | None = None) -> Verdict:
    """The verdict on a reply and the line that was appended for it."""
    value = entry(changes)
    said = sentence(value.get("status", "complete")) if reply is None and value.get("status") in WORDS else reply
    return Message(said or sentence(), MANIFEST, manifest_tail=line(value) + "\n" if tail is None else tail).judge()


WORDS = ("complete", "partial", "blocked")


@conforms("004-01")
def test_the_findings_file_is_where_the_entry_says(project: Project) -> None:
    folder = "claudedocs/agent-outputs"
    project.put(f"{folder}/MANIFEST.jsonl", line(entry()) + "\n")
    known = {"format": MANIFEST, "root": project.root}
    assert not judge(sentence(), **known).accepted
    project.put(f"{folder}/2026-01-05_search-freshness.md", FINDINGS)
    assert judge(sentence(), **known).diagnostics == ()
    assert codes(check({"/file": "other.md"})) != codes(check())


@conforms("004-02")
def test_one_line_is_appended() -> None:
    assert check().diagnostics == ()
    assert not check(tail="").accepted
    assert "RET082" in codes(check(tail=pretty(entry()) + "\n")) | codes(check(tail=line(entry())[:60]))
    assert codes(check(tail=pretty(entry()) + "\n"))
    assert codes(check(tail=line(entry())[:60]), "error")


@conforms("004-03")
def test_the_reply_is_the_sentence() -> None:
    for word in WORDS:
        changes = {} if word == "complete" else {"/needs_followup": ["BLOCKED:no access"]}
        assert check({"/status": word, **changes}).accepted
        assert codes(check({"/status": word, **changes}, reply="I am done with the research."))
    assert codes(check(reply=sentence("partial")))


@conforms("004-04")
def test_content_in_the_reply_is_named() -> None:
    assert "RET080" in codes(check(reply=f"{sentence()}\n\nThe index lags by five minutes.\n\n- Alert on it.\n"))


@conforms("004-05")
def test_an_entry_is_found_by_its_id(project: Project) -> None:
    """R4.15: by the index, which knows the line."""
    lines = [line(entry({"/id": f"topic{each}-2026-01-05", "/title": f"Topic {each}"})) for each in range(300)]
    project.put("claudedocs/agent-outputs/MANIFEST.jsonl", "\n".join(lines) + "\n")
    shown = project.json("findings", "show", "topic217-2026-01-05")
    assert "Topic 217" in json.dumps(shown)


@conforms("004-08")
def test_an_id_is_a_slug_and_a_date() -> None:
    assert codes(check({"/id": "search"}))


@conforms("004-09", "004-11", "004-12", "004-13")
def test_each_field_has_its_type(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, object, bool]] = [
        ("file", DROP, True),
        ("title", DROP, True),
        ("status", "completed", True),
        ("status", "failed", True),
        ("status", "done", True),
        ("topics", "search", True),
        ("needs_followup", "T312", True),
        ("linked_tasks", 7, True),
        ("topics", DROP, False),
        ("actionable", "yes", True),
    ]
    for key, value, is_refused in cases:
        with subtests.test(key=key, value=value):
            verdict = check({f"/{key}": value}, reply=sentence())
            assert verdict.accepted is not is_refused
            assert any(key in each.message or key in str(each.pointer) for each in verdict.diagnostics)


@conforms("004-10")
def test_a_date_is_a_day_of_the_calendar(subtests: pytest.Subtests) -> None:
    for date in ("19.01.2026", "2026-02-30", "2026-13-01", "yesterday"):
        with subtests.test(date=date):
            assert "RET085" in codes(check({"/date": date}))


@conforms("004-14")
def test_an_entry_has_3_to_7_findings_of_one_sentence(subtests: pytest.Subtests) -> None:
    for count in (2, 3, 7, 8):
        with subtests.test(count=count):
            verdict = check({"/key_findings": ["Alert on the lag."] * count})
            assert ("RET086" in codes(verdict)) is (count not in range(3, 8))
            long = check({"/key_findings": ["Alert on it. It lags.", "Drop it.", "Test it."]})
            assert "RET086" in codes(long)


@conforms("004-22", "004-24", "004-26")
def test_tokens_are_filled(project: Project) -> None:
    """R4.11: the required ones from the run, the others by their defaults; one that is not known is refused."""
    project.add_agent("scout", "research", "return: manifest\n")
    text = "Task {{TASK_ID}}, {{DATE}}, {{TOPIC_SLUG}}, epic '{{EPIC_ID}}', to {{OUTPUT_DIR}}, {{MANIFEST_PATH}}.\n"
    file = project.root / "agents/scout.md"
    file.write_text(file.read_text() + text)
    project.add_task()
    program = record(project, "complete")
    file.write_text(file.read_text() + "And {{NO_SUCH_TOKEN}}.\n")
    refused = project("run", "scout", "Find it.", "--task", "1", "--command", program.command)
    file.write_text(file.read_text().replace("And {{NO_SUCH_TOKEN}}.\n", ""))
    assert (refused.code, program.prompts) == (2, [])
    assert "NO_SUCH_TOKEN" in refused.err.decode()
    project("run", "scout", "Find it.", "--task", "1", "--command", program.command)
    (prompt,) = program.prompts
    filled = next(each for each in prompt.splitlines() if each.startswith("Task 1, "))
    assert "epic ''" in filled
    assert filled.endswith("to claudedocs/agent-outputs, claudedocs/agent-outputs/MANIFEST.jsonl.")


# --- with a task system -----------------------------------------------------------------------------------------------

CLEO = """\
#!{python}
import json, os, sys
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cleo.log"), "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
if sys.argv[1] == "show":
    print(json.dumps({{"id": sys.argv[2], "title": "Cache the uploads", "linkedResearch": []}}))
"""


class Cleo:
    """A project of CLEO, with a `cleo` that logs its calls."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project, self.folder = project, folder
        project.put(".cleo/config.json", "{}\n")
        program = folder / "cleo"
        program.write_text(CLEO.format(python=sys.executable))
        program.chmod(0o755)

    @property
    def calls(self) -> list[list[str]]:
        """What the project's task system was asked for."""
        log = self.folder / "cleo.log"
        return [*map(json.loads, log.read_text().splitlines())] if log.exists() else []

    def research(self, status: str) -> Any:  # noqa: ANN401 - the result
        """Have T1234 researched."""
        return self.project.work("research", "T1234", record(self.project, status))


@pytest.fixture
def cleo(project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Cleo:
    folder = tmp_path_factory.mktemp("bin")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    made = Cleo(project, folder)
    project.add_agent("scout", "research")
    assert project("config", "trust", "--yes").code == 0
    return made


@conforms("004-17", "004-21", "004-27")
def test_the_eight_steps_happen_in_order(cleo: Cleo) -> None:
    """R4.8: show, focus, the work, the file, the line, complete, link, the sentence."""
    cleo.research("complete")
    words = [each[:3] for each in cleo.calls]
    assert words[:2] == [["show", "T1234"], ["focus", "set", "T1234"]]
    assert words[-2][:2] == ["complete", "T1234"]
    assert words[-1] == ["research", "link", "T1234"]
    lines = next(cleo.project.root.rglob("MANIFEST.jsonl")).read_text().splitlines()
    assert [json.loads(each)["id"] for each in lines] == [cleo.calls[-1][3]]


@conforms("004-28")
def test_partial_work_completes_the_task(cleo: Cleo) -> None:
    cleo.research("partial")
    assert ["complete", "T1234"] in [each[:2] for each in cleo.calls]
    assert "BLOCKED:no key" in next(cleo.project.root.rglob("MANIFEST.jsonl")).read_text()


@pytest.mark.slow
@pytest.mark.parametrize("stop_reason", ["timeout", "unproven"])
def test_partial_work_that_remit_lowered_leaves_the_task_open(cleo: Cleo, stop_reason: str) -> None:
    """D4: the agent says complete and is stopped at its deadline, or another run may have written its files."""
    program = record(cleo.project, "complete")
    if stop_reason == "timeout":
        program.file.write_text(program.file.read_text() + "sys.stdout.flush()\ntime.sleep(60)\n")
        result = cleo.project.work("research", "T1234", program, "--timeout", "3")
    else:
        with cleo.project.beside():
            result = cleo.project.work("research", "T1234", program)
    code = {"timeout": "TIMEOUT", "unproven": "UNPROVEN"}[stop_reason]
    assert (result["remit"]["status"], result["status"]) == ("partial", "partial")
    assert code in json.dumps(result["needs_followup"])
    assert [each[0] for each in cleo.calls] == ["show", "focus"]


def test_a_run_without_an_entry_names_its_task(cleo: Cleo) -> None:
    """D4: the entry that Remit derives for an agent that returned nothing."""
    result = cleo.project.work("research", "T1234", cleo.project.program("sys.exit(3)\n"))
    assert (result["status"], result["linked_tasks"]) == ("blocked", ["T1234"])


@conforms("004-29")
def test_blocked_work_leaves_the_task_open(cleo: Cleo) -> None:
    cleo.research("blocked")
    assert [each[0] for each in cleo.calls] == ["show", "focus"]
    assert json.loads(next(cleo.project.root.rglob("MANIFEST.jsonl")).read_text())["status"] == "blocked"


@conforms("004-19")
def test_research_without_a_task_stays_unlinked(cleo: Cleo) -> None:
    """R4.9: what is only explored is asked for without a task; its entry is in the manifest all the same."""
    program = record(cleo.project, "complete")
    assert cleo.project("run", "scout", "Explore it.", "--command", program.command).code == 0
    assert cleo.calls == []
    assert next(cleo.project.root.rglob("MANIFEST.jsonl")).read_text().count("\n") == 1


@conforms("004-18")
def test_a_link_is_visible_from_both_ends(project: Project) -> None:
    project.add_task()
    project.add_agent("scout", "research")
    assert (
        project(
            "task", "research", "1", "--command", record(project, "complete").command, "--return-format", MANIFEST
        ).code
        == 0
    )
    found = next(project.root.rglob("MANIFEST.jsonl")).read_text()
    research = json.loads(found)["id"]
    assert research in json.dumps(project.json("task", "show", "1"))
    assert project.json("findings", "show", research)["tasks"] == [1]


@pytest.mark.slow
@pytest.mark.parametrize("stop_reason", ["timeout", "unproven", "partial"])
def test_a_task_of_remits_own_stays_open_only_if_remit_lowered_the_status(project: Project, stop_reason: str) -> None:
    """D4: a manifest agent's own partial completes the task; a partial that Remit made of complete doesn't."""
    project.add_task()
    project.add_agent("scout", "research")
    program = record(project, "partial" if stop_reason == "partial" else "complete")
    if stop_reason == "timeout":
        program.file.write_text(program.file.read_text() + "sys.stdout.flush()\ntime.sleep(60)\n")
    with project.beside() if stop_reason == "unproven" else nullcontext():
        result = project.work(
            "research",
            "1",
            program,
            "--return-format",
            MANIFEST,
            "--timeout",
            "3" if stop_reason == "timeout" else "60",
        )
    assert result["remit"]["status"] == "partial"
    done = {"timeout": "researching", "unproven": "researching", "partial": "researched"}
    assert project.get_task()["status"] == done[stop_reason]


def test_an_error_names_the_task_of_the_outside_system(cleo: Cleo) -> None:
    """R2.17: `remit errors list --task` finds it by the system's own id."""
    result = cleo.project.work("research", "T1234", cleo.project.program("sys.exit(3)\n"))
    assert result["remit"]["status"] == "failed"
    found = cleo.project.json("errors", "list", "--task", "T1234", "--all")["items"]
    assert found
    assert {each["task_number"] for each in found} == {"T1234"}
    assert cleo.project.json("errors", "list", "--task", "T1235", "--all")["items"] == []


def test_a_utility_agent_names_the_command_for_a_task_of_the_outside_system(cleo: Cleo) -> None:
    """D1: Remit doesn't keep the task, so it can't move its status."""
    inputs = json.dumps({"task_number": "T1234", "new_status": "completed"})
    (error,) = cleo.project.json("run", "status-sync-manager", inputs)["errors"]
    assert error["message"] == "cleo keeps the task T1234, not Remit"
    assert "`cleo complete T1234`" in error["recommendation"]
    assert cleo.calls == []
