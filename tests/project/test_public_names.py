"""The public names of the package: a name that comes or goes is a decision, and shows here."""

import tomllib

import pytest

import remit
from tests.support.paths import ROOT

PUBLIC_NAMES = [
    "AgentError",
    "Artifact",
    "Budget",
    "Diagnostic",
    "JsonRepair",
    "RefusedError",
    "RemitError",
    "Request",
    "Result",
    "Return",
    "RunnerError",
    "Verdict",
    "Workspace",
    "__version__",
    "check",
    "convert",
    "explain",
    "instructions",
    "schema",
]


def test_the_public_names_are_these() -> None:
    assert sorted(remit.__all__) == PUBLIC_NAMES
    assert len(set(remit.__all__)) == len(remit.__all__)


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_a_public_name_resolves_and_is_listed(name: str) -> None:
    assert getattr(remit, name) is not None
    assert name in dir(remit)


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(remit, "no_such_name")  # noqa: B009 - a plain attribute would be refused by the type checker


def test_the_version_is_the_one_in_the_project_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert remit.__version__ == project["version"]
