"""The last step of the judge on this machine: two texts as token vectors in, one logit out.

Every token of the request looks for the nearest ones in the tool's name, description and parameters, and the tool's
name for those in the request; how near they are, and what differs between them, is weighed by a small network. The
same in torch, padded and in batches, is `toolsearch.training.matcher`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.products import products

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

NAME, TEXT, PARAMETERS = 1, 2, 3
"""Parts of a tool's line."""
NAME_TOKENS: Final = 10
"""Tokens of a name that are compared one by one."""
CLIP: Final = 3.0
SMALL: Final = 1e-6
LEVELS: Final = (0.9, 0.7, 0.5, 0.3)
"""How many of the request's tokens are about that near is counted, softly."""
WIDTH: Final = 0.02
FEATURES: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text without its end marks: vectors (tokens, width) float32, token ids (tokens,), the part that each is of."""

    vectors: Floats
    ids: NDArray[np.int64]
    parts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """A text projected: `x` as it is, `unit` of length 1, how much each token weighs (not yet to one in all)."""

    x: Floats
    unit: Floats
    weight: Floats
    text: Text

    def share(self, *parts: int) -> Floats:
        """The weights of the tokens of some parts, together 1; of all parts when none is named."""
        weight = self.weight * np.isin(self.text.parts, parts) if parts else self.weight
        return weight / max(float(weight.sum()), SMALL)

    def mean(self, *parts: int) -> Floats:
        """The weighted mean of tokens, of length 1."""
        return _unit(self.share(*parts) @ self.x)


def side(w: Mapping[str, Floats], text: Text, role: str) -> _Side:
    """A text as its role, "request" or "tool", sees it."""
    x = _product(text.vectors, w[f"{role}.project"])
    heavy = products(text.vectors, w[f"{role}.weigh.weight"][0]) + w[f"{role}.weigh.bias"]
    weight = w["rarity"][text.ids] * np.exp(np.clip(heavy, -CLIP, CLIP))
    return _Side(x=x, unit=_unit(x), weight=weight, text=text)


def logit(w: Mapping[str, Floats], request: _Side, tool: _Side) -> float:
    """How much speaks for the tool; larger is better. Both texts have a token at least."""
    near = _product(request.unit, tool.unit)
    features = _features(request, tool, near)
    name, rest = tool.mean(NAME), tool.mean(TEXT, PARAMETERS)
    mean = request.mean()
    wide = np.concatenate([features, mean * name, mean * rest, *_compared(w, request, tool, near)])
    deep = np.tanh(products(w["hidden.weight"], wide) + w["hidden.bias"])
    return float(w["plain.weight"][0] @ features + w["plain.bias"][0] + w["deep.weight"][0] @ deep + w["deep.bias"][0])


def _features(request: _Side, tool: _Side, near: Floats) -> Floats:
    """FEATURES numbers: nearness by part and direction, means, words in common, lengths, counts by nearness."""
    weight, best = request.share(), near.max(0)
    parts = tool.text.parts
    found: list[float] = []
    by_name = np.zeros(len(near), np.float32)
    for part in (NAME, TEXT, PARAMETERS):
        inside = parts == part
        most = near[:, inside].max(1) if inside.any() else np.zeros(len(near), np.float32)
        by_name = most if part == NAME else by_name
        found += [float(most @ weight), float(best @ tool.share(part))]
    most = near.max(1)
    inside = parts == NAME
    found += [float(most @ weight), float(most.min()), min(1.0, float(best[inside].min())) if inside.any() else 1.0]
    mean = request.mean()
    found += [float(mean @ tool.mean(NAME)), float(mean @ tool.mean(TEXT, PARAMETERS))]
    same = request.text.ids[:, None] == tool.text.ids[None]
    found += [float(same.any(1) @ weight)]
    found += [float(same.any(0) @ tool.share(NAME)), float(same.any(0) @ tool.share(TEXT, PARAMETERS))]
    found += [float(np.log1p(len(near)) / 3), float(np.log1p(len(parts)) / 3)]
    found += [float(np.exp(-((one - level) ** 2) / WIDTH) @ weight) for one in (most, by_name) for level in LEVELS]
    return np.array(found, np.float32)


def _compared(w: Mapping[str, Floats], request: _Side, tool: _Side, near: Floats) -> list[Floats]:
    """What the request's tokens and those of the name make of what they find, as weighted mean and as maximum."""
    heat = w["heat"][0]
    asked = _beside(w, "request", request.unit, _product(_softmax(heat * near), tool.unit.T))
    inside = np.flatnonzero(tool.text.parts[:NAME_TOKENS] == NAME)
    if not len(inside):
        none = np.zeros(asked.shape[1], np.float32)
        return [request.share() @ asked, asked.max(0), none, none]
    found = _product(_softmax(heat * near[:, inside].T), request.unit.T)
    named = _beside(w, "tool", tool.unit[inside], found)
    weight = tool.weight[inside]
    return [request.share() @ asked, asked.max(0), weight / max(float(weight.sum()), SMALL) @ named, named.max(0)]


def _beside(w: Mapping[str, Floats], role: str, own: Floats, other: Floats) -> Floats:
    both = np.concatenate([own, other, own * other, np.abs(own - other)], axis=1)
    return np.maximum(_product(both, w[f"{role}.compare.weight"]) + w[f"{role}.compare.bias"], 0)


def _product(rows: Floats, others: Floats) -> Floats:
    """The inner product of each of (n, width) rows with each of (m, width) others, (n, m)."""
    return products(rows[:, None], others)


def _unit(x: Floats) -> Floats:
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


def _softmax(x: Floats) -> Floats:
    lifted = np.exp(x - x.max(axis=1, keepdims=True))
    return lifted / lifted.sum(axis=1, keepdims=True)
