"""The frontmatter's schema says what the rules say."""

import json
import subprocess
import sys

import jsonschema
import pytest
import yaml

from remit.agents.frontmatter import find_frontmatter
from remit.agents.schema import render_agent_schema
from tests.support.agent_samples import STANDARD, change

SCHEMA = render_agent_schema()


def load_head(text: str) -> object:
    found = find_frontmatter(text)
    assert found is not None
    return yaml.safe_load(text[found[0] : found[1]])


def test_the_schema_is_one_and_has_an_id() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "urn:remit:schema:agent-file:1"


def test_a_good_agent_is_valid() -> None:
    jsonschema.validate(load_head(STANDARD), SCHEMA)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("agent_type: planning", "agent_type: planer"),
        ("temperature: 0.2", "temperature: 2"),
        ("timeout: 1800", 'timeout: "30m"'),
        ('version: "1.0.0"', 'version: "1.0"'),
        ("  strategy: lazy", "  strategy: sometimes"),
        ("  max_depth: 3", "  max_depth: 9"),
        ('  command: "/plan"', '  command: "plan"'),
        ("  read: true", "  reed: true"),
        ("mode: subagent\n", ""),
    ],
)
def test_a_bad_agent_is_not(old: str, new: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(load_head(change(old, new)), SCHEMA)


def test_the_command_prints_it() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "remit", "return", "schema", "agent-file"], capture_output=True, check=True
    )
    assert json.loads(done.stdout) == SCHEMA
