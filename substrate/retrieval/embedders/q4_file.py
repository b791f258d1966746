"""The file ``e5-small-q4.bin``: multilingual-e5-small in 4-bit weights, its vocabulary and character map.

Layout, little-endian, as read from the file itself: ``E5S1``, version; seven int32 sizes (hidden, layers,
heads, feed-forward, vocabulary, positions, token types); float32 epsilon and int32 block size; five int32
(number of pieces, ids of begin, end, padding, unknown); uint64 length of the piece text; uint32 offsets,
float32 scores, piece text; the character map; the directory of tensors. A 4-bit block is one float16 scale
and 16 bytes holding 32 values, low halves first, each ``scale * (nibble - 8)``.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from substrate.errors import ModelUnavailable

_BLOCK_VALUES = 32
_BLOCK_BYTES = 18

Floats = NDArray[np.float32]


class Sizes(NamedTuple):
    """Counts that shape the network."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int


class Vocabulary(NamedTuple):
    """What the tokenizer needs."""

    pieces: dict[str, int]
    scores: Floats
    """Log-probability per piece id."""
    characters: dict[str, str]
    """One character to its replacement (possibly none or several)."""
    begin: int
    end: int
    unknown: int


class _Tensor(NamedTuple):
    quantised: bool
    values: int
    offset: int
    size: int


class _Cursor:
    """Reads fields one after another."""

    def __init__(self, buffer: NDArray[np.uint8]) -> None:
        self.buffer = buffer.data
        self.at = 0

    def fields(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + layout, self.buffer, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def array(self, dtype: type[np.generic], count: int) -> NDArray[np.generic]:
        values: NDArray[np.generic] = np.frombuffer(self.buffer, dtype, count, self.at)
        self.at += values.nbytes
        return values

    def bytes(self, count: int) -> bytes:
        self.at += count
        return bytes(self.buffer[self.at - count : self.at])


class Q4File:
    """The file mapped into memory; only the pages that are touched become resident."""

    def __init__(self, path: Path) -> None:
        self._map: NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
        cursor = _Cursor(self._map)
        if cursor.bytes(4) != b"E5S1":
            raise ModelUnavailable(f"{path} does not begin like an E5 weight file")
        cursor.fields("i")
        self.sizes = Sizes(*cursor.fields("7i"))
        (epsilon, _block) = cursor.fields("fi")
        self.epsilon = float(epsilon)
        self.vocabulary = _read_vocabulary(cursor)
        self._tensors = _read_directory(cursor)

    def vector(self, name: str) -> Floats:
        """A float32 tensor, flat, copied out of the map."""
        tensor = self._tensors[name]
        return np.frombuffer(self._map, np.float32, tensor.values, tensor.offset).copy()

    def matrix(self, name: str, rows: int, columns: int) -> Floats:
        """A 4-bit tensor as float32 ``(rows, columns)``."""
        return dequantise(self.packed_rows(name, rows, columns), columns)

    def packed_rows(self, name: str, rows: int, columns: int) -> NDArray[np.uint8]:
        """A 4-bit tensor as it lies in the file: ``(rows, columns / 32 * 18)`` bytes, not copied."""
        width = columns // _BLOCK_VALUES * _BLOCK_BYTES
        return np.ndarray((rows, width), np.uint8, self._map.data, self._tensors[name].offset)


def dequantise(packed: NDArray[np.uint8], columns: int) -> Floats:
    """Packed rows ``(n, columns / 32 * 18)`` to float32 ``(n, columns)``."""
    blocks = packed.reshape(-1, columns // _BLOCK_VALUES, _BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16).astype(np.float32)
    nibbles = blocks[..., 2:]
    values = np.concatenate([nibbles & 15, nibbles >> 4], -1).astype(np.float32) - 8
    return np.asarray((values * scales).reshape(-1, columns), np.float32)


def _read_vocabulary(cursor: _Cursor) -> Vocabulary:
    count, begin, end, _padding, unknown = cursor.fields("5i")
    (length,) = cursor.fields("Q")
    offsets = cursor.array(np.uint32, count + 1).tolist()
    scores = cursor.array(np.float32, count).astype(np.float32)
    text = cursor.bytes(length)
    # Backwards, so that of two pieces with the same spelling the lower id stays.
    pieces = {text[offsets[i] : offsets[i + 1]].decode("utf-8", "replace"): i for i in range(count - 1, -1, -1)}
    return Vocabulary(pieces, scores, _read_characters(cursor), begin, end, unknown)


def _read_characters(cursor: _Cursor) -> dict[str, str]:
    count, length = cursor.fields("iI")
    end = cursor.at + length
    mapping = {}
    for _ in range(count):
        code, width = cursor.fields("IB")
        mapping[chr(code)] = "".join(map(chr, cursor.fields(f"{width}I")))
    cursor.at = end
    return mapping


def _read_directory(cursor: _Cursor) -> dict[str, _Tensor]:
    (count,) = cursor.fields("i")
    tensors = {}
    for _ in range(count):
        (length,) = cursor.fields("H")
        name = cursor.bytes(length).decode()
        kind, values, offset, size = cursor.fields("BIQQ")
        tensors[name] = _Tensor(bool(kind), values, offset, size)
    return tensors
