"""`toolsearch.decision.matching` in torch: many pairs at once, padded, with gradients.

It starts as a sum of similarities: the projections keep what they are given, and whatever learns more begins at zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolsearch.decision.matching import CLIP, FEATURES, LEVELS, NAME, NAME_TOKENS, PARAMETERS, SMALL, TEXT, WIDTH

DIMENSION: Final = 128
COMPARED: Final = 48
HIDDEN: Final = 64
SIMILAR: Final = (0, 2, 6, 9, 10, 11, 12)
"""Features whose sum the judge starts from."""
START: Final = -4.0
"""The first bias: few tools of a shortlist are right."""
HEAT: Final = 8.0
FAR: Final = -9.0

Weights = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Padded:
    """Texts of one role: vectors (n, tokens, width) float32, ids and parts (n, tokens) int64, 0 beyond the end."""

    vectors: Any
    ids: Any
    parts: Any


@dataclass(frozen=True, slots=True)
class _Side:
    x: Any
    unit: Any
    weight: Any
    ids: Any
    parts: Any

    def share(self, *parts: int) -> Any:
        """(n, tokens) weights of the tokens of some parts, together 1; of all parts when none is named."""
        weight = self.weight * sum((self.parts == part) for part in parts) if parts else self.weight
        return weight / weight.sum(1, keepdim=True).clamp(min=SMALL)


@dataclass(frozen=True, slots=True)
class Matcher:
    """The network; torch is handed in, for it is an extra."""

    torch: Any

    def weights(self, width: int, seed: int) -> dict[str, Any]:
        """The weights that are learnt, as they start."""
        torch, made = self.torch, self.torch.Generator().manual_seed(seed)

        def drawn(rows: int, columns: int) -> Any:
            return torch.randn(rows, columns, generator=made) * (1 / 3 / columns) ** 0.5

        plain = torch.zeros(1, FEATURES)
        plain[0, list(SIMILAR)] = 1.0
        found = {"plain.weight": plain, "plain.bias": torch.full((1,), START), "heat": torch.full((1,), HEAT)}
        for role in ("request", "tool"):
            found[f"{role}.project"] = torch.eye(DIMENSION, width)
            found |= {f"{role}.weigh.weight": torch.zeros(1, width), f"{role}.weigh.bias": torch.zeros(1)}
            found[f"{role}.compare.weight"] = drawn(COMPARED, 4 * DIMENSION)
            found[f"{role}.compare.bias"] = torch.zeros(COMPARED)
        found["hidden.weight"] = drawn(HIDDEN, FEATURES + 2 * DIMENSION + 4 * COMPARED)
        found["hidden.bias"] = torch.zeros(HIDDEN)
        return {**found, "deep.weight": torch.zeros(1, HIDDEN), "deep.bias": torch.zeros(1)}

    def logits(self, w: Weights, requests: Padded, tools: Padded, of: Any) -> Any:
        """(tools,) float32; `of` (tools,) int64 is each tool's place among the requests."""
        torch = self.torch
        request, tool = self._side(w, "request", requests), self._side(w, "tool", tools)
        asked = _Side(*(getattr(request, name)[of] for name in ("x", "unit", "weight", "ids", "parts")))
        shown = (asked.parts > 0)[:, :, None] & (tool.parts > 0)[:, None, :]
        near = torch.bmm(asked.unit, tool.unit.transpose(1, 2)).masked_fill(~shown, -1.0)
        means = [self._mean(request)[of], self._mean(tool, NAME), self._mean(tool, TEXT, PARAMETERS)]
        features = torch.stack(self._features((asked, tool), near, shown, means), 1)
        compared = self._compared(w, (asked, tool), near, shown)
        wide = torch.cat([features, means[0] * means[1], means[0] * means[2], *compared], 1)
        deep = torch.tanh(self._dense(w, "hidden", wide))
        return (self._dense(w, "plain", features) + self._dense(w, "deep", deep))[:, 0]

    def _side(self, w: Weights, role: str, text: Padded) -> _Side:
        torch = self.torch
        x = text.vectors @ w[f"{role}.project"].T
        heavy = self._dense(w, f"{role}.weigh", text.vectors)[..., 0].clamp(-CLIP, CLIP)
        weight = w["rarity"][text.ids] * torch.exp(heavy) * (text.parts > 0)
        return _Side(x, torch.nn.functional.normalize(x, dim=-1), weight, text.ids, text.parts)

    def _mean(self, side: _Side, *parts: int) -> Any:
        return self.torch.nn.functional.normalize((side.x * side.share(*parts)[..., None]).sum(1), dim=-1)

    def _features(self, sides: tuple[_Side, _Side], near: Any, shown: Any, means: list[Any]) -> list[Any]:
        torch, (asked, tool) = self.torch, sides
        weight, best, named = asked.share(), near.max(1)[0], tool.parts == NAME
        found: list[Any] = []
        parts: list[Any] = []
        for part in (NAME, TEXT, PARAMETERS):
            inside = tool.parts == part
            most = near.masked_fill(~inside[:, None, :], -1.0).max(2)[0] * inside.any(1)[:, None]
            parts.append(most)
            found += [(most * weight).sum(1), (best * tool.share(part)).sum(1)]
        most = near.max(2)[0]
        found += [(most * weight).sum(1), most.masked_fill(asked.parts == 0, 2.0).min(1)[0]]
        found += [best.masked_fill(~named, 2.0).min(1)[0].clamp(max=1)]
        found += [(means[0] * means[1]).sum(1), (means[0] * means[2]).sum(1)]
        same = (asked.ids[:, :, None] == tool.ids[:, None, :]) & shown
        found += [(same.any(2) * weight).sum(1), (same.any(1) * tool.share(NAME)).sum(1)]
        found += [(same.any(1) * tool.share(TEXT, PARAMETERS)).sum(1)]
        found += [torch.log1p((one.parts > 0).sum(1).float()) / 3 for one in (asked, tool)]
        counted = [(one, level) for one in (most, parts[0]) for level in LEVELS]
        return found + [(torch.exp(-((one - level) ** 2) / WIDTH) * weight).sum(1) for one, level in counted]

    def _compared(self, w: Weights, sides: tuple[_Side, _Side], near: Any, shown: Any) -> list[Any]:
        torch, (asked, tool) = self.torch, sides
        found = torch.softmax(w["heat"] * near.masked_fill(~shown, FAR), 2) @ tool.unit
        own = self._beside(w, "request", asked.unit, found) * (asked.parts > 0)[..., None]
        inside = (tool.parts == NAME)[:, :NAME_TOKENS]
        many = inside.shape[1]
        heat = w["heat"] * near.masked_fill(~shown, FAR)[:, :, :many]
        named = self._beside(w, "tool", tool.unit[:, :many], torch.softmax(heat, 1).transpose(1, 2) @ asked.unit)
        named = named * inside[..., None]
        weight = tool.weight[:, :many] * inside
        weight = weight / weight.sum(1, keepdim=True).clamp(min=SMALL)
        means = [(own * asked.share()[..., None]).sum(1), (named * weight[..., None]).sum(1)]
        return [means[0], own.max(1)[0], means[1], named.max(1)[0]]

    def _beside(self, w: Weights, role: str, own: Any, other: Any) -> Any:
        both = self.torch.cat([own, other, own * other, (own - other).abs()], -1)
        return self.torch.relu(self._dense(w, f"{role}.compare", both))

    def _dense(self, w: Weights, name: str, x: Any) -> Any:
        return self.torch.nn.functional.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])
