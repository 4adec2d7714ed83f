"""What holds for all tests: a machine that is busy makes no property false, and nothing is made that nobody needs."""

import gc
import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

from tests.support.paths import ROOT
from tests.support.sample_sizes import IS_WHOLE, choose

pytest_plugins = ["tests.support.fixtures", "tests.support.timeouts"]

settings.register_profile(
    "any machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=choose(12, 100),
    # A change is judged by the same examples on every machine; new ones are looked for by `make test-all`.
    derandomize=not IS_WHOLE,
)
settings.register_profile("quick", settings.get_profile("any machine"), max_examples=10)
settings.load_profile("any machine")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what would make the run of every day too long, unless it is asked for."""
    if not IS_WHOLE:
        left_out = [item for item in items if _is_thorough(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not _is_thorough(item)]


def pytest_collection_finish() -> None:
    """Have the collector of garbage look no more at what all tests are made of: it would, hundreds of times."""
    gc.collect()
    gc.freeze()


def _is_thorough(item: pytest.Item) -> bool:
    """Whether it is marked as a whole, or with a part of the name of its case: `thorough("opencode", "stale]")`."""
    case = item.name.partition("[")[2]
    marks = item.iter_markers("thorough")
    return any(not mark.args or any(part in case for part in mark.args) for mark in marks)


CACHE = ROOT / ".pytest_cache"


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


def heed_interrupts() -> None:
    """Let children be ended by a signal, also where whoever runs the tests is not: `nohup` and `&` ignore some."""
    for each, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(each) == signal.SIG_IGN:
            signal.signal(each, handler)


if sys.dont_write_bytecode:
    keep_bytecode()
heed_interrupts()
make_plain_repositories()
