"""Write a BERT-shaped sentence encoder as an int8 ONNX graph; no torch, no quantisation tool.

Weights have one scale per output column, activations one per token (Dettmers et al., 2022, "LLM.int8()",
section 2), so that a text's vector does not depend on its neighbours in a batch, and one loud token does not
blur the others: cosine to the float32 graph .999 (e5) and .994 (MiniLM), where one scale for the whole
tensor, the common way, has .994 and .987.

The graph has the inputs ``input_ids`` (or ``embeds``, where the word table stays outside) and
``attention_mask``, and one output ``embedding``: the mean over unmasked positions, L2-normalised, float32
``(batch, hidden)``.
Attention, Gelu and the products are onnxruntime's fused operators (domain ``com.microsoft``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
        self._weights: dict[str, onnx.TensorProto] = {}

    def weight(self, name: str, values: Array) -> str:
        self._weights[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def constant(self, name: str, value: float, dtype: type[np.generic] = np.float32) -> str:
        return self.weight(name, np.array(value, dtype))

    def node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.split(operator, inputs, [output], domain, **attributes)
        return output

    def split(
        self, operator: str, inputs: list[str], outputs: list[str], domain: str = "", **attributes: Any
    ) -> list[str]:
        name = f"{outputs[0]}_n"
        self._nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, name=name, **attributes))
        return outputs

    def norm(self, source: str, norm: Norm, name: str) -> str:
        inputs = [source, self.weight(f"{name}_g", norm.gain), self.weight(f"{name}_b", norm.offset)]
        return self.node("LayerNormalization", inputs, name, axis=-1, epsilon=self.epsilon)

    def add_and_norm(self, source: str, residual: str, bias: Array, norm: Norm, name: str) -> str:
        weights = (("g", norm.gain), ("o", norm.offset), ("b", bias))
        inputs = [source, residual, *(self.weight(f"{name}_{part}", values) for part, values in weights)]
        return self.node("SkipLayerNormalization", inputs, name, FUSED, epsilon=self.epsilon)

    def quantise_rows(self, source: str, name: str) -> tuple[str, str]:
        """Each token's activations as unsigned bytes around 128, and the scale of each token."""
        last = self.weight("axis_last", np.array([-1], np.int64))
        largest = self.node("ReduceMax", [self.node("Abs", [source], f"{name}_abs"), last], f"{name}_top")
        largest = self.node("Max", [largest, self.constant("tiny", 1e-9)], f"{name}_max")
        stretch = self.node("Div", [self.constant("steps", 127), largest], f"{name}_stretch")
        wide = self.node("Mul", [source, stretch], f"{name}_wide")
        zero = self.constant("zero_point", 128, np.uint8)
        rounded = self.node("QuantizeLinear", [wide, self.constant("unit", 1), zero], f"{name}_u8")
        return rounded, self.node("Mul", [largest, self.constant("step", 1 / 127)], f"{name}_scale")

    def product(self, source: str, weight: Array, name: str) -> str:
        """``source @ weight`` in whole numbers, without the bias."""
        rounded, scale = self.quantise_rows(source, f"{name}_in")
        values, scales = int8(weight, axis=0)
        columns = [self.weight(f"{name}_w", values), "unit", self.weight(f"{name}_s", scales)]
        product = self.node("MatMulIntegerToFloat", [rounded, *columns, "zero_point"], f"{name}_columns", FUSED)
        return self.node("Mul", [product, scale], f"{name}_product")

    def embed_ids(self, words: Array, positions: Array) -> str:
        """Look up ``input_ids`` in `words` and add the first rows of `positions`."""
        zero, one, two = (self.weight(f"int_{i}", np.array([i], np.int64)) for i in range(3))
        self.node("Shape", ["input_ids"], "shape")
        self.node("Slice", ["shape", one, two, zero], "length")
        self.node("Slice", [self.weight("positions", positions), zero, "length", zero], "position_rows")
        values, scales = int8(words, axis=1)
        self.node("Gather", [self.weight("words", values), "input_ids"], "word_bytes", axis=0)
        self.node("Gather", [self.weight("word_scales", scales[:, None]), "input_ids"], "row_scales", axis=0)
        self.node("Cast", ["word_bytes"], "word_values", to=TensorProto.FLOAT)
        self.node("Mul", ["word_values", "row_scales"], "word_rows")
        return self.node("Add", ["word_rows", "position_rows"], "embedded")

    def layer(self, source: str, layer: Layer, number: int) -> str:
        qkv = self.product(source, layer.qkv.weight, f"qkv{number}")
        qkv = self.node("Add", [qkv, self.weight(f"qkv{number}_b", layer.qkv.bias)], f"qkv{number}")
        thirds = self.split("Split", [qkv], [f"{part}{number}" for part in "qkv"], axis=-1, num_outputs=3)
        attended = self.node(
            "MultiHeadAttention", [*thirds, "", "mask32"], f"attended{number}", FUSED, num_heads=self.heads
        )
        out = self.product(attended, layer.attention_out.weight, f"out{number}")
        middle = self.add_and_norm(out, source, layer.attention_out.bias, layer.attention_norm, f"middle{number}")
        wide = self.product(middle, layer.widen.weight, f"wide{number}")
        wide = self.node("BiasGelu", [wide, self.weight(f"wide{number}_b", layer.widen.bias)], f"gelu{number}", FUSED)
        narrow = self.product(wide, layer.narrow.weight, f"narrow{number}")
        return self.add_and_norm(narrow, middle, layer.narrow.bias, layer.output_norm, f"layer{number}")

    def encode(self, source: str, first: Norm, layers: list[Layer]) -> str:
        self.node("Cast", ["attention_mask"], "mask32", to=TensorProto.INT32)
        state = self.norm(source, first, "normed")
        for number, layer in enumerate(layers):
            state = self.layer(state, layer, number)
        return state

    def pool(self, state: str) -> None:
        last, middle = (self.weight(f"axis_{n}", np.array([i], np.int64)) for n, i in (("last", -1), ("one", 1)))
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
        graph = helper.make_graph(self._nodes, name, [first_input, mask], [output], list(self._weights.values()))
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = 8
        return model


def int8(weight: Array, axis: int) -> tuple[Array, Array]:
    """Signed bytes and the float32 scales that, along `axis`, give `weight` back to half a step."""
    scales = np.abs(weight).max(axis, keepdims=True).astype(np.float32) / 127
    # A row of zeros, as that of an unused word, has no scale of its own.
    scales[scales == 0] = 1
    return np.rint(weight / scales).astype(np.int8), np.squeeze(scales, axis)


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
    """multilingual-e5-small from a `substrate.retrieval.embedders.q4_file.Q4File`, without the word table."""
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
