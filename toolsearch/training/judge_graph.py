"""What a judge reads with, as an ONNX model: token vectors of several texts; int8 as the encoder's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from toolsearch.encoders.graph import Graph, Shape, embeddings, layer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MEAN: Final = "basis.mean"
AXES: Final = "basis.axes"


def reading_graph(weights: Mapping[str, Floats], shape: Shape) -> Any:
    """`input_ids` (n, tokens) int64 and `mask` (n, tokens) int32 in, `vectors` (n, tokens, width) float32 out.

    The vectors are what the layers make of the tokens, less MEAN (dimension,), along AXES (dimension, width).
    """
    graph = Graph()
    x = embeddings(graph, weights, shape)
    for number in range(shape.layers):
        x = layer(graph, weights, f"encoder.layer.{number}", x, shape, "mask")
    x = graph.one("Sub", [x, graph.constant(MEAN, weights[MEAN])])
    graph.one("MatMul", [x, graph.constant(AXES, weights[AXES])])
    graph.nodes[-1].output[0] = "vectors"
    value, types = graph.onnx.helper.make_tensor_value_info, graph.onnx.TensorProto
    given = [value("input_ids", types.INT64, ["texts", "tokens"]), value("mask", types.INT32, ["texts", "tokens"])]
    width = weights[AXES].shape[1]
    return graph.model("reading", given, [value("vectors", types.FLOAT, ["texts", "tokens", width])])
