"""The ONNX graph of a small BERT encoder, written from its weights: one text in, one unit vector out.

Written by hand instead of traced, because a graph for exactly one text needs no mask, no padding and no shape
arithmetic, pools and normalises inside, and so runs faster. Matrices are int8 per output channel, activations
are quantised at run time. Weights use 7 bits: products of two neighbours then fit the 16-bit sums of processors
without VNNI, so that no machine saturates and all of them count alike. Needs the `onnx` package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from toolsearch.encoders.optional import optional

Weights = Mapping[str, NDArray[np.float32]]

CONTRIB: Final = "com.microsoft"
OPSET: Final = 17
MATRIX_LIMIT: Final = 64
"""Largest absolute weight of a matrix: 255 * 64 * 2 stays below 2 ** 15."""
TABLE_LIMIT: Final = 127
"""Largest absolute value in the word table, which is only looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the weights alone do not tell."""

    layers: int
    heads: int
    epsilon: float
    tokens: int


def quantised(matrix: NDArray[np.float32], axis: int, limit: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Symmetric int8 values and their float32 scales, one scale for each slice; `axis` is what a slice runs along."""
    scale = np.abs(matrix).max(axis=axis, keepdims=True) / limit
    scale = np.where(scale == 0, 1, scale).astype(np.float32)
    return np.clip(np.rint(matrix / scale), -limit, limit).astype(np.int8), scale


@dataclass(slots=True)
class Graph:
    """Nodes and constants in the order in which they are added."""

    onnx: Any = field(default_factory=lambda: optional("onnx", "onnx", "export"))
    nodes: list[Any] = field(default_factory=list[Any])
    constants: list[Any] = field(default_factory=list[Any])

    known: set[str] = field(default_factory=set[str])

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """The name of a constant; a name that is there already keeps its value."""
        if name not in self.known:
            self.known.add(name)
            self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, inputs: list[str], outputs: int = 1, domain: str = "", **attributes: Any) -> list[str]:
        """A node; gives the names of its outputs."""
        name = f"{kind}_{len(self.nodes)}"
        names = [f"{name}_{position}" for position in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, names, name=name, domain=domain, **attributes))
        return names

    def one(self, kind: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        """A node with one output; gives its name."""
        return self.add(kind, inputs, 1, domain, **attributes)[0]

    def dense(self, name: str, matrix: NDArray[np.float32], bias: NDArray[np.float32], x: str) -> str:
        """X @ matrix + bias with int8 weights, one scale for each output; matrix is (inputs, outputs)."""
        values, scales = quantised(matrix, 0, MATRIX_LIMIT)
        inputs = [x, self.constant(f"{name}.q", values), self.constant(f"{name}.scale", scales[0]), ""]
        return self.one("DynamicQuantizeMatMul", [*inputs, self.constant(f"{name}.bias", bias)], CONTRIB)

    def model(self, name: str, given: list[Any], made: list[Any]) -> Any:
        """The whole as a model with these inputs and outputs."""
        helper = self.onnx.helper
        body = helper.make_graph(self.nodes, name, given, made, self.constants)
        model = helper.make_model(body, opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)])
        model.ir_version = 8
        return model

    def norm(self, name: str, weights: Weights, x: str, epsilon: float) -> str:
        """Layer normalisation."""
        inputs = [self.constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias")]
        return self.one("LayerNormalization", [x, *inputs], axis=-1, epsilon=epsilon)


def sentence_graph(weights: Weights, shape: Shape) -> Any:
    """The ONNX model: `input_ids` (1, tokens) int64 in, `vector` (1, dimension) float32 of unit length out."""
    graph = Graph()
    x = embeddings(graph, weights, shape)
    for number in range(shape.layers):
        x = layer(graph, weights, f"encoder.layer.{number}", x, shape)
    mean = graph.one("ReduceMean", [x], axes=[1], keepdims=0)
    graph.one("LpNormalization", [mean], axis=-1, p=2)
    graph.nodes[-1].output[0] = "vector"
    dimension = weights["embeddings.word_embeddings.weight"].shape[1]
    value, types = graph.onnx.helper.make_tensor_value_info, graph.onnx.TensorProto
    given = [value("input_ids", types.INT64, [1, "tokens"])]
    return graph.model("sentence", given, [value("vector", types.FLOAT, [1, dimension])])


def embeddings(graph: Graph, weights: Weights, shape: Shape, ids: str = "input_ids") -> str:
    """Tokens' vectors with their places, normalised: (texts, tokens, width) from ids (texts, tokens)."""
    values, scales = quantised(weights["embeddings.word_embeddings.weight"], 1, TABLE_LIMIT)
    words = graph.one("Gather", [graph.constant("words.q", values), ids])
    scale = graph.one("Gather", [graph.constant("words.scale", scales), ids])
    words = graph.one("Mul", [graph.one("Cast", [words], to=graph.onnx.TensorProto.FLOAT), scale])
    places = weights["embeddings.position_embeddings.weight"][: shape.tokens]
    places = places + weights["embeddings.token_type_embeddings.weight"][0]
    zero = graph.constant("zero", np.array([0], np.int64))
    length = graph.one("Shape", [ids], start=1)
    places_used = graph.one("Slice", [graph.constant("places", places), zero, length, zero])
    total = graph.one("Add", [words, places_used])
    return graph.norm("embeddings.LayerNorm", weights, total, shape.epsilon)


def layer(graph: Graph, weights: Weights, name: str, x: str, shape: Shape, mask: str = "") -> str:
    """One layer; `mask` (texts, tokens) int32 marks real tokens where texts are padded."""
    own = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
    matrix = np.concatenate([weights[f"{part}.weight"].T for part in own], axis=1)
    bias = np.concatenate([weights[f"{part}.bias"] for part in own])
    together = graph.dense(f"{name}.attention.self", matrix, bias, x)
    parts = graph.add("Split", [together], 3, axis=-1)
    return after_attention(graph, weights, name, x, attention(graph, parts, shape, mask), shape)


def attention(graph: Graph, parts: list[str], shape: Shape, mask: str = "") -> str:
    """Queries, keys and values in, what they mix out."""
    inputs = [*parts, "", mask] if mask else parts
    return graph.one("MultiHeadAttention", inputs, CONTRIB, num_heads=shape.heads)


def linear(graph: Graph, weights: Weights, name: str, x: str) -> str:
    """A matrix and a bias by their name."""
    return graph.dense(name, weights[f"{name}.weight"].T, weights[f"{name}.bias"], x)


def after_attention(graph: Graph, weights: Weights, name: str, x: str, mixed: str, shape: Shape) -> str:
    """The rest of a layer, from its input and what attention made of it."""

    def residual(part: str, x: str, y: str) -> str:
        return graph.norm(f"{name}.{part}", weights, graph.one("Add", [x, y]), shape.epsilon)

    x = residual("attention.output.LayerNorm", linear(graph, weights, f"{name}.attention.output.dense", mixed), x)
    wide = graph.one("Gelu", [linear(graph, weights, f"{name}.intermediate.dense", x)], CONTRIB)
    return residual("output.LayerNorm", linear(graph, weights, f"{name}.output.dense", wide), x)
