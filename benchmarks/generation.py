"""Speed of the chat model as Companion runs it, against llama.cpp alone in the same run.

    python -m benchmarks.generation MODEL.gguf [MODEL.gguf ...] [--rounds 3]

Both sides read the same number of uncached prompt tokens and write the same number of reply tokens, in turns, so
that other work on the machine hits both. Prints one Markdown table per model; asserts nothing.
"""

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from companion_assets.backends.llama_cpp_generator import LlamaCppGenerator
from companion_assets.backends.llama_options import default_threads
from companion_assets.contracts.records import Message

CONTEXT = 4096
REPLY_TOKENS = 48
SYSTEM = Message(
    "system", "You are Companion. Answer from the numbered notes in one or two sentences and cite them. " * 14
)
QUESTIONS = ("Who did I meet on the market, and what did we plan?", "Which day was the concert, and who came along?")


def notes(round_number: int) -> str:
    """About 600 tokens that no other round shares."""
    lines = [
        f"[{number}] Day {round_number * 31 + number}: walked with Ana to the market, bought {number} pears, "
        f"planned the trip for week {round_number + number} and called Bruno about the concert."
        for number in range(1, 17)
    ]
    return "Notes:\n" + "\n".join(lines)


def ask(round_number: int, question: str) -> list[Message]:
    return [SYSTEM, Message("user", f"{notes(round_number)}\n\nQuestion: {question}")]


def ours(generator: LlamaCppGenerator, prompt: list[Message]) -> dict[str, float]:
    """Seconds to the first token and tokens per second after it, as the app sees them."""
    started = time.perf_counter()
    first = None
    token = None
    for token in generator.generate(prompt, max_tokens=REPLY_TOKENS, temperature=0):
        first = first or time.perf_counter() - started
    assert token and first
    seconds = time.perf_counter() - started - first
    return {
        "first": first,
        "prompt": token.prompt_tokens,
        "uncached": token.prompt_tokens - token.cached_tokens,
        "decode": (token.completion_tokens - 1) / seconds if token.completion_tokens > 1 else 0.0,
    }


def bare(path: str, requests: Any) -> None:
    """llama.cpp alone, in a process with the same environment and settings: (cached, new) -> seconds, tokens/s."""
    import llama_cpp as c

    c.llama_log_set(_silent := c.llama_log_callback(lambda *_: None), None)
    c.llama_backend_init()
    model = c.llama_model_load_from_file(path.encode(), c.llama_model_default_params())
    params = c.llama_context_default_params()
    params.n_ctx, params.n_batch, params.n_ubatch, params.no_perf = CONTEXT, 512, 512, True
    params.n_threads = params.n_threads_batch = default_threads()
    params.flash_attn_type = c.LLAMA_FLASH_ATTN_TYPE_DISABLED
    context = c.llama_init_from_model(model, params)
    memory = c.llama_get_memory(context)
    greedy = c.llama_sampler_init_greedy()

    def decode(ids: list[int]) -> None:
        for at in range(0, len(ids), 512):
            part = ids[at : at + 512]
            assert c.llama_decode(context, c.llama_batch_get_one((c.llama_token * len(part))(*part), len(part))) == 0

    while (request := requests.recv()) is not None:
        cached, new = request
        ids = [1000 + at * 7 % 20_000 for at in range(cached + new)]
        c.llama_memory_clear(memory, True)
        decode(ids[:cached])
        started = time.perf_counter()
        decode(ids[cached:])
        token = c.llama_sampler_sample(greedy, context, -1)
        prefill = time.perf_counter() - started
        started = time.perf_counter()
        for _ in range(REPLY_TOKENS):
            decode([token])
            token = c.llama_sampler_sample(greedy, context, -1)
        requests.send((prefill, REPLY_TOKENS / (time.perf_counter() - started)))


def measure(path: Path, rounds: int) -> list[tuple[str, str]]:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=bare, args=(str(path), there))
    process.start()

    def alone(cached: int, new: int) -> tuple[float, float]:
        here.send((cached, new))
        result: tuple[float, float] = here.recv()
        return result

    with tempfile.TemporaryDirectory() as models_dir:
        rows = _start(path, Path(models_dir))
        generator = LlamaCppGenerator(path, models_dir=Path(models_dir), context_length=CONTEXT)
        generator.warm([SYSTEM])
        results = []
        for number in range(rounds):
            new_notes = ours(generator, ask(number, QUESTIONS[0]))
            prompt, uncached = int(new_notes["prompt"]), int(new_notes["uncached"])
            prefill, decode = alone(prompt - uncached, uncached)
            follow_up = ours(generator, ask(number, QUESTIONS[1]))
            results.append((new_notes, prefill, decode, follow_up))
        rows.append(("one count_tokens call, ms", f"{1000 * _timed(lambda: generator.count_tokens(ask(0, 'x'))):.1f}"))
        generator.close()
    here.send(None)
    process.join()
    return rows + _summary(results)


def _start(path: Path, models_dir: Path) -> list[tuple[str, str]]:
    """Loading, and the stable beginning: evaluated once, then loaded from disk by a new process."""
    rows = []
    for label in ("evaluated", "from disk"):
        generator = LlamaCppGenerator(path, models_dir=models_dir, context_length=CONTEXT)
        load = _timed(lambda model=generator: model.count_tokens([SYSTEM]))
        warm = _timed(lambda model=generator: model.warm([SYSTEM]))
        tokens = generator.count_tokens([SYSTEM])
        rows.append(
            (f"process and model started / beginning of {tokens} tokens {label}, s", f"{load:.2f} / {warm:.3f}")
        )
        generator.close()
    return rows


def _summary(results: list[tuple[dict[str, float], float, float, dict[str, float]]]) -> list[tuple[str, str]]:
    def median(pick: Callable[[tuple[dict[str, float], float, float, dict[str, float]]], float]) -> float:
        return statistics.median(pick(result) for result in results)

    uncached = results[0][0]["uncached"]
    return [
        (f"first token, {uncached} uncached tokens, s", f"{median(lambda r: r[0]['first']):.2f}"),
        ("llama.cpp alone, same tokens, s", f"{median(lambda r: r[1]):.2f}"),
        ("ratio (wanted: at most 1.15)", f"{median(lambda r: r[0]['first'] / r[1]):.3f}"),
        ("prefill, tokens/s", f"{uncached / median(lambda r: r[0]['first']):.0f}"),
        (
            f"first token of a follow-up, {results[0][3]['uncached']} uncached, s",
            f"{median(lambda r: r[3]['first']):.2f}",
        ),
        ("decode, tokens/s", f"{median(lambda r: r[0]['decode']):.1f}"),
        ("llama.cpp alone, tokens/s", f"{median(lambda r: r[2]):.1f}"),
    ]


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    os.environ["GOMP_SPINCOUNT"] = "1000"  # the same for both sides
    for path in arguments.models:
        print(f"\n### {path.name}, {default_threads()} threads, load {os.getloadavg()[0]:.1f}\n\n| | |\n| --- | --- |")
        for name, value in measure(path, arguments.rounds):
            print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
