"""The use cases on a real folder: artifacts, manifest, return file, configuration, and the small questions."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import remit
from remit.agent_files.authoring import migrate_agents
from remit.agent_files.lint import LintRequest, fix, lint, load_agent_text, load_graph, read_agent_stamps, render_graph
from remit.agents import edits, migrate
from remit.errors import ConfigError, InputError, UsageError
from remit.model import Verdict
from remit.runs.check_message import SCHEMAS, load_message
from remit.storage.settings import find_root, find_root_of, load_settings
from remit.views.explanations import explain_all
from tests.support.agent_graphs import WORKSPACES
from tests.support.return_samples import (
    ISSUED,
    OTHER,
    Changes,
    Payload,
    entry,
    fault,
    fenced,
    hyper,
    line,
    marked,
    pretty,
    sentence,
    standard,
    stopped,
)

PLAN = standard()["artifacts"][0]["path"]
FINDINGS = "# How fresh\n\n## Summary\n\n## Findings\n\n## Recommendations\n\n## Sources\n\n## Linked Tasks\n"
OUTPUTS = "claudedocs/agent-outputs"


def write(root: Path, name: str, text: str) -> Path:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def codes(verdict: Verdict) -> list[str]:
    return [finding.code for finding in verdict.diagnostics]


# Artifacts on disk


def test_a_completed_return_needs_its_files(tmp_path: Path) -> None:
    """R0.12 C11: missing is an error for completed."""
    refused = remit.check(fenced(standard()), root=tmp_path)
    assert (refused.name, codes(refused)) == ("invalid", ["RET051"])
    write(tmp_path, PLAN, "# Plan\n")
    accepted = remit.check(fenced(standard()), root=tmp_path)
    assert (accepted.name, codes(accepted)) == ("accepted", [])
    assert accepted.evidence[PLAN].state == "file"


@pytest.mark.parametrize("status", ["partial", "failed", "blocked"])
def test_for_other_statuses_a_missing_file_is_a_warning(tmp_path: Path, status: str) -> None:
    """C11: a timeout may have left nothing."""
    text = fenced(stopped(status, {"/artifacts": standard()["artifacts"]}))
    verdict = remit.check(text, root=tmp_path)
    assert verdict.accepted
    assert [finding.severity for finding in verdict.diagnostics if finding.code == "RET051"] == ["warning"]


def test_empty_files_folders_and_links_outside_are_told_apart(tmp_path: Path) -> None:
    """R0.12: inside the root after resolving links, a regular file, not empty."""
    root = tmp_path / "root"
    write(root, "docs/a.md", "")
    write(tmp_path, "secret.md", "x")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    for path, code in (("docs/a.md", "RET054"), ("docs", "RET053"), ("link.md", "RET052"), ("b.md", "RET051")):
        verdict = remit.check(fenced(standard({"/artifacts/0/path": path})), root=root)
        assert (verdict.name, codes(verdict)) == ("invalid", [code])


def test_a_link_that_leads_outside_is_an_error_whatever_the_status(tmp_path: Path) -> None:
    """R0.6: other statuses excuse a missing file, not a file of somebody else."""
    root = tmp_path / "root"
    write(tmp_path, "secret.md", "x")
    root.mkdir()
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    artifacts = [{"type": "plan", "path": "link.md", "summary": "Half"}]
    assert remit.check(fenced(stopped("partial", {"/artifacts": artifacts})), root=root).name == "invalid"


@pytest.mark.slow
def test_however_many_files_are_claimed_none_goes_unseen(tmp_path: Path) -> None:
    """R0.12: the file after thousands of others is a claim like any other."""
    write(tmp_path, "d/a.md", "x")
    names = [f"{'./' * dots}d{'/' * slashes}a.md" for dots in range(40) for slashes in range(1, 101)]
    artifacts = [{"type": "plan", "path": name, "summary": "A plan"} for name in [*names, "nobody-wrote-this.md"]]
    verdict = remit.check(line(standard({"/artifacts": artifacts})), root=tmp_path)
    assert len(verdict.evidence) == 4_001
    assert verdict.name == "invalid"
    assert "RET051" in codes(verdict)


def test_without_a_root_nothing_is_looked_at() -> None:
    verdict = remit.check(fenced(standard()))
    assert verdict.accepted
    assert not verdict.evidence


def test_bytes_are_read_like_text(tmp_path: Path) -> None:
    write(tmp_path, PLAN, "# Plan\n")
    assert remit.check(fenced(standard()).encode(), root=tmp_path).payload == standard()


def test_a_root_that_is_no_folder_is_told(tmp_path: Path) -> None:
    for root in (tmp_path / "missing", write(tmp_path, "file", "x")):
        with pytest.raises(InputError, match="isn't a folder"):
            remit.check("x", root=root)


def test_a_hyper_workspace_of_its_own_is_looked_at_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R3.3 R3.9: paths are relative to $HYPER_WORKSPACE_ROOT where it is set."""
    path = hyper()["artifacts"][0]["path"]
    monkeypatch.delenv("HYPER_WORKSPACE_ROOT", raising=False)
    write(tmp_path / ".hyper", path, "inner")
    assert codes(remit.check(marked(hyper()), root=tmp_path)) == ["RET051"]
    monkeypatch.setenv("HYPER_WORKSPACE_ROOT", str(tmp_path / ".hyper"))
    assert remit.check(marked(hyper()), root=tmp_path).name == "accepted"
    write(tmp_path, PLAN, "# Plan\n")
    assert remit.check(fenced(standard()), root=tmp_path).name == "accepted"


def test_a_hyper_file_below_the_root_counts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R3.3: where the workspace has no such file, the root may."""
    (tmp_path / ".hyper").mkdir()
    monkeypatch.setenv("HYPER_WORKSPACE_ROOT", str(tmp_path / ".hyper"))
    write(tmp_path, hyper()["artifacts"][0]["path"], "text")
    assert remit.check(marked(hyper()), root=tmp_path).name == "accepted"


@pytest.mark.parametrize("value", ["{outer}", "../outer"], ids=["absolute", "relative to the root"])
def test_a_hyper_workspace_may_lie_outside_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """R3.3: the variable names the workspace, so what is inside it is inside."""
    root, outer = tmp_path / "root", tmp_path / "outer"
    root.mkdir()
    outer.mkdir()
    monkeypatch.setenv("HYPER_WORKSPACE_ROOT", value.format(outer=outer))
    path = hyper()["artifacts"][0]["path"]
    assert codes(remit.check(marked(hyper()), root=root)) == ["RET051"]
    write(root, path, "below the root")
    assert remit.check(marked(hyper()), root=root).name == "accepted"
    (root / path).unlink()
    write(outer, path, "in the workspace")
    assert remit.check(marked(hyper()), root=root).name == "accepted"
    (outer / path).unlink()
    (outer / path).symlink_to(write(tmp_path, "secret.md", "in neither"))
    assert codes(remit.check(marked(hyper()), root=root)) == ["RET052"]


def test_a_hyper_workspace_that_is_not_there_has_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R3.3: then the root has them, or nobody has."""
    monkeypatch.setenv("HYPER_WORKSPACE_ROOT", str(tmp_path / "nowhere"))
    assert codes(remit.check(marked(hyper()), root=tmp_path)) == ["RET051"]
    write(tmp_path, hyper()["artifacts"][0]["path"], "text")
    assert remit.check(marked(hyper()), root=tmp_path).name == "accepted"


# The manifest


class Desk:
    """A workspace whose agents write findings and a manifest."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.manifest = write(root, f"{OUTPUTS}/MANIFEST.jsonl", "")

    def file(self, changes: Changes | None = None, *, findings: str | None = FINDINGS) -> Payload:
        """Append an entry, and write its findings unless there are none."""
        payload = entry(changes)
        if findings is not None:
            write(self.manifest.parent, payload["file"], findings)
        with self.manifest.open("a", encoding="utf-8") as manifest:
            manifest.write(f"{line(payload)}\n")
        return payload

    def check(self, reply: str | None = None) -> Verdict:
        """What becomes of a reply in this workspace."""
        return remit.check(reply or sentence(), root=self.root)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_sentence_and_its_entry_are_accepted(desk: Desk) -> None:
    """R4.3 R4.5 R4.7: the reply is the sentence, the rest is in the manifest, found at its usual place."""
    desk.file({"/title": "Earlier", "/status": "blocked"})
    payload = desk.file()
    verdict = desk.check()
    assert (verdict.name, codes(verdict)) == ("accepted", [])
    assert (verdict.payload, verdict.format, verdict.transport) == (payload, "manifest", "manifest")


def test_the_manifest_may_be_named_or_stand_at_the_root(desk: Desk, tmp_path: Path) -> None:
    desk.file()
    assert remit.check(sentence(), manifest=desk.manifest).name == "accepted"
    assert remit.check(sentence(), manifest=desk.manifest, root=tmp_path).name == "accepted"
    other = tmp_path / "other"
    write(other, "MANIFEST.jsonl", f"{line(entry())}\n")
    write(other, entry()["file"], FINDINGS)
    assert remit.check(sentence(), root=other).name == "accepted"


@pytest.mark.parametrize("word", ["partial", "blocked"])
def test_a_partial_or_blocked_entry_gives_its_reason(desk: Desk, word: str) -> None:
    """R4.12 R4.13 C21: the reason stands in needs_followup."""
    desk.file({"/status": word, "/needs_followup": ["BLOCKED:no access"]})
    verdict = desk.check(sentence(word))
    assert verdict.name == "accepted"
    assert verdict.returned is not None
    assert (verdict.returned.status, verdict.returned.errors[0].message) == (word, "no access")


def test_an_entry_that_is_not_there_is_missing(desk: Desk, tmp_path: Path) -> None:
    """R4.14: a missing manifest entry is named, wherever the manifest is."""
    assert codes(desk.check()) == ["RET081"]
    assert desk.check().name == "missing"
    assert codes(remit.check(sentence(), manifest=tmp_path / "none.jsonl")) == ["RET081"]
    (tmp_path / "empty").mkdir()
    assert codes(remit.check(sentence(), root=tmp_path / "empty")) == ["RET081"]


def test_a_pretty_printed_entry_is_named(desk: Desk) -> None:
    """R4.14: an object over several lines is several broken entries."""
    desk.manifest.write_text(pretty(entry()))
    assert (desk.check().name, codes(desk.check())) == ("malformed", ["RET082"])


def test_content_in_the_reply_is_named(desk: Desk) -> None:
    """R4.4 R4.14: the findings belong into the file."""
    desk.file()
    verdict = desk.check(f"I found three things.\nThe first is old.\n{sentence()}")
    assert (verdict.name, codes(verdict)) == ("invalid", ["RET080"])
    assert desk.check(f"I found three things. {sentence()}").name == "repaired"


def test_a_sentence_that_says_another_status_is_ambiguous(desk: Desk) -> None:
    """R4.5: either the entry is somebody else's, or one of the two is not true."""
    desk.file()
    verdict = desk.check(sentence("blocked"))
    assert verdict.name == "ambiguous"
    assert "RET083" in codes(verdict)


def test_a_findings_file_that_nobody_wrote_is_named(desk: Desk) -> None:
    """R4.10 R4.14: the incomplete checklist."""
    desk.file(findings=None)
    verdict = desk.check()
    assert verdict.name == "invalid"
    assert set(codes(verdict)) == {"RET051", "RET089"}


def test_a_findings_file_without_its_sections_is_named(desk: Desk) -> None:
    """R4.6: title, Summary, Findings, Recommendations, Sources, Linked Tasks."""
    desk.file(findings="## Summary\n\nSome notes.\n")
    [finding] = desk.check().diagnostics
    assert (finding.code, finding.severity) == ("RET090", "warning")
    assert finding.message == "the findings file lacks a title, Findings, Recommendations, Sources, Linked Tasks"


def test_a_blank_that_nobody_filled_in_is_found_in_the_entry_too(desk: Desk) -> None:
    """R0.2: an entry is a return like any other."""
    desk.file({"/title": "<title>", "/key_findings": ["<3 to 7 findings, one sentence each>"]})
    assert desk.check().name == "degenerate"


def test_a_manifest_that_was_named_may_lie_outside_the_root(tmp_path: Path) -> None:
    """R4.1: its findings file stands beside it."""
    desk, root = Desk(tmp_path / "outer"), tmp_path / "root"
    root.mkdir()
    desk.file()
    assert remit.check(sentence(), root=root, manifest=desk.manifest).name == "accepted"


def test_a_findings_file_outside_the_root_is_refused(tmp_path: Path) -> None:
    """R0.6: a link beside the manifest can point anywhere."""
    desk = Desk(tmp_path / "inner")
    desk.file(findings=None)
    (desk.manifest.parent / entry()["file"]).symlink_to(write(tmp_path, "outside.md", FINDINGS))
    assert codes(desk.check()) == ["RET052"]


def test_a_reply_of_another_format_does_not_need_a_manifest(desk: Desk, tmp_path: Path) -> None:
    desk.file()
    write(tmp_path, PLAN, "# Plan\n")
    verdict = remit.check(fenced(standard()), manifest=desk.manifest, root=tmp_path)
    assert (verdict.name, verdict.format) == ("accepted", "standard")


# The return file


RETURN_FILE = "specs/7_cache/.return-meta.json"


@pytest.mark.parametrize(
    "text",
    [f"Done. My return is in {RETURN_FILE}.", f"See `{RETURN_FILE}`", f"[return]({RETURN_FILE})", f"./{RETURN_FILE}"],
)
def test_a_return_in_a_file_that_the_message_names_is_read(tmp_path: Path, text: str) -> None:
    """C10: the fourth transport, bound by the issued session id."""
    write(tmp_path, PLAN, "# Plan\n")
    write(tmp_path, RETURN_FILE, pretty(standard()))
    verdict = remit.check(text, root=tmp_path, session_id=ISSUED)
    assert (verdict.name, verdict.transport) == ("accepted", "file")
    assert verdict.payload == standard()


def test_a_file_of_another_session_is_not_the_return(tmp_path: Path) -> None:
    """R0.11: an earlier run may have left one."""
    write(tmp_path, PLAN, "# Plan\n")
    write(tmp_path, RETURN_FILE, pretty(standard()))
    verdict = remit.check(f"See {RETURN_FILE}", root=tmp_path, session_id=OTHER)
    assert not verdict.accepted
    assert codes(verdict) == ["RET040"]
    assert verdict.transport == "file"


def test_without_an_issued_session_no_file_is_followed(tmp_path: Path) -> None:
    """C1: only the issued id makes a file the agent's own."""
    write(tmp_path, PLAN, "# Plan\n")
    write(tmp_path, RETURN_FILE, pretty(standard()))
    assert remit.check(f"See {RETURN_FILE}", root=tmp_path).name == "missing"


def test_a_return_file_outside_the_root_is_not_read(tmp_path: Path) -> None:
    """R0.6: whatever the message says."""
    root = tmp_path / "root"
    write(root, PLAN, "# Plan\n")
    outside = write(tmp_path, ".return-meta.json", pretty(standard()))
    (root / "return-meta.json").symlink_to(outside)
    for name in ("../.return-meta.json", str(outside), "return-meta.json"):
        assert remit.check(f"See {name}", root=root, session_id=ISSUED).name == "missing"


def test_a_return_in_the_message_itself_comes_first(tmp_path: Path) -> None:
    write(tmp_path, RETURN_FILE, pretty(standard()))
    text = f"See {RETURN_FILE}\n\n{fenced(stopped('failed'))}"
    verdict = remit.check(text, root=tmp_path, session_id=ISSUED)
    assert (verdict.transport, verdict.payload) == ("block", stopped("failed"))


def test_of_several_return_files_the_last_that_holds_one_is_read(tmp_path: Path) -> None:
    write(tmp_path, PLAN, "# Plan\n")
    write(tmp_path, "a/.return-meta.json", pretty(stopped("failed")))
    write(tmp_path, "b/.return-meta.json", pretty(standard()))
    write(tmp_path, "c/.return-meta.json", "not JSON")
    text = "See a/.return-meta.json, b/.return-meta.json, c/.return-meta.json and d/.return-meta.json"
    assert remit.check(text, root=tmp_path, session_id=ISSUED).payload == standard()


# Configuration


def test_a_workspace_maps_its_own_words(tmp_path: Path) -> None:
    """C3: a word outside the format's list is refused unless the workspace maps it."""
    write(tmp_path, PLAN, "# Plan\n")
    text = fenced(standard({"/status": "planned"}))
    assert remit.check(text, root=tmp_path).name == "invalid"
    write(tmp_path, "remit.toml", '[returns.status_words]\nplanned = "completed"\n')
    verdict = remit.check(text, root=tmp_path)
    assert verdict.name == "accepted"
    assert verdict.returned is not None
    assert (verdict.returned.status, verdict.returned.word) == ("completed", "planned")


def test_a_mapped_completed_needs_its_files_too(tmp_path: Path) -> None:
    """R0.12 C3: another word for completed is completed."""
    write(tmp_path, "remit.toml", '[returns.status_words]\nplanned = "completed"\n')
    assert codes(remit.check(fenced(standard({"/status": "planned"})), root=tmp_path)) == ["RET051"]


def test_a_mapped_word_does_not_spare_the_error(tmp_path: Path) -> None:
    """R0.9: a mapped failure needs an error like any other."""
    write(tmp_path, "remit.toml", '[returns.status_words]\nstuck = "blocked"\n')
    bare = fenced(stopped("stuck", {"/errors": []}))
    assert codes(remit.check(bare, root=tmp_path)) == ["RET060"]
    assert remit.check(fenced(stopped("stuck", {"/errors": [fault()]})), root=tmp_path).accepted


def test_remit_toml_comes_before_pyproject(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", '[tool.remit.lint]\nfail_on = "error"\n')
    assert load_settings(tmp_path).lint.fail_on == "error"
    write(tmp_path, "remit.toml", "[returns]\n")
    assert load_settings(tmp_path).lint.fail_on == "warning"


def test_a_configuration_that_cannot_be_followed_names_its_file(tmp_path: Path) -> None:
    file = write(tmp_path, "remit.toml", "[retruns]\n")
    with pytest.raises(ConfigError, match="did you mean 'returns'") as caught:
        remit.check("x", root=tmp_path)
    assert str(file) in caught.value.message


@pytest.mark.parametrize("text", ["tool = 3\n", "[tool]\nremit = 3\n"])
def test_a_project_file_of_another_shape_is_no_crash(tmp_path: Path, text: str) -> None:
    write(tmp_path, "pyproject.toml", text)
    with pytest.raises(ConfigError):
        remit.check("x", root=tmp_path)


# The small questions


def test_a_message_is_loaded_from_a_file(tmp_path: Path) -> None:
    assert load_message(str(write(tmp_path, "m.md", "Größe"))) == "Größe".encode()


@pytest.mark.parametrize("name", [name for name in SCHEMAS if name != "agent-file"])
def test_a_schema_is_given_by_name(name: str) -> None:
    payload = {"standard": standard, "hyper": hyper, "manifest": entry}[name]()
    Draft202012Validator(remit.schema(name)).validate(payload)
    assert json.dumps(remit.schema(name))


def test_a_conversion_is_given_with_its_verdict() -> None:
    result = remit.convert(fenced(standard()), to="hyper")
    assert result.accepted
    assert result.verdict.payload == standard()


def test_a_manifest_entry_is_converted(desk: Desk) -> None:
    """C21: the manifest is read for it."""
    desk.file()
    result = remit.convert(sentence(), to="standard", manifest=desk.manifest, session_id=ISSUED, agent="researcher",
                           depth=1, path=["orchestrator", "researcher"])  # fmt: skip
    assert result.accepted, result.diagnostics
    assert result.payload["artifacts"][0]["path"] == entry()["file"]


def test_a_code_is_explained() -> None:
    told = remit.explain("ret040")
    assert (told.code, told.name, told.severity, told.verdict) == ("RET040", "wrong-session", "error", "missing")
    assert told.documentation.startswith("The session id isn't the issued one.")
    assert [each.code for each in explain_all()] == sorted(each.code for each in explain_all())


def test_instructions_are_given_by_format() -> None:
    assert ISSUED in remit.instructions("standard", session_id=ISSUED)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: remit.schema("hypr"), "did you mean 'hyper'"),
        (lambda: remit.instructions("manifst"), "did you mean 'manifest'"),
        (lambda: remit.check("x", format="standrad"), "did you mean 'standard'"),
        (lambda: remit.convert("x", to="hipper"), "did you mean 'hyper'"),
        (lambda: remit.explain("RET01"), "did you mean 'RET0"),
        (lambda: remit.explain("REX041"), "did you mean 'RET041'"),
        (lambda: remit.schema("zzz"), "available: standard, hyper, manifest"),
    ],
    ids=["schema", "instructions", "check", "convert", "explain", "explain typo", "nothing close"],
)
def test_an_unknown_name_is_answered_with_the_one_that_was_meant(ask: object, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask()  # type: ignore[operator]
    assert told in caught.value.hint


# Agent files


def test_agent_files_are_linted_from_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "remit.toml", "")
    write(tmp_path, "agents/a.md", "---\nname: a\n")
    write(tmp_path, "below/b.txt", "")
    monkeypatch.chdir(tmp_path / "below")
    linted = lint()
    assert linted.root == str(tmp_path)
    assert list(linted.diagnostics) == ["agents/a.md"]
    assert linted.failed
    assert (
        linted.diagnostics["agents/a.md"]
        == lint(LintRequest(paths=(str(tmp_path / "agents/a.md"),))).diagnostics["agents/a.md"]
    )


@pytest.mark.parametrize("sign", ["remit.toml", ".remit", ".git"])
def test_the_root_is_the_nearest_folder_that_looks_like_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sign: str
) -> None:
    monkeypatch.delenv("REMIT_ROOT", raising=False)
    below = tmp_path / "a/b/c"
    below.mkdir(parents=True)
    (tmp_path / "a" / sign).mkdir()
    assert find_root(str(below)) == str(tmp_path / "a")


def test_without_any_sign_the_root_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REMIT_ROOT", raising=False)
    monkeypatch.setattr("remit.storage.settings.SIGNS", ("no-such-sign",))
    assert find_root(str(tmp_path)) == str(tmp_path)


def test_the_environment_may_name_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_ROOT", str(tmp_path))
    assert find_root() == str(tmp_path)
    monkeypatch.setenv("REMIT_ROOT", str(tmp_path / "missing"))
    with pytest.raises(InputError, match="REMIT_ROOT"):
        find_root()


def test_a_folder_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.delenv("REMIT_ROOT", raising=False)
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InputError, match="folder"):
        find_root()


def test_a_fix_can_be_looked_at_before_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_ROOT", str(tmp_path))
    file = write(tmp_path, ".claude/agents/a.md", "---\nname: a\ndescription: use: it\n---\n\nYou work.\n")
    before = file.read_text()
    [change], _ = fix(LintRequest(select=("AGT004",)), write=False)
    assert (change.before, file.read_text()) == (before, before)
    [change], linted = fix(LintRequest(select=("AGT004",)))
    assert file.read_text() == change.after == before.replace("use: it", '"use: it"')
    assert not linted.failed
    assert [finding.code for finding in change.applied] == ["AGT004"]
    assert fix(LintRequest(select=("AGT004",)))[0] == []


def test_a_file_that_changes_while_it_is_fixed_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_ROOT", str(tmp_path))
    file = write(tmp_path, ".claude/agents/a.md", "---\nname: a\ndescription: use: it\n---\n\nYou work.\n")
    original = edits.apply_fixes

    def apply_and_disturb(*args: Any, **options: Any) -> edits.FixedText:  # noqa: ANN401 - as the original
        file.write_text("somebody else's\n")
        return original(*args, **options)

    monkeypatch.setattr(edits, "apply_fixes", apply_and_disturb)
    with pytest.raises(InputError, match="was changed meanwhile"):
        fix(LintRequest(select=("AGT004",)))
    assert file.read_text() == "somebody else's\n"


def test_a_file_that_changes_while_it_is_migrated_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIT_ROOT", str(tmp_path))
    file = write(tmp_path, ".claude/agents/a.md", "---\nname: a\ndescription: Works.\n---\n\nYou work.\n")
    original = migrate.migrate

    def migrate_and_disturb(*args: Any, **options: Any) -> migrate.AgentMigration:  # noqa: ANN401 - as the original
        file.write_text("somebody else's\n")
        return original(*args, **options)

    monkeypatch.setattr("remit.agent_files.authoring.migrate", migrate_and_disturb)
    with pytest.raises(InputError, match="was changed meanwhile"):
        migrate_agents([str(file)], kind=None, write=True)
    assert file.read_text() == "somebody else's\n"


def test_a_fix_that_goes_back_and_forth_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_ROOT", str(tmp_path))
    file = write(tmp_path, ".claude/agents/a.md", "---\nname: a\ndescription: use: it\n---\n\nYou work.\n")
    before = file.read_text()

    def swing(findings: object, text: str, *, unsafe: bool) -> edits.FixedText:
        del findings, unsafe
        return edits.FixedText(text.replace("use", "USE") if "use" in text else text.replace("USE", "use"), ())

    monkeypatch.setattr(edits, "apply_fixes", swing)
    fix(LintRequest(select=("AGT004",)))
    assert file.read_text() == before.replace("use", "USE")


def test_the_graph_is_loaded_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_ROOT", str(tmp_path))
    for name, text in WORKSPACES["GRF001"].bad.items():
        write(tmp_path, name, text)
    graph = load_graph()
    assert graph.cycles == [("a", "b", "c", "a")]
    assert render_graph(graph, "mermaid").startswith("flowchart")
    assert render_graph(graph, "dot").startswith("digraph")


def test_stamps_change_when_a_file_comes_changes_or_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_ROOT", str(tmp_path))
    empty = read_agent_stamps(())
    file = write(tmp_path, ".claude/agents/a.md", "one")
    first = read_agent_stamps(())
    assert list(first) == [str(file)]
    file.write_text("longer")
    second = read_agent_stamps(())
    assert second != first
    (tmp_path / ".claude/agents/loop.md").symlink_to("loop.md")
    assert read_agent_stamps(()) == second
    write(tmp_path, "remit.toml", "[lint]\n")
    assert read_agent_stamps(()) != second
    (tmp_path / "remit.toml").unlink()
    file.unlink()
    assert read_agent_stamps(()) == empty


def test_the_text_of_what_cannot_be_read_is_empty(tmp_path: Path) -> None:
    assert load_agent_text(str(tmp_path)) == b""
    assert load_agent_text(str(write(tmp_path, "a.md", "text"))) == b"text"


def test_every_code_is_explained_once() -> None:
    known = [each.code for each in explain_all()]
    assert len(set(known)) == len(known)
    assert {"RET", "CNV", "AGT", "GRF", "IGN"} <= {code[:3] for code in known}
    for each in explain_all():
        assert each.documentation
        assert not each.documentation.startswith(" ")
        assert each.severity in ("error", "warning", "note")
        assert "_" not in each.name or each.code.startswith("CNV")


def test_paths_in_a_workspace_below_are_judged_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("remit.toml", "inner/remit.toml", "inner/agents/a.md", "agents/b.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REMIT_ROOT", raising=False)
    inner = str(tmp_path / "inner")
    assert find_root_of(["inner"]) == find_root_of(["inner/agents/a.md", "inner/agents"]) == inner
    for paths in ([], ["."], ["agents"], ["agents", "inner"], ["/"], ["nowhere"]):
        assert find_root_of(paths) == str(tmp_path)
    monkeypatch.setenv("REMIT_ROOT", str(tmp_path))
    assert find_root_of(["inner"]) == str(tmp_path)
