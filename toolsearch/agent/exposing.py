"""Tools under the names and with the schemas that a provider takes."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from threading import Lock
from typing import Final

from toolsearch.catalog.definitions import described
from toolsearch.catalog.names import exposed_name
from toolsearch.catalog.schema import repair
from toolsearch.errors import InvalidInput
from toolsearch.tool import ToolSpec

KEPT: Final = 2_000
"""How many exposed tools are kept."""


@lru_cache(maxsize=20_000)
def exposed(tool_id: str) -> str:
    """The name that a model knows a tool by: legal for every provider, so that histories outlive a change of model."""
    return exposed_name(tool_id, "portable")


def name_of(spec: ToolSpec) -> str:
    """The name that a model knows a tool by."""
    return exposed(spec.id)


class Exposer:
    """Makes tools fit for one provider; `rule` is its rule for schemas. Safe under threads."""

    def __init__(self, rule: str) -> None:
        self._rule = rule
        self._kept: OrderedDict[int, tuple[ToolSpec, ToolSpec]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, spec: ToolSpec) -> ToolSpec:
        """The tool as it is sent; its id stays. A schema that cannot be repaired becomes an open object."""
        with self._lock:
            kept = self._kept.get(id(spec))
            if kept and kept[0] is spec:
                return kept[1]
        made = self._made(spec)
        with self._lock:
            self._kept[id(spec)] = (spec, made)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return made

    def _made(self, spec: ToolSpec) -> ToolSpec:
        name = exposed(spec.id)
        try:
            fitting = repair(spec.parameters, self._rule)
        except InvalidInput:
            return spec.with_(name=name, id=spec.id, parameters={"type": "object", "properties": {}})
        return spec.with_(name=name, id=spec.id, parameters=fitting.schema, description=described(spec, fitting))
