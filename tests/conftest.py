"""What holds for all tests: a machine that is busy makes no property false, and nothing is made that nobody needs."""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("any machine"), max_examples=20)
settings.load_profile("any machine")


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
