"""The judge's network: a request that reads a tool.

Request and tool go through the lower layers of the base apart. In the layers above, the request's tokens also attend
to the tool's, whose states stay as they are, through keys and values of their own. So a tool costs only the lower
layers and two matrices a layer, and while they are frozen, training never runs them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from toolsearch.training.network import Base

HIDDEN: Final = 192
MARK: Final = "mark"
"""A vector added to a tool's states, so that they can be told from the request's."""


@dataclass(frozen=True, slots=True)
class Reader:
    """The network over a base whose first `lower` layers stay as they are."""

    base: Base
    lower: int

    def body(self) -> dict[str, Any]:
        """The weights that start from the base's: the upper layers, keys and values for reading."""
        found: dict[str, Any] = {}
        for layer in range(self.lower, self.base.layers):
            name = f"encoder.layer.{layer}"
            found |= {key: one.clone() for key, one in self.base.weights.items() if key.startswith(f"{name}.")}
            for part in ("key", "value"):
                for kind in ("weight", "bias"):
                    own = self.base.weights[f"{name}.attention.self.{part}.{kind}"]
                    found[f"{name}.reading.{part}.{kind}"] = own.clone()
        return found

    def head(self, seed: int) -> dict[str, Any]:
        """The weights that start from nothing."""
        torch = self.base.torch
        made = torch.Generator().manual_seed(seed)
        width = self.base.weights["embeddings.LayerNorm.weight"].shape[0]
        scale = (2 * width) ** -0.5
        return {
            MARK: torch.zeros(width),
            "head.dense.weight": torch.randn(HIDDEN, 2 * width, generator=made) * scale,
            "head.dense.bias": torch.zeros(HIDDEN),
            "head.out.weight": torch.randn(1, HIDDEN, generator=made) * HIDDEN**-0.5,
            "head.out.bias": torch.zeros(1),
        }

    def logits(self, w: dict[str, Any], request: tuple[Any, Any], tool: tuple[Any, Any]) -> Any:
        """(pairs,) float32 from states and masks of each pair's request and tool, (pairs, tokens, width)."""
        x, mask = request
        read = (tool[0] + w[MARK], tool[1])
        for layer in range(self.lower, self.base.layers):
            x = self.base.layer(w, f"encoder.layer.{layer}", x, mask, read)
        shown = mask[..., None].float()
        mean = (x * shown).sum(1) / shown.sum(1)
        wide = self.base.torch.tanh(self.base.dense(w, "head.dense", self.base.torch.cat([x[:, 0], mean], 1)))
        return self.base.dense(w, "head.out", wide)[:, 0]
