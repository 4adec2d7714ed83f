"""What holds for all tests: a machine that is busy makes no property false, and nothing is made that nobody needs."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("any machine"), max_examples=20)
settings.load_profile("any machine")


THOROUGH = (
    # with each harness once more, or for as long as a deadline
    "test_a_model_that_refuses_is_told", "test_a_model_that_does_not_answer", "hands_back_what_it_has[opencode",
    "hands_back_what_it_has[codex", "no_further[opencode-codex-claude]", "test_a_broker_that_is_killed_loses_nothing[",
    "test_an_agent_of_the_harness_itself", "corrected[gemini]", "within_its_turns",
    "test_referee_opencode.py::test_one_that_goes_on_later", "test_referee_opencode.py::test_two_of_one_kind",
    "test_a_hook_that_fails_refuses", "test_referee_opencode.py::test_the_harnesss_own",
    "test_referee_opencode.py::test_one_whose_model", "test_referee_opencode.py::test_a_persons_own",
    "test_work_goes_on_when_claude_code_ends", "through_the_server[opencode]", "test_opencode_calls_what_its_plugin",
    "where_the_person_stands[", "however_its_name_is_spelled[", "test_a_person_does_not_feel",
    # what one of them shows as well
    "test_who_hides_or_forges_its_ticket_is_refused[cancel",
)  # fmt: skip
"""Parts of the names of tests that show again what others have shown; `make test-all` runs them, too."""
TWICE = "tests/refereeing/", "[program]"
"""Flows that are run inside the process and again by the program; of the latter `make test` runs a few."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what would make the run of every day too long, unless it is asked for."""
    if os.environ.get("REMIT_TEST_ALL"):
        return
    left_out = [item for item in items if _is_thorough(item.nodeid)]
    config.hook.pytest_deselected(items=left_out)
    dropped = set(left_out)
    items[:] = [item for item in items if item not in dropped]


def _is_thorough(name: str) -> bool:
    is_second = all(part in name for part in TWICE) and "test_stopping" not in name and "test_settling" not in name
    return is_second or any(part in name for part in THOROUGH)


CACHE = Path(__file__).parents[1] / ".pytest_cache"


def make_plain_repositories() -> None:
    """Let `git init` copy no samples: tests make hundreds of repositories, and each would look at all of them."""
    template = CACHE / "git-template"
    for folder in ("hooks", "info"):
        (template / folder).mkdir(parents=True, exist_ok=True)
    os.environ["GIT_TEMPLATE_DIR"] = str(template)


def keep_bytecode() -> None:
    """Keep bytecode with pytest's own cache where Python was told to write none beside the sources.

    Tests start hundreds of processes, and each would compile all that it imports; so would each run the tests.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(CACHE / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix


if sys.dont_write_bytecode:
    keep_bytecode()
make_plain_repositories()
