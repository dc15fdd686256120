"""Reader of the packed multilingual-e5-small file: header, vocabulary, character map and 4-bit tensors.

Layout (little endian): `E5S1`, version, seven sizes, epsilon, block length; the pieces of the Unigram
vocabulary with their scores; the character map of the normaliser; a directory of named tensors. A matrix is
stored as Q4_0: rows of blocks of 32 weights, each block a float16 scale `d` and 16 bytes whose low halves are
weights 0–15 and whose high halves are weights 16–31; weight = (half byte − 8) · d.

The file stays memory-mapped: only what is read becomes resident.
"""

import mmap
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from companion_assets.contracts.errors import BackendUnavailable

Floats = npt.NDArray[np.float32]

MAGIC = b"E5S1"
BLOCK_LENGTH = 32
BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", (BLOCK_LENGTH // 2,))])


class Sizes(NamedTuple):
    """The model's shape. `positions` is the longest input, special tokens included."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    token_types: int


class _Tensor(NamedTuple):
    offset: int
    nbytes: int


class _Cursor:
    """Reads forward through the map."""

    def __init__(self, source: mmap.mmap) -> None:
        self.source = source
        self.at = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self.source, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def array(self, dtype: str, count: int) -> npt.NDArray[Any]:
        values = np.frombuffer(self.source, dtype, count, self.at).copy()
        self.at += values.nbytes
        return values

    def blob(self, length: int) -> bytes:
        data = self.source[self.at : self.at + length]
        self.at += length
        return data


class E5File:
    """One opened weights file.

    Attributes:
        sizes: Shape of the model.
        epsilon: Of the layer normalisations.
        begin, end, unknown: Ids of `<s>`, `</s>` and `<unk>`.
        char_map: What the normaliser puts in the place of a character.

    Raises:
        BackendUnavailable: The file is not of this format.
    """

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._read_head()
        except (OSError, ValueError, struct.error, UnicodeDecodeError) as fault:
            raise BackendUnavailable(f"cannot read the embedder's weights {path}: {fault}") from fault

    def _read_head(self) -> None:
        cursor = _Cursor(self._map)
        if cursor.blob(4) != MAGIC:
            raise ValueError("unknown format")
        cursor.take("I")  # version
        self.sizes = Sizes(*cursor.take("7i"))
        self.epsilon, block_length = cursor.take("fi")
        if block_length != BLOCK_LENGTH:
            raise ValueError(f"blocks of {block_length}")
        count, self.begin, self.end, _pad, self.unknown, blob_length = cursor.take("5iQ")
        self._vocabulary = (cursor.at, count, blob_length)
        cursor.at += 4 * (count + 1) + 4 * count + blob_length
        self.char_map = self._read_char_map(cursor)
        self._tensors = self._read_directory(cursor)

    def pieces(self) -> list[tuple[str, float]]:
        """The Unigram pieces in id order, with their log probabilities; a list of 250,000, made anew each time."""
        cursor = _Cursor(self._map)
        cursor.at, count, blob_length = self._vocabulary
        borders = cursor.array("<u4", count + 1).tolist()
        scores = cursor.array("<f4", count).astype(float).tolist()
        blob = cursor.blob(blob_length)
        texts = (blob[start:stop].decode() for start, stop in pairwise(borders))
        return list(zip(texts, scores, strict=True))

    @staticmethod
    def _read_char_map(cursor: _Cursor) -> dict[int, str]:
        entries, _nbytes = cursor.take("iI")
        char_map = {}
        for _ in range(entries):
            code, length = cursor.take("IB")
            char_map[code] = "".join(map(chr, cursor.take(f"{length}I")))
        return char_map

    @staticmethod
    def _read_directory(cursor: _Cursor) -> dict[str, _Tensor]:
        tensors = {}
        for _ in range(cursor.take("i")[0]):
            name = cursor.blob(cursor.take("H")[0]).decode()
            _dtype, _count, offset, nbytes = cursor.take("BIQQ")
            tensors[name] = _Tensor(offset, nbytes)
        return tensors

    def vector(self, name: str) -> Floats:
        """float32[n], a tensor stored as it is.

        Raises:
            KeyError: There is no such tensor.
        """
        tensor = self._tensors[name]
        return np.frombuffer(self._map, "<f4", tensor.nbytes // 4, tensor.offset)

    def matrix(self, name: str, columns: int, rows: list[int] | slice = slice(None)) -> Floats:
        """float32[rows, columns] of a 4-bit tensor, all its rows or the chosen ones.

        Raises:
            KeyError: There is no such tensor.
        """
        tensor = self._tensors[name]
        blocks = np.frombuffer(self._map, BLOCK, tensor.nbytes // BLOCK.itemsize, tensor.offset)
        chosen = blocks.reshape(-1, columns // BLOCK_LENGTH)[rows]
        weights = np.empty((*chosen.shape, BLOCK_LENGTH), np.float32)
        weights[..., : BLOCK_LENGTH // 2] = chosen["halves"] & 0x0F
        weights[..., BLOCK_LENGTH // 2 :] = chosen["halves"] >> 4
        weights -= 8
        weights *= chosen["scale"].astype(np.float32)[..., None]
        return weights.reshape(len(chosen), columns)
