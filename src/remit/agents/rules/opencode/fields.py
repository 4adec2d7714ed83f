"""The fields of opencode's agents: what keeps it from starting, and what it sends to the model provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.profiles import STANDARD_KEYS
from remit.agents.rules.field_lookup import find_title
from remit.agents.rules.field_shapes import FieldCheck, FieldProblem, FieldSpec, FieldTable, RuleRow, add_table
from remit.agents.rules.opencode import RESTRICTIONS, STOPS
from remit.harnesses import claude, opencode
from remit.lazy_regex import lazy

if TYPE_CHECKING:
    from remit.agents.document import AgentDocument

_PLAIN_NUMBER = lazy(r"\d{1,9}(?:\.\d{1,9})?\Z")
_NO_TEXT = FieldProblem("AGT301", f"{{key}} is {{given}}, so {STOPS}", "Write a string, or remove the key.")
_NO_NUMBER = FieldProblem("AGT303", f"{{key}} is {{value}}, expected a number, so {STOPS}",
                          "Write a number, or remove the key.", fix_message="Write {meant}.")  # fmt: skip
_ODD_NUMBER = FieldProblem("AGT303", "{key} is {value}, which no provider accepts",
                           "Write a number from {least} to {most}.", severity="warning", at_value=True)  # fmt: skip
_STEPS = FieldProblem("AGT304", f"{{key}} is {{value}}, so {STOPS}", "Write a whole number above 0.", at_value=True)
_NO_BOOLEAN = FieldProblem("AGT306", f"{{key}} is {{given}}, so {STOPS}", "Write true or false.")


def _unquote(_: AgentDocument, value: object) -> str:
    text = value.strip() if isinstance(value, str) else ""
    return text if _PLAIN_NUMBER.match(text) else ""


def _count_steps(key: str) -> FieldSpec:
    no_number = _NO_NUMBER._replace(code="AGT304", hint=_STEPS.hint)
    check = FieldCheck(_STEPS, lambda _, value: value <= 0 or value != int(value))
    return FieldSpec(key, "number", correct=_unquote, wrong_type=no_number, checks=(check,))


TABLE = FieldTable(
    "opencode",
    fields=(
        FieldSpec(
            "description", "text", default=find_title, wrong_type=_NO_TEXT,
            missing=FieldProblem("AGT300", "description is {state}", "Describe what the agent does and when to use it.",
                                 when=lambda document: document.get("mode") != "primary"),
        ),
        FieldSpec("model", "text", wrong_type=_NO_TEXT),
        FieldSpec("variant", "text", wrong_type=_NO_TEXT),
        FieldSpec(
            "name", "text",
            wrong_type=_NO_TEXT._replace(message="{key} is {given}, so no agent can call it"),
            checks=(
                FieldCheck(FieldProblem("AGT309", "opencode names this agent {value}, not {stem}",
                                        "Use the same name for the file and the agent.", at_value=True),
                           lambda document, name: name.strip().rpartition("/")[2] not in ("", document.stem)),
            ),
        ),
        FieldSpec("mode", choices=opencode.MODES, wrong=FieldProblem(
            "AGT302", f"mode is {{value}}, so {STOPS}", fix_message="Write {meant}.",
        )),
        FieldSpec("temperature", "number", least=0, most=2, correct=_unquote, wrong_type=_NO_NUMBER, wrong=_ODD_NUMBER),
        FieldSpec("top_p", "number", least=0, most=1, correct=_unquote, wrong_type=_NO_NUMBER, wrong=_ODD_NUMBER),
        _count_steps("steps"),
        _count_steps("maxSteps"),
        FieldSpec("disable", "boolean", wrong_type=_NO_BOOLEAN),
        FieldSpec("hidden", "boolean", wrong_type=_NO_BOOLEAN),
    ),
    keys=opencode.FILE_KEYS,
    misspelt=FieldProblem("AGT313", "opencode has no key {key} and sends it to the model provider",
                          "Did you mean {meant}?"),
    unknown=FieldProblem("AGT314", "opencode sends these keys to the model provider: {keys}",
                         "Turn them into comments, or move options for the provider to options."),
    renamed={**dict.fromkeys(RESTRICTIONS, ""), "permissions": "permission", "maxSteps": "steps"},
    foreign=frozenset({*STANDARD_KEYS, *claude.FILE_KEYS}),
    checks_empty=True,
)  # fmt: skip

add_table(TABLE, (
    RuleRow("AGT300", "opencode-description-missing", "warning", "unsafe"),
    RuleRow("AGT301", "opencode-text-expected", fix="safe"),
    RuleRow("AGT302", "opencode-mode-unknown", fix="unsafe"),
    RuleRow("AGT303", "opencode-number-expected", fix="safe"),
    RuleRow("AGT304", "opencode-steps-invalid", fix="safe"),
    RuleRow("AGT306", "opencode-boolean-expected", fix="safe"),
    RuleRow("AGT309", "opencode-name-not-file", "note"),
    RuleRow("AGT313", "opencode-key-misspelled", "warning", "unsafe"),
    RuleRow("AGT314", "opencode-keys-sent-to-provider", "warning"),
))  # fmt: skip
