"""Write a BERT-shaped sentence encoder as an ONNX graph, and shrink it to int8; no torch.

The graph has the inputs ``input_ids`` (or ``embeds``, where the word table stays outside) and ``attention_mask``,
and one output ``embedding``: the mean over unmasked positions, L2-normalised, float32 ``(batch, hidden)``.
Attention and Gelu are onnxruntime's fused operators (domain ``com.microsoft``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FUSED = "com.microsoft"
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Dense:
    """``x @ weight + bias``, the weight as (inputs, outputs)."""

    weight: Array
    bias: Array


@dataclass(frozen=True)
class Norm:
    """Gain and offset of a layer normalisation."""

    gain: Array
    offset: Array


@dataclass(frozen=True)
class Layer:
    """One transformer block: attention, then feed-forward, each added back and normalised."""

    qkv: Dense
    attention_out: Dense
    attention_norm: Norm
    widen: Dense
    narrow: Dense
    output_norm: Norm


class EncoderGraph:
    """Collects nodes and weights; `finish` gives the model."""

    def __init__(self, hidden: int, heads: int, epsilon: float) -> None:
        self.hidden, self.heads, self.epsilon = hidden, heads, epsilon
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []

    def weight(self, name: str, values: Array) -> str:
        self._weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self._nodes.append(
            helper.make_node(operator, inputs, [output], domain=domain, name=f"{output}_n", **attributes)
        )
        return output

    def norm(self, source: str, norm: Norm, name: str) -> str:
        inputs = [source, self.weight(f"{name}_g", norm.gain), self.weight(f"{name}_b", norm.offset)]
        return self.node("LayerNormalization", inputs, name, axis=-1, epsilon=self.epsilon)

    def dense(self, source: str, dense: Dense, name: str) -> str:
        product = self.node("MatMul", [source, self.weight(f"{name}_w", dense.weight)], f"{name}_mm")
        return self.node("Add", [product, self.weight(f"{name}_bias", dense.bias)], name)

    def embed_ids(self, words: Array, positions: Array) -> str:
        """Look up ``input_ids`` in `words` and add the first rows of `positions`."""
        zero, one, two = (self.weight(f"int_{i}", np.array([i], np.int64)) for i in range(3))
        self.node("Shape", ["input_ids"], "shape")
        self.node("Slice", ["shape", one, two, zero], "length")
        self.node("Slice", [self.weight("positions", positions), zero, "length", zero], "position_rows")
        self.node("Gather", [self.weight("words", words), "input_ids"], "word_rows", axis=0)
        return self.node("Add", ["word_rows", "position_rows"], "embedded")

    def layer(self, source: str, layer: Layer, number: int) -> str:
        qkv = [self.weight(f"qkv_w{number}", layer.qkv.weight), self.weight(f"qkv_b{number}", layer.qkv.bias)]
        attended = self.node(
            "Attention", [source, *qkv, "mask32"], f"attention{number}", FUSED, num_heads=self.heads
        )
        attended = self.dense(attended, layer.attention_out, f"attention_out{number}")
        added = self.node("Add", [attended, source], f"residual_a{number}")
        middle = self.norm(added, layer.attention_norm, f"middle{number}")
        wide = self.dense(middle, layer.widen, f"wide{number}")
        wide = self.node("Gelu", [wide], f"gelu{number}", FUSED)
        added = self.node(
            "Add", [self.dense(wide, layer.narrow, f"narrow{number}"), middle], f"residual_b{number}"
        )
        return self.norm(added, layer.output_norm, f"layer{number}")

    def encode(self, source: str, first: Norm, layers: list[Layer]) -> str:
        self.node("Cast", ["attention_mask"], "mask32", to=TensorProto.INT32)
        state = self.norm(source, first, "normed")
        for number, layer in enumerate(layers):
            state = self.layer(state, layer, number)
        return state

    def pool(self, state: str) -> None:
        last, middle = (
            self.weight(f"axis_{n}", np.array([i], np.int64)) for n, i in (("last", -1), ("one", 1))
        )
        self.node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
        self.node("Unsqueeze", ["mask", last], "mask_column")
        self.node("Mul", [state, "mask_column"], "unmasked")
        self.node("ReduceSum", ["unmasked", middle], "sum", keepdims=0)
        self.node("ReduceSum", ["mask", middle], "count", keepdims=1)
        self.node("Div", ["sum", "count"], "mean")
        self.node("ReduceL2", ["mean", last], "length_of_mean", keepdims=1)
        self.node("Div", ["mean", "length_of_mean"], "embedding")

    def finish(self, name: str, first_input: onnx.ValueInfoProto) -> onnx.ModelProto:
        mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "tokens"])
        output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", self.hidden])
        graph = helper.make_graph(self._nodes, name, [first_input, mask], [output], self._weights)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = 8
        return model


def minilm_graph(tensors: Mapping[str, Array]) -> onnx.ModelProto:
    """all-MiniLM-L6-v2 from the tensors of its safetensors file."""
    graph = EncoderGraph(hidden=384, heads=12, epsilon=1e-12)

    def dense(*names: str) -> Dense:
        weights = [tensors[f"{name}.weight"].T for name in names]
        return Dense(np.concatenate(weights, 1), np.concatenate([tensors[f"{name}.bias"] for name in names]))

    def norm(name: str) -> Norm:
        return Norm(tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def layer(base: str) -> Layer:
        return Layer(
            qkv=dense(*(f"{base}.attention.self.{part}" for part in ("query", "key", "value"))),
            attention_out=dense(f"{base}.attention.output.dense"),
            attention_norm=norm(f"{base}.attention.output.LayerNorm"),
            widen=dense(f"{base}.intermediate.dense"),
            narrow=dense(f"{base}.output.dense"),
            output_norm=norm(f"{base}.output.LayerNorm"),
        )

    positions = tensors["embeddings.position_embeddings.weight"]
    # Sentences are never paired here, so that the first token type is a constant of every position.
    positions = positions + tensors["embeddings.token_type_embeddings.weight"][:1]
    embedded = graph.embed_ids(tensors["embeddings.word_embeddings.weight"], positions)
    layers = [layer(f"encoder.layer.{number}") for number in range(6)]
    graph.pool(graph.encode(embedded, norm("embeddings.LayerNorm"), layers))
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])
    return graph.finish("minilm", ids)


def e5_graph(weights: Any) -> onnx.ModelProto:
    """multilingual-e5-small from a `substrate.retrieval.embedders.q4_file.Q4File`; the word table stays there."""
    sizes = weights.sizes
    wide, hidden = sizes.feed_forward, sizes.hidden
    graph = EncoderGraph(hidden=hidden, heads=sizes.heads, epsilon=weights.epsilon)

    def dense(base: str, *names: str, rows: int = hidden, columns: int = hidden) -> Dense:
        matrices = [weights.matrix(f"{base}.{name}.w", rows, columns).T for name in names]
        biases = [weights.vector(f"{base}.{name}.b") for name in names]
        return Dense(np.concatenate(matrices, 1), np.concatenate(biases))

    def norm(name: str) -> Norm:
        return Norm(weights.vector(f"{name}.w"), weights.vector(f"{name}.b"))

    def layer(base: str) -> Layer:
        return Layer(
            qkv=dense(base, "q", "k", "v"),
            attention_out=dense(base, "ao"),
            attention_norm=norm(f"{base}.aln"),
            widen=dense(base, "fi", rows=wide),
            narrow=dense(base, "fo", columns=wide),
            output_norm=norm(f"{base}.oln"),
        )

    layers = [layer(f"l{number}") for number in range(sizes.layers)]
    graph.pool(graph.encode("embeds", norm("emb.ln"), layers))
    embeds = helper.make_tensor_value_info("embeds", TensorProto.FLOAT, ["batch", "tokens", hidden])
    return graph.finish("e5small", embeds)


def save_int8(model: onnx.ModelProto, target: Path) -> None:
    """Quantise the weights per output channel to int8 (activations on the fly) and write the result to `target`."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    full = target.with_suffix(".fp32")
    onnx.save(model, full)
    try:
        quantize_dynamic(
            full,
            target,
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul", "Attention", "Gather"],
            per_channel=True,
            extra_options={"DefaultTensorType": TensorProto.FLOAT},
        )
    finally:
        full.unlink(missing_ok=True)
