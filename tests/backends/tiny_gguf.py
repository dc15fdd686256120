"""Writes a BERT of one layer with random weights as a GGUF file: a real file for the real engine, 40 kB."""

import struct
from pathlib import Path
from typing import Any

import numpy as np

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz.,", "river", "stone", "bread", "lamp"]
SUFFIXES = [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
UINT32, FLOAT32, BOOL, STRING, ARRAY, INT32 = 4, 6, 7, 8, 9, 5
ALIGNMENT = 32


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _value(kind: int, value: Any) -> bytes:
    if kind == STRING:
        return _text(value)
    return struct.pack({UINT32: "<I", FLOAT32: "<f", BOOL: "<?", INT32: "<i"}[kind], value)


def _field(name: str, kind: int, value: Any) -> bytes:
    if isinstance(value, list):
        body = struct.pack("<IIQ", ARRAY, kind, len(value)) + b"".join(_value(kind, item) for item in value)
    else:
        body = struct.pack("<I", kind) + _value(kind, value)
    return _text(name) + body


def write_tiny_bert(path: Path, *, name: str = "tiny bert", width: int = 32, context: int = 64, seed: int = 1) -> Path:
    """`width` dimensions, `context` tokens."""
    # llama.cpp writes WordPiece words with a leading "▁" and continuations bare.
    tokens = [word if word.startswith("[") else f"▁{word}" for word in WORDS] + [mark[2:] for mark in SUFFIXES]
    inner, heads = width * 2, 4
    fields = [
        _field("general.architecture", STRING, "bert"),
        _field("general.name", STRING, name),
        _field("bert.context_length", UINT32, context),
        _field("bert.embedding_length", UINT32, width),
        _field("bert.block_count", UINT32, 1),
        _field("bert.feed_forward_length", UINT32, inner),
        _field("bert.attention.head_count", UINT32, heads),
        _field("bert.attention.layer_norm_epsilon", FLOAT32, 1e-12),
        _field("bert.attention.causal", BOOL, False),
        _field("bert.pooling_type", UINT32, 1),
        _field("tokenizer.ggml.model", STRING, "bert"),
        _field("tokenizer.ggml.pre", STRING, "jina-v2-en"),
        _field("tokenizer.ggml.tokens", STRING, tokens),
        _field("tokenizer.ggml.token_type", INT32, [3 if token.startswith("[") else 1 for token in tokens]),
        _field("tokenizer.ggml.token_type_count", UINT32, 2),
        _field("tokenizer.ggml.padding_token_id", UINT32, 0),
        _field("tokenizer.ggml.unknown_token_id", UINT32, 1),
        _field("tokenizer.ggml.bos_token_id", UINT32, 2),
        _field("tokenizer.ggml.cls_token_id", UINT32, 2),
        _field("tokenizer.ggml.eos_token_id", UINT32, 3),
        _field("tokenizer.ggml.seperator_token_id", UINT32, 3),
    ]
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(tokens), width),
        "position_embd.weight": (context, width),
        "token_types.weight": (2, width),
        "token_embd_norm.weight": (width,),
        "token_embd_norm.bias": (width,),
        "blk.0.ffn_up.weight": (inner, width),
        "blk.0.ffn_up.bias": (inner,),
        "blk.0.ffn_down.weight": (width, inner),
        "blk.0.ffn_down.bias": (width,),
    }
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        shapes[f"blk.0.{part}.weight"] = (width, width)
        shapes[f"blk.0.{part}.bias"] = (width,)
    for part in ("attn_output_norm", "layer_output_norm"):
        shapes[f"blk.0.{part}.weight"] = (width,)
        shapes[f"blk.0.{part}.bias"] = (width,)
    random = np.random.default_rng(seed)
    heads_of, data = b"", b""
    for tensor, shape in shapes.items():
        offset = len(data)
        heads_of += _text(tensor) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
        heads_of += struct.pack("<IQ", 0, offset)  # 0: float32
        block = random.normal(0, 0.5, shape).astype("<f4").tobytes()
        data += block + b"\0" * (-len(block) % ALIGNMENT)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(fields)) + b"".join(fields) + heads_of
    path.write_bytes(head + b"\0" * (-len(head) % ALIGNMENT) + data)
    return path
