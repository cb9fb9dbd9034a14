"""YAML as JSON values, with bounds on aliases, merged keys and depth.

Only what JSON has is read: no tags make objects, dates and `yes` or `no` stay texts, keys become texts
(`200:` is `"200"`), and equal keys are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final, cast

import yaml

from toolsearch.errors import InvalidSource, LimitExceeded
from toolsearch.tool import Json

MAX_VALUES: Final = 20_000_000
"""Values of a document after its aliases are written out."""
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WHOLE: Final = re.compile(r"[-+]?(0|[1-9][0-9]{0,30})")
_NUMBER: Final = re.compile(r"[-+]?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][-+]?[0-9]{1,3})?")


def parse_yaml(text: str, where: str) -> object:
    """The value of a YAML text of one document.

    Raises:
        InvalidSource: it is not YAML, has equal keys in one mapping, or an alias inside its own anchor.
        LimitExceeded: its aliases make more than MAX_VALUES values.
    """
    try:
        root: Any = cast("Any", yaml).compose(text, Loader=_LOADER)
        return None if root is None else _Values(where).value(root)
    except RecursionError:
        raise InvalidSource(f"{where}: YAML nested too deep") from None
    except yaml.YAMLError as error:
        raise InvalidSource(f"{where}: not YAML: {' '.join(str(error).split())[:200]}") from None


@dataclass(slots=True)
class _Values:
    """Values of nodes; each node is built once, and counted as often as it is used."""

    where: str
    done: dict[int, tuple[object, int]] = field(default_factory=dict[int, "tuple[object, int]"])
    open: set[int] = field(default_factory=set[int])

    def value(self, node: Any) -> object:
        return self._counted(node)[0]

    def _counted(self, node: Any) -> tuple[object, int]:
        key = id(node)
        if key in self.done:
            return self.done[key]
        if key in self.open:
            raise InvalidSource(f"{self.where} line {node.start_mark.line + 1}: an alias inside its own anchor")
        self.open.add(key)
        built, size = self._built(node)
        if size > MAX_VALUES:
            raise LimitExceeded(f"{self.where}: more than {MAX_VALUES} values after YAML aliases are written out")
        self.done[key] = (built, size)
        return built, size

    def _built(self, node: Any) -> tuple[object, int]:
        if isinstance(node, yaml.ScalarNode):
            return _scalar(str(cast("Any", node).value), str(node.tag)), 1
        if isinstance(node, yaml.SequenceNode):
            items = [self._counted(one) for one in cast("Any", node).value]
            return [built for built, _ in items], 1 + sum(size for _, size in items)
        merged: Json = {}
        own: Json = {}
        size = 1
        for key, item in node.value:
            name = self._key(key)
            built, more = self._counted(item)
            size += more
            if key.tag.endswith(":merge"):
                merged = {**self._merged(built, item), **merged}
            elif name in own:
                raise InvalidSource(f"{self.where} line {key.start_mark.line + 1}: the key {name[:80]!r} stands twice")
            else:
                own[name] = built
        return {**merged, **own}, size

    def _key(self, node: Any) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise InvalidSource(f"{self.where} line {node.start_mark.line + 1}: a key that is not a text")
        return str(cast("Any", node).value)

    def _merged(self, built: object, node: Any) -> Json:
        parts = cast("list[object]", built) if isinstance(built, list) else [built]
        merged: Json = {}
        for part in reversed(parts):
            if not isinstance(part, dict):
                raise InvalidSource(f"{self.where} line {node.start_mark.line + 1}: '<<' merges mappings only")
            merged.update(cast(Json, part))
        return merged


def _scalar(text: str, tag: str) -> object:
    kind = tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind == "int" and _WHOLE.fullmatch(text):
        return int(text)
    if kind in ("int", "float") and _NUMBER.fullmatch(text):
        return float(text)
    return text
