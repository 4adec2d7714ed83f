"""Python types for the `data` of a return: the schema of a type, and values of it.

A Pydantic model makes its schema and its instances itself. msgspec does both for dataclasses, TypedDicts and its own
structs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.errors import InputError, UsageError

if TYPE_CHECKING:
    from remit.result import Result

_MAX_REASON = 300


def render_schema(model: Any) -> dict[str, Any]:  # noqa: ANN401 - a type
    """Return the JSON Schema of a type. Raise `UsageError` if it has none."""
    if hasattr(model, "model_json_schema"):  # a Pydantic model
        schema: dict[str, Any] = model.model_json_schema()
        return schema
    import msgspec  # noqa: PLC0415 - only for a type

    try:
        return msgspec.json.schema(model)
    except (TypeError, NameError, RecursionError) as error:
        name = getattr(model, "__name__", repr(model))
        hint = "give a Pydantic model, a dataclass or a TypedDict, defined at the top of a module"
        raise UsageError(f"{name} has no JSON Schema: {error}", hint=hint) from error


def convert_data(result: Result, model: Any) -> Result:  # noqa: ANN401 - a type
    """Return the result with `data` as a value of the type. Raise `InputError` if the type itself refuses the data.

    A type may check more than its schema says. Remit has judged the return by the schema, and the run has ended.
    """
    if result.data is None:
        return result
    try:
        if hasattr(model, "model_validate"):
            return result._replace(data=model.model_validate(result.data))
        import msgspec  # noqa: PLC0415 - only for a type

        return result._replace(data=msgspec.convert(result.data, model))
    except ValueError as error:  # the base of both libraries' errors
        name = getattr(model, "__name__", repr(model))
        reason = " ".join(str(error).split())[:_MAX_REASON]
        message = f"the data of {result.session_id} fits the schema of {name}, and {name} refuses it: {reason}"
        raise InputError(message, hint=f"see the data: {result.show}", result=result) from error
