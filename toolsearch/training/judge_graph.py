"""The judge as an ONNX model: one request and several tools in, a logit for each tool out; int8 as the encoder's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from toolsearch.encoders.graph import Graph, Shape, after_attention, attention, embeddings, layer, linear
from toolsearch.training.reader import MARK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Weights = Mapping[str, NDArray[np.float32]]

ONE: Final = np.array([1], np.int64)


def judge_graph(weights: Weights, shape: Shape, lower: int) -> Any:
    """`request` (1, tokens), `tools` (n, tokens) int64 and `mask` (n, tokens) int32 in, `logits` (n,) float32 out."""
    graph = Graph()
    read = embeddings(graph, weights, shape, "tools")
    x = embeddings(graph, weights, shape, "request")
    for number in range(lower):
        read = layer(graph, weights, f"encoder.layer.{number}", read, shape, "mask")
        x = layer(graph, weights, f"encoder.layer.{number}", x, shape)
    read = graph.one("Add", [read, graph.constant(MARK, weights[MARK])])
    x, mask = _for_each_tool(graph, x)
    for number in range(lower, shape.layers):
        x = _reading(graph, weights, f"encoder.layer.{number}", (x, read, mask), shape)
    _head(graph, weights, x)
    value, types = graph.onnx.helper.make_tensor_value_info, graph.onnx.TensorProto
    given = [
        value("request", types.INT64, [1, "words"]),
        value("tools", types.INT64, ["tools", "tokens"]),
        value("mask", types.INT32, ["tools", "tokens"]),
    ]
    return graph.model("judge", given, [value("logits", types.FLOAT, ["tools"])])


def _for_each_tool(graph: Graph, x: str) -> tuple[str, str]:
    """The request's states once for each tool, and a mask of its tokens and the tool's."""
    one = graph.constant("one", ONE)
    many = graph.one("Shape", ["tools"], start=0, end=1)
    words = graph.one("Shape", ["request"], start=1)
    repeated = graph.one("Expand", [x, graph.one("Concat", [many, one, one], axis=0)])
    shown = graph.constant("shown", np.array([[1]], np.int32))
    own = graph.one("Expand", [shown, graph.one("Concat", [many, words], axis=0)])
    return repeated, graph.one("Concat", [own, "mask"], axis=1)


def _reading(graph: Graph, weights: Weights, name: str, given: tuple[str, str, str], shape: Shape) -> str:
    x, read, mask = given
    parts = [linear(graph, weights, f"{name}.attention.self.query", x)]
    for part in ("key", "value"):
        own = linear(graph, weights, f"{name}.attention.self.{part}", x)
        other = linear(graph, weights, f"{name}.reading.{part}", read)
        parts.append(graph.one("Concat", [own, other], axis=1))
    return after_attention(graph, weights, name, x, attention(graph, parts, shape, mask), shape)


def _head(graph: Graph, weights: Weights, x: str) -> None:
    first = graph.one("Gather", [x, graph.constant("first", np.array([0], np.int64))], axis=1)
    first = graph.one("Squeeze", [first, graph.constant("one", ONE)])
    mean = graph.one("ReduceMean", [x], axes=[1], keepdims=0)
    wide = graph.one("Concat", [first, mean], axis=1)
    wide = graph.one("Tanh", [linear(graph, weights, "head.dense", wide)])
    out = graph.one("MatMul", [wide, graph.constant("head.out", weights["head.out.weight"][0])])
    graph.one("Add", [out, graph.constant("head.out.bias", weights["head.out.bias"])])
    graph.nodes[-1].output[0] = "logits"
