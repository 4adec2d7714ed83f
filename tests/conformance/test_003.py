"""The output contract (003): the hyper format, and the activity that hooks record."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import TYPE_CHECKING

import pytest

import remit
from tests.support.conformance_project import codes, errors, judge
from tests.support.hook_session import Stage, make_workspace
from tests.support.return_samples import DROP, fenced, hyper, marked, pretty

if TYPE_CHECKING:
    from pathlib import Path

    from remit.model import Verdict
    from tests.support.conformance_project import Project

conforms = pytest.mark.conforms
HYPER = "hyper"
ERROR = {"code": "NO_ACCESS", "message": "The disk is read-only."}


def check(changes: dict[str, object]) -> Verdict:
    """The verdict on a return with some changes."""
    return judge(marked(hyper(changes)), format=HYPER)


@conforms("003-04")
def test_meta_has_a_name_a_status_and_a_time(subtests: pytest.Subtests) -> None:
    for key, value in product(("agent_name", "status", "execution_time_ms"), (DROP, {"not": "this"})):
        with subtests.test(key=key, value=value):
            assert check({}).diagnostics == ()
            refused = check({f"/meta/{key}": value})
            assert not refused.accepted
            assert any(key in place or key in each.message for each in refused.diagnostics for place in errors(refused))


@conforms("003-05")
def test_three_status_words() -> None:
    assert check({}).accepted
    assert check({"/meta/status": "partial"}).accepted
    assert check({"/meta/status": "error", "/error": ERROR}).accepted
    for word in ("completed", "failed", "blocked", "success"):
        assert errors(check({"/meta/status": word})) == ["/meta/status"]


@conforms("003-06")
def test_artifacts_may_be_empty_but_not_absent() -> None:
    assert check({"/artifacts": []}).accepted
    assert not check({"/artifacts": DROP}).accepted
    assert not check({"/artifacts": {}}).accepted


@conforms("003-07")
def test_an_artifacts_type_is_one_of_three_and_fits_the_file() -> None:
    assert errors(check({"/artifacts/0/type": "plan"})) == ["/artifacts/0/type"]
    fitting = {"document": "a.mdx", "code": "a.ts", "data": "a.json"}
    for kind, path in fitting.items():
        assert check({"/artifacts/0/type": kind, "/artifacts/0/path": path}).diagnostics == ()
    assert codes(check({"/artifacts/0/type": "code"}))


@conforms("003-09")
def test_an_artifact_has_a_summary_of_1_or_2_sentences() -> None:
    assert errors(check({"/artifacts/0/summary": DROP}))
    assert codes(check({"/artifacts/0/summary": "It limits. It counts. It logs."}))
    assert check({"/artifacts/0/summary": "It limits. It counts."}).diagnostics == ()


@conforms("003-10")
def test_an_artifact_has_3_to_5_key_points(subtests: pytest.Subtests) -> None:
    for count in (0, 2, 3, 5, 6):
        with subtests.test(count=count):
            verdict = check({"/artifacts/0/key_points": [f"Point {each}" for each in range(count)]})
            assert bool(verdict.diagnostics) is (count not in range(3, 6))


@conforms("003-11")
def test_next_steps_may_be_empty_but_not_absent() -> None:
    assert check({"/next_steps": []}).accepted
    assert not check({"/next_steps": DROP}).accepted
    assert not check({"/next_steps": "Review it."}).accepted


@conforms("003-14")
def test_the_object_is_found_in_the_final_message() -> None:
    for message in (pretty(hyper()), fenced(hyper()), marked(hyper()), f"# Done\n\n{marked(hyper())}\nBye.\n"):
        assert judge(message, format=HYPER).accepted, message


@conforms("003-15")
def test_the_markers_are_asked_for() -> None:
    assert codes(judge(marked(hyper()), format=HYPER)) == set()
    assert "RET070" in codes(judge(fenced(hyper()), format=HYPER), "warning")
    assert "AGENT_OUTPUT_START" in remit.instructions(HYPER)


@conforms("003-17")
def test_artifacts_are_on_disk_before_they_are_reported(project: Project) -> None:
    value = hyper({"/artifacts/0/path": "research/uploads.md"})
    said = f"print({marked(value)!r})\n"
    project.add_agent("analyst")
    for body, code in ((said, 1), (f"write('research/uploads.md')\n{said}", 0)):
        words = ("--command", project.program(body).command, "--return-format", HYPER)
        assert project("run", "analyst", "Do it.", *words).code == code


@conforms("003-18")
def test_a_partial_return_says_what_is_left() -> None:
    assert check({"/meta/status": "partial"}).diagnostics == ()
    assert codes(check({"/meta/status": "partial", "/next_steps": []}))


@conforms("003-19")
def test_an_error_has_a_code_and_a_message() -> None:
    for key in ("code", "message"):
        left = {name: value for name, value in ERROR.items() if name != key}
        assert not check({"/meta/status": "error", "/error": left}).accepted
    assert not check({"/meta/status": "error"}).accepted
    assert check({"/meta/status": "error", "/error": {**ERROR, "details": "after 3 s"}}).accepted


@conforms("003-20")
def test_the_name_is_that_of_the_agent_file() -> None:
    assert judge(marked(hyper()), agent="analyst", format=HYPER).accepted
    assert errors(judge(marked(hyper()), agent="other", format=HYPER)) == ["/meta/agent_name"]


@conforms("003-26")
def test_the_schema_has_the_types_of_the_standard() -> None:
    schema = json.loads(json.dumps(remit.schema(HYPER)))
    assert set(schema["required"]) == {"meta", "artifacts", "next_steps"}
    meta = schema["properties"]["meta"]["properties"]
    assert (meta["status"]["enum"], meta["agent_name"]["type"]) == (["complete", "partial", "error"], "string")
    artifact = schema["properties"]["artifacts"]["items"]["properties"]
    assert artifact["type"]["enum"] == ["document", "code", "data"]
    assert artifact["key_points"]["items"]["type"] == "string"
    assert schema["properties"]["next_steps"]["items"]["type"] == "string"
    assert {"code", "message", "details"} <= schema["properties"]["error"]["properties"].keys()


NOTE = "---\ntitle: Uploads\n---\n\n# Uploads\n"


@conforms("003-21", "003-25")
def test_the_hook_records_the_session_the_time_and_the_operation(tmp_path: Path) -> None:
    """R3.11: the agent writes a file, and the record is in its frontmatter once its caller has the result."""
    stage = Stage(make_workspace(tmp_path / "project"), quick=True)
    child = stage.call("planner")
    child.start()
    child.write("uploads.md", NOTE)
    answer = child.report("uploads.md")
    child.stop(answer)
    child.respond(answer)
    head = (stage.root / "uploads.md").read_text().split("---")[1]
    assert "activity:" in head
    assert child.session_id in head
    assert "operation: write" in head
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", head)
