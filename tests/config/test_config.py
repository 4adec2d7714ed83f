"""Configuration: what a workspace may set, and a clear sentence for everything else."""

import time
from pathlib import Path

import pytest

from remit.config import LintSettings, Settings, fill_backend, parse_settings
from remit.errors import ConfigError
from remit.storage.settings import load_settings


@pytest.mark.parametrize("text", ["", "# nothing\n", "[returns]\n", "[returns.status_words]\n"])
def test_nothing_set_is_nothing_set(text: str) -> None:
    assert parse_settings(text) == Settings()


@pytest.mark.parametrize(
    "text",
    [
        '[returns.status_words]\nplanned = "completed"\nwaiting = "blocked"\n',
        '[returns]\nstatus_words = {planned = "completed", waiting = "blocked"}\n',
    ],
)
def test_a_workspace_may_have_status_words_of_its_own(text: str) -> None:
    """C3."""
    assert parse_settings(text).returns.status_words == {"planned": "completed", "waiting": "blocked"}


def test_other_tools_in_a_shared_file_are_not_looked_at() -> None:
    text = '[tool.other]\nspeed = 3\n[project]\nname = "x"\n'
    assert parse_settings(text, table=("tool", "remit")) == Settings()


def check_refused(text: str, message: str, hint: str) -> ConfigError:
    """Settings that nobody can follow are told, with what to do."""
    with pytest.raises(ConfigError) as caught:
        parse_settings(text)
    assert message in caught.value.message
    assert hint in caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("status = [", "isn't valid TOML", "correct it"),
        (f"days = {'1' * 5000}", "isn't valid TOML", "correct it"),
        ("[retruns]\n", "'retruns' isn't a table", "did you mean 'returns'"),
        ("[zzz]\n", "'zzz' isn't a table", "available: returns"),
        ("returns = 3\n", "[returns] isn't a table", "write it as [returns]"),
        (
            "[returns]\nstatus_word = 1\n",
            "'status_word' isn't a setting of [returns]",
            "did you mean 'status_words'",
        ),
        ("[returns]\nstatus_words = 3\n", "returns.status_words isn't a table", "status_words = {"),
        ('[returns.status_words]\nplanned = "done"\n', "'planned' is mapped to 'done'", "completed, partial"),
        ("[returns.status_words]\nplanned = 3\n", "'planned' is mapped to 3", "completed, partial"),
        ('[returns.status_words]\nplanned = ["completed"]\n', "'planned' is mapped to ['completed']", "one of"),
        ('[returns.status_words]\nfailed = "completed"\n', "'failed' is a status word of a format", "no format has"),
        ('[returns.status_words]\nerror = "completed"\n', "'error' is a status word of a format", "no format has"),
        ('[returns.status_words]\ncomplete = "failed"\n', "'complete' is a status word of a format", "no format has"),
    ],
)
def test_what_cannot_be_followed_is_told_with_what_to_do(text: str, message: str, hint: str) -> None:
    """C3: nobody makes `failed` mean completed."""
    told = check_refused(text, message, hint)
    assert str(told) == f"{told.message}; {told.hint}"


@pytest.mark.parametrize("text", ["tool = 3\n", "[tool]\nremit = 3\n", 'tool = "x"\n', "[[tool]]\n"])
def test_a_shared_file_of_another_shape_is_told_too(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_settings(text, table=("tool", "remit"))


# Linting

EVERYTHING = """
[lint]
select = ["AGT"]
ignore = ["AGT122"]
extend-select = ["GRF"]
exclude = ["vendor/**"]
baseline = ".remit-baseline.json"
fail-on = "error"
[lint.per-file-ignores]
"docs/**" = ["AGT1", "GRF"]
[lint.severity]
agt126 = "note"
"""


def test_everything_about_linting_can_be_set() -> None:
    assert parse_settings(EVERYTHING).lint == LintSettings(
        select=("AGT",),
        ignore=("AGT122",),
        extend_select=("GRF",),
        per_file_ignores={"docs/**": ("AGT1", "GRF")},
        severity={"AGT126": "note"},
        exclude=("vendor/**",),
        baseline=".remit-baseline.json",
        fail_on="error",
    )


def test_keys_may_be_spelled_with_underscores_and_stand_in_a_shared_file() -> None:
    spelled = EVERYTHING.replace("extend-select", "extend_select").replace("per-file-ignores", "per_file_ignores")
    assert parse_settings(spelled) == parse_settings(EVERYTHING)
    shared = EVERYTHING.replace("[lint", "[tool.remit.lint")
    assert parse_settings(shared, table=("tool", "remit")) == parse_settings(EVERYTHING)


@pytest.mark.parametrize("text", ["[lint]\n", "[lint.severity]\n", ""])
def test_what_is_not_set_is_as_it_was(text: str) -> None:
    assert parse_settings(text).lint == LintSettings()
    assert parse_settings(text).lint.select == ("ALL",)
    assert parse_settings(text).lint.fail_on == "warning"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("lint = 3\n", "[lint] isn't a table", "write it as [lint]"),
        ("[lint]\nselct = []\n", "'selct' isn't a setting of [lint]", "did you mean 'select'"),
        ('[lint]\nselect = "AGT"\n', "lint.select isn't a list of strings", 'select = ["AGT1"]'),
        ("[lint]\nignore = [3]\n", "lint.ignore isn't a list of strings", 'ignore = ["AGT1"]'),
        ('[lint]\nexclude = "vendor"\n', "lint.exclude isn't a list of strings", 'exclude = ["vendor/**"]'),
        ("[lint]\nper-file-ignores = []\n", "lint.per_file_ignores isn't a table", "per_file_ignores = {"),
        ('[lint.per-file-ignores]\n"a" = "AGT"\n', "lint.per_file_ignores.a isn't a list of strings", '["AGT1"]'),
        ("[lint]\nseverity = 3\n", "lint.severity isn't a table", 'severity = {AGT126 = "note"}'),
        ('[lint.severity]\nAGT126 = "bad"\n', "lint.severity.AGT126 is 'bad'", "note, warning, error"),
        ('[lint]\nfail-on = "never"\n', "lint.fail_on is 'never'", "note, warning, error"),
        ("[lint]\nfail-on = 3\n", "lint.fail_on is 3", "note, warning, error"),
        ("[lint]\nbaseline = 3\n", "lint.baseline isn't a file name", "baseline = "),
        ('[lint]\nbaseline = " "\n', "lint.baseline isn't a file name", "baseline = "),
    ],
)
def test_a_setting_of_linting_that_cannot_be_followed_is_told(text: str, message: str, hint: str) -> None:
    check_refused(text, message, hint)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[tasks]\nshow = "cleo show"', "tasks.show isn't a command that contains {id}"),
        ("[tasks]\nshow = 3", "tasks.show isn't a command that contains {id}"),
        ('[tasks]\nfolder = "/etc"', "tasks.folder isn't a path within the workspace"),
        ('[tasks]\nfolder = "a/../../b"', "tasks.folder isn't a path within the workspace"),
        ("[manifest]\npath = 3", "manifest.path isn't a path within the workspace"),
        ('[manifest]\noutput_dir = ""', "manifest.output_dir isn't a path within the workspace"),
        ("[retention]\ndays = 0", "retention.days isn't a whole number from 1 to 1000000"),
        ("[retention]\ndays = true", "retention.days isn't a whole number from 1 to 1000000"),
        ("[retention]\ndays = 99999999999999999999", "retention.days isn't a whole number from 1 to 1000000"),
        ("[retention]\nmegabytes = 1000001", "retention.megabytes isn't a whole number from 1 to 1000000"),
        ("[retention]\nyears = 1", "'years' isn't a setting of [retention]"),
    ],
)
def test_a_wrong_setting_of_the_workspace_is_named(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_settings(text)
    assert caught.value.message == sentence
    assert caught.value.hint


def test_the_settings_of_the_workspace_are_read() -> None:
    tasks = '[tasks]\nfolder = "docs/specs/"\nshow = "cleo show {id}"\n'
    text = f'{tasks}[manifest]\npath = "out/M.jsonl"\n[retention]\ndays = 7\n'
    settings = parse_settings(text)
    assert settings.tasks.folder == "docs/specs"
    assert settings.tasks.commands == {"show": "cleo show {id}"}
    assert settings.manifest.path == "out/M.jsonl"
    assert (settings.retention.days, settings.retention.megabytes) == (7, 1024)


@pytest.mark.parametrize(
    "text",
    [
        '[tool.remit.hooks]\nenforce = "none"\n',
        "[tool.remit.delegate]\nreasks = 0\n",
        "[tool.remit.limits]\nrunning = 999\n",
        "[tool.remit.budget]\nmax_usd = 999\n",
        '[tool.remit.returns.status_words]\nnothing = "completed"\n',
        '[tool.remit]\nengine = "postgresql://x/y"\n',
        '[tool.remit.lint]\nfail_on = "error"\n[tool.remit.retention]\ndays = 1\n',
    ],
)
def test_a_project_file_may_only_have_lint_settings(tmp_path: Path, text: str) -> None:
    """Agents may edit pyproject.toml, so nothing in it decides how they are judged."""
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"tool\.remit\.\w+ isn't a setting of this file") as caught:
        load_settings(tmp_path)
    assert "remit.toml" in caught.value.hint
    (tmp_path / "pyproject.toml").write_text('[tool.remit.lint]\nfail_on = "error"\n')
    assert load_settings(tmp_path) == Settings(lint=LintSettings(fail_on="error"))


def test_evidence_has_no_switch() -> None:
    with pytest.raises(ConfigError, match="'evidence' isn't a setting of"):
        parse_settings("[delegate]\nevidence = false\n")


def test_where_delegations_run_is_read_and_filled_in() -> None:
    settings = parse_settings('backend = "postgresql://remit:${PW}@db/remit"\n[cluster]\nlease = 5\nremote = "x"\n')
    assert (settings.cluster.lease, settings.cluster.remote, settings.cluster.poll) == (5, "x", 0.2)
    assert fill_backend(settings.backend, {"PW": "a"}) == "postgresql://remit:a@db/remit"
    assert fill_backend(settings.backend, {"PW": "a", "REMIT_BACKEND": "local"}) == ""
    assert fill_backend(Settings().backend, {}) == ""
    assert fill_backend(Settings().backend, {"REMIT_BACKEND": "postgres://other"}) == "postgres://other"
    with pytest.raises(ConfigError, match="the variable PW, which isn't set"):
        fill_backend(settings.backend, {})
    with pytest.raises(ConfigError, match="REMIT_BACKEND isn't supported: 'mysql://…'"):
        fill_backend(settings.backend, {"REMIT_BACKEND": "mysql://x"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('backend = "redis://user:secret@x"', "backend isn't supported: 'redis://…'"),
        ('backend = "user:secret@x"', "backend isn't supported: an address without postgresql://"),
        ('backend = "locl"', "backend isn't supported: 'locl'"),
        ("backend = 3", "backend isn't supported: 3"),
        ("[cluster]\nlease = 0", "cluster.lease isn't a number above 0"),
        ("[cluster]\nparcel_megabytes = 1.5", "cluster.parcel_megabytes isn't a whole number from 1"),
        ("[cluster]\nremote = 3", "cluster.remote isn't a string"),
        ("[cluster]\nkey = 3", "'key' isn't a setting of [cluster]"),
    ],
)
def test_a_wrong_setting_of_a_cluster_is_named(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_settings(text)
    assert caught.value.message == sentence
    assert caught.value.hint


DEEP = ".".join(['"!"'] * 200) + " = 1"


@pytest.mark.parametrize(
    "text",
    [
        "#" * 1_000_001,
        ".".join("a" * 500_000) + " = 1",
        "[" + " . ".join("a" * 200) + "]",
        DEEP,
        ".".join(["' '", '"\\""'] * 100) + " = 1",
        f'# """\n{DEEP}',
        f'x = {{y = """ " """", {DEEP}}}',
    ],
    ids=("long", "bare", "header", "quoted", "quotes in quotes", "below a comment", "behind a long text"),
)
def test_what_would_keep_the_parser_busy_is_not_parsed(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ConfigError, match="too large or nested too deep"):
        parse_settings(text)
    assert time.process_time() - started < 1


def test_dots_in_a_text_are_no_depth() -> None:
    """A sentence ends with a dot, and a text may have a thousand of them."""
    lines = ("# " + "a." * 200, 'y = """', "a." * 200, '"""', f"x = '{'a.' * 200}'", f'z = "{"a. " * 200}"')
    with pytest.raises(ConfigError, match="'y' isn't a table"):  # so it was parsed
        parse_settings("\n".join(lines))


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("delegate", "timeout"), ("delegate", "reasks"), ("delegate", "result_tokens"), ("retention", "days"),
        ("limits", "running"), ("budget", "max_usd"), ("budget", "max_turns"), ("cluster", "lease"),
    ],
)  # fmt: skip
def test_what_a_hint_says_to_write_can_be_written(table: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_settings(f"[{table}]\n{key} = -1")
    told = (caught.value.hint or "").removeprefix("write it as ")
    assert told.startswith(f"{key} = ")
    parse_settings(f"[{table}]\n{told}")
