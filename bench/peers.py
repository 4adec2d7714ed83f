"""The readers that are compared: each turns a final message into an object, or into nothing.

Owns how every peer is called. A peer is imported only when it is loaded, and one that is missing raises ImportError.
What a peer returns is not trusted: `Reader` results go through the plain validator.
"""

from __future__ import annotations

import importlib
import json
import os
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from bench.corpus.case import Payload

Reader: TypeAlias = Callable[[str, str | None], object]

_FENCE: Final = "```json"


@dataclass(frozen=True, slots=True)
class Peer:
    """A reader with a name; `closed` says that it keeps only the members its types declare."""

    name: str
    load: Callable[[], Reader]
    closed: bool = False
    validates: bool = False


def last_fence(text: str) -> str | None:
    """What stands in the last `json` fence, found from the end."""
    start = text.rfind(_FENCE)
    if start < 0:
        return None
    end = text.find("```", start + len(_FENCE))
    return text[start + len(_FENCE) : end if end >= 0 else len(text)]


def load_floor() -> Reader:
    """The least that can be done: the last fence and a strict decoder."""
    loads = importlib.import_module("orjson").loads

    def read(text: str, _session_id: str | None) -> object:
        start = text.rfind(_FENCE)
        return loads(text[start + 7 : text.find("```", start + 7)])

    return read


def load_remit() -> Reader:
    """Remit: found, repaired and validated in one call."""
    check = importlib.import_module("remit").check

    def read(text: str, session_id: str | None) -> object:
        verdict = check(text, session_id=session_id)
        return verdict.payload if verdict.accepted else None

    return read


def _last_object(value: object) -> object:
    """Of several objects the last: answers stand at the end."""
    if isinstance(value, list):
        return next((item for item in reversed(value) if isinstance(item, dict)), None)
    return value


def load_json_repair() -> Reader:
    """json_repair on the whole message."""
    loads = importlib.import_module("json_repair").loads
    return lambda text, _session_id: _last_object(loads(text))


def load_fence_and_json_repair() -> Reader:
    """json_repair on the last fence, on everything where there is none."""
    loads = importlib.import_module("json_repair").loads

    def read(text: str, _session_id: str | None) -> object:
        body = last_fence(text)
        return _last_object(loads(text if body is None else body))

    return read


def load_fence_and_pyjson5() -> Reader:
    """pyjson5, which takes comments, single quotes and trailing commas, on the last fence."""
    decode = importlib.import_module("pyjson5").decode

    def read(text: str, _session_id: str | None) -> object:
        body = last_fence(text)
        return decode(text if body is None else body)

    return read


def load_instructor() -> Reader:
    """The extraction of instructor, then a strict decoder."""
    extract = importlib.import_module("instructor.v2.core.json").extract_json_from_codeblock
    return lambda text, _session_id: _last_object(json.loads(extract(text)))


def load_guardrails() -> Reader:
    """The extraction of guardrails."""
    extract = importlib.import_module("guardrails.utils.parsing_utils").extract_json_from_ouput
    return lambda text, _session_id: _last_object(extract(text)[0])


def load_langchain() -> Reader:
    """LangChain's JSON output parser."""
    parser = importlib.import_module("langchain_core.output_parsers").JsonOutputParser()
    return lambda text, _session_id: _last_object(parser.parse(text))


def load_pydantic_ai() -> Reader:
    """What pydantic-ai does with text output: strip the fence, then validate the JSON against the type."""
    strip = importlib.import_module("pydantic_ai._utils").strip_markdown_fences
    adapter = importlib.import_module("pydantic").TypeAdapter(dict[str, Any])
    return lambda text, _session_id: adapter.validate_json(strip(text))


_BAML_TYPES: Final = """
class Artifact {
  type string
  path string
  summary string?
}
class Metadata {
  session_id string?
  agent_type string
  delegation_depth int
  delegation_path string[]
  duration_seconds int | float | null
  phase_count int?
  estimated_hours int | float | null
  findings_count int?
}
class Fault {
  type string
  message string
  recoverable bool
  recommendation string
  code string?
}
class StandardReturn {
  status "completed" | "partial" | "failed" | "blocked"
  summary string
  artifacts Artifact[]
  metadata Metadata
  errors Fault[]?
  next_steps string?
  session_id string?
}
class HyperArtifact {
  type "document" | "code" | "data"
  path string
  summary string
  key_points string[]
}
class Meta {
  agent_name string
  status "complete" | "partial" | "error"
  execution_time_ms int | float
}
class HyperError {
  code string
  message string
  details string?
}
class HyperReturn {
  meta Meta
  artifacts HyperArtifact[]
  next_steps string[]
  error HyperError?
}
client<llm> Nobody {
  provider openai
  options {
    model "none"
    api_key "none"
  }
}
function Read(text: string) -> StandardReturn | HyperReturn {
  client Nobody
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
"""
DECLARED: Final = frozenset(
    word for line in _BAML_TYPES.splitlines() if line.startswith("  ") for word in line.split()[:1]
)


class _Built:
    """Stands in for the classes that BAML would generate."""

    def __init__(self, members: dict[str, object]) -> None:
        self.members = members

    @classmethod
    def model_validate(cls, members: dict[str, object]) -> _Built:
        """The one class method that BAML's runtime calls."""
        return cls(members)


def _plain(value: object) -> object:
    """Built objects as dicts; an optional member that is absent comes back as None and is left out again."""
    if isinstance(value, _Built):
        return {key: _plain(item) for key, item in value.members.items() if item is not None}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def load_baml() -> Reader:
    """BAML's parser through its runtime, from types in a string: no generated client, no model."""
    # Its errors carry a native stack trace when this is set, which would be measured too.
    os.environ["RUST_BACKTRACE"] = "0"
    runtime = importlib.import_module("baml_py").BamlRuntime.from_files("baml_src", {"returns.baml": _BAML_TYPES}, {})
    context = runtime.create_context_manager()
    module = types.ModuleType("returns")
    for line in _BAML_TYPES.splitlines():
        if line.startswith("class "):
            name = line.split()[1]
            setattr(module, name, type(name, (_Built,), {}))

    def read(text: str, _session_id: str | None) -> object:
        built = runtime.parse_llm_response(
            "Read",
            text,
            enum_module=module,
            cls_module=module,
            partial_cls_module=module,
            allow_partials=False,
            ctx=context,
            tb=None,
            cb=None,
            env_vars={},
        )
        return _plain(built)

    return read


def declared(payload: Payload) -> Payload:
    """A payload without the members that closed types do not declare."""
    return {key: _declared(item) for key, item in payload.items() if key in DECLARED}


def _declared(value: object) -> object:
    if isinstance(value, dict):
        return declared(value)
    return [_declared(item) for item in value] if isinstance(value, list) else value


REMIT: Final = Peer("Remit", load_remit, validates=True)
FLOOR: Final = Peer("last fence + orjson", load_floor)
PEERS: Final = (
    Peer("last fence + json_repair", load_fence_and_json_repair),
    Peer("json_repair", load_json_repair),
    Peer("last fence + pyjson5", load_fence_and_pyjson5),
    Peer("BAML", load_baml, closed=True),
    Peer("instructor", load_instructor),
    Peer("guardrails", load_guardrails),
    Peer("LangChain", load_langchain),
    Peer("pydantic-ai", load_pydantic_ai),
)


def find_peer(name: str) -> Peer:
    """The peer of that name, Remit among them."""
    return next(peer for peer in (REMIT, FLOOR, *PEERS) if peer.name == name)
