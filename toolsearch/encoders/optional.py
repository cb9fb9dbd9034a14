"""Packages that are opened at first use; those of an extra name it when they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from toolsearch.errors import MissingExtra


def optional(module: str, package: str, extra: str) -> Any:
    """The module of a package that comes with an extra.

    Raises:
        MissingExtra: the package is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and module.split(".")[0] != error.name.split(".")[0]:
            raise MissingExtra(error.name, extra) from None
        raise MissingExtra(package, extra) from None
