"""The JSON Schema of a function's parameters and result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from enum import Enum
from inspect import Parameter as Native
from typing import Any, cast

from pydantic import PydanticUserError, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, core_schema

from toolsearch.catalog.classtypes import is_model
from toolsearch.catalog.coercion import Misfit, validated
from toolsearch.catalog.docstrings import read_docstring
from toolsearch.catalog.signatures import MISSING
from toolsearch.catalog.slots import Slot
from toolsearch.catalog.variants import CLASS_MARK, tell_apart
from toolsearch.errors import InvalidTool, LimitExceeded
from toolsearch.tool import Json

_NAMED_MAPS = ("properties", "$defs", "patternProperties", "dependentSchemas")
_PLAIN_VALUES = ("default", "const", "enum", "examples", "required", "discriminator")


class ParameterSchema(GenerateJsonSchema):
    """Pydantic's JSON Schema, but an enum shows names unless its values are texts, and classes are marked.

    Values made by `auto()` or other numbers say nothing to a model; the executor takes both.
    """

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default", "skipped-discriminator"}  # noqa: RUF012

    def enum_schema(self, schema: core_schema.EnumSchema) -> Json:
        """The values of an enum of texts, else the names."""
        shown: Json = super().enum_schema(schema)
        if not all(isinstance(one.value, str) for one in schema["members"]):
            shown |= {"enum": [one.name for one in schema["members"]], "type": "string"}
        return shown

    def model_schema(self, schema: core_schema.ModelSchema) -> Json:
        """The schema of a pydantic model, marked."""
        shown = super().model_schema(schema)
        return shown if schema.get("root_model") else {**shown, CLASS_MARK: schema["cls"].__name__}

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> Json:
        """The schema of a dataclass, marked."""
        return {**super().dataclass_schema(schema), CLASS_MARK: schema["cls"].__name__}

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> Json:
        """The schema of a TypedDict, marked."""
        shown, cls = super().typed_dict_schema(schema), schema.get("cls")
        return {**shown, CLASS_MARK: cls.__name__} if cls else shown

    def encode_default(self, dft: Any) -> Any:
        """The JSON of a default, enums as the schema shows them."""
        return super().encode_default(_enum_names(dft))


def parameters_schema(slots: Sequence[Slot], *, what: str) -> Json:
    """One object schema for the visible parameters, in order; closed unless there is `**kwargs`.

    Raises:
        InvalidTool: a type has no JSON Schema; the text names the parameter.
        LimitExceeded: types nested too deeply.
    """
    parts, definitions = _generated(slots, what)
    properties: Json = {}
    others: object = False
    for slot, part in zip(slots, parts, strict=True):
        parameter = slot.parameter
        if parameter.kind is Native.VAR_KEYWORD:
            others = part.get("additionalProperties", True)
            continue
        properties[parameter.shown] = {**part, **_default(slot, what)}
        if parameter.description:
            properties[parameter.shown]["description"] = parameter.description
    required = [slot.parameter.shown for slot in slots if slot.required]
    schema: Json = {"type": "object", "properties": properties, "additionalProperties": others}
    if required:
        schema["required"] = required
    return tidied(tell_apart(deepcopy({**schema, "$defs": definitions}), what=what))


def result_schema(annotation: Any) -> Json | None:
    """The schema of what a function returns when that is an object with known keys, else None."""
    if not is_model(annotation):
        return None
    try:
        schema = TypeAdapter(annotation).json_schema(mode="serialization", schema_generator=ParameterSchema)
    except (PydanticUserError, PydanticInvalidForJsonSchema, NameError, RecursionError):
        return None
    if "$ref" in schema:  # a class that contains itself: the root of a result must be an object
        schema = {**schema["$defs"][schema.pop("$ref").removeprefix("#/$defs/")], **schema}
    return tidied(deepcopy(schema))


def tidied(schema: Json) -> Json:
    """The schema without titles and marks; sections of class docstrings become descriptions of fields."""
    tidy: Json = {}
    for key, value in schema.items():
        if key in _NAMED_MAPS and isinstance(value, dict):
            tidy[key] = {name: _tidied_value(one) for name, one in cast(Json, value).items()}
        elif key in _PLAIN_VALUES:
            tidy[key] = value
        elif key not in ("title", CLASS_MARK):
            tidy[key] = _tidied_value(value)
    return _documented(tidy)


def _tidied_value(value: object) -> object:
    if isinstance(value, dict):
        return tidied(cast(Json, value))
    return [_tidied_value(one) for one in cast("list[object]", value)] if isinstance(value, list) else value


def _documented(schema: Json) -> Json:
    text, properties = schema.get("description"), schema.get("properties")
    if not isinstance(text, str) or not isinstance(properties, dict) or "\n" not in text:
        return schema
    documentation = read_docstring(text)
    for name, said in documentation.parameters.items():
        if isinstance(one := cast(Json, properties).get(name), dict):
            cast(Json, one).setdefault("description", said)
    return {**schema, "description": documentation.text or text}


def _generated(slots: Sequence[Slot], what: str) -> tuple[list[Json], Json]:
    """The schema of each slot, and the definitions that they share."""
    inputs: list[Any] = [(str(at), "validation", slot.adapter) for at, slot in enumerate(slots)]
    try:
        parts, together = TypeAdapter.json_schemas(inputs, schema_generator=ParameterSchema)
    except (PydanticUserError, RecursionError):
        for slot in slots:
            _check_alone(slot, what)
        raise
    return [parts[str(at), "validation"] for at in range(len(slots))], together.get("$defs", {})


def _check_alone(slot: Slot, what: str) -> None:
    where = f"parameter {slot.parameter.name!r:.80} of {what}"
    try:
        slot.adapter.json_schema(schema_generator=ParameterSchema)
    except PydanticUserError as error:
        raise InvalidTool(f"{where} has a type without a JSON Schema: {error.message:.200}") from None
    except RecursionError:
        raise LimitExceeded(f"{where} has a type that is nested too deeply") from None


def _default(slot: Slot, what: str) -> Json:
    """The default as JSON, where sending it means the same; a masked secret, for one, does not."""
    if slot.fixed is MISSING or slot.fixed is None:
        return {}
    try:
        shown = ParameterSchema().encode_default(slot.fixed)
        same = validated(slot.adapter, slot.annotation, shown) == slot.absent()
    except (PydanticSerializationError, Misfit):
        return {}
    return {"default": shown} if same is True else {}


def _enum_names(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value if all(isinstance(one.value, str) for one in type(value)) else value.name
    if isinstance(value, Mapping):
        return {_enum_names(key): _enum_names(one) for key, one in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_enum_names(one) for one in cast("list[Any]", value)]
    return value
