"""Options that several commands share, and commands that have many."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Shape = TypeVar("Shape", bound=DataclassInstance)


class Band(StrEnum):
    """Bands of confidence, least first."""

    none = "none"
    low = "low"
    medium = "medium"
    high = "high"


Index = Annotated[
    Path, typer.Option("--index", "-i", envvar="TOOLSEARCH_INDEX", help="Folder of the index.", show_default=False)
]
K = Annotated[int, typer.Option("-k", min=1, max=1_000, help="At most this many tools.")]
Strategy = Annotated[
    str | None, typer.Option(help="hybrid, lexical, vector or simple; by default what index.toml says.")
]
Caller = Annotated[
    list[str] | None, typer.Option(metavar="GROUP", help="A group of the caller; repeatable. Without: sees everything.")
]
Filter = Annotated[str | None, typer.Option(metavar="EXPR", help="Such as: namespace = payments and not tags = beta.")]
MinConfidence = Annotated[
    Band | None,
    typer.Option(help="Below this, nothing fits; by default none, and low with a judge.", show_default=False),
]
Judge = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", envvar="TOOLSEARCH_JUDGE",
        help="Who looks again: systemone:URL#MODEL, openai:MODEL, chat:PROVIDER:MODEL, local:FOLDER, onnx:FOLDER "
        "or st:MODEL.",
    ),
]  # fmt: skip
Shortlist = Annotated[int, typer.Option(min=1, max=1_000, help="How many of the best hits the judge looks at.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
KeepGoing = Annotated[bool, typer.Option("--keep-going", help="Leave broken tools out instead of stopping.")]
Encoder = Annotated[
    str | None, typer.Option(metavar="NAME", help='builtin, st:MODEL, openai:URL#MODEL, or "" for words only.')
]

Place = Annotated[Path, typer.Argument(metavar="PATH", help="Folder of the index.", show_default=False)]


def taking(shape: type[Shape]) -> Callable[[Callable[[Shape], None]], Callable[..., None]]:
    """Make a function of one dataclass a command with an option for each of its fields."""
    hints: dict[str, Any] = get_type_hints(shape, include_extras=True)
    parameters = [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.default is MISSING else one.default,
            annotation=hints[one.name],
        )
        for one in fields(shape)
    ]

    def decorated(function: Callable[[Shape], None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            function(shape(**values))

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__annotations__ = hints
        command.__dict__["__signature__"] = inspect.Signature(parameters)
        return command

    return decorated
