"""Speed of the chat model as Companion runs it, against llama.cpp alone in the same run.

    python -m benchmarks.generation [MODEL.gguf ...] [--rounds 3]

Without a model every embedded answerer that is installed is measured.

Both sides read the same number of uncached prompt tokens and write the same number of reply tokens, in turns, so
that other work on the machine hits both. Prints one Markdown table per model; asserts nothing.
"""

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from companion_assets.backends.llama_cpp_generator import LlamaCppGenerator
from companion_assets.backends.llama_options import default_threads
from companion_assets.backends.weights import ANSWERERS, answerer_available, ensure_answerer
from companion_assets.contracts.paths import model_cache_dir
from companion_assets.contracts.records import Message

CONTEXT = 4096
REPLY_TOKENS = 48
SYSTEM = Message(
    "system", "You are Companion. Answer from the numbered notes in one or two sentences and cite them. " * 14
)
QUESTIONS = ("Who did I meet on the market, and what did we plan?", "Which day was the concert, and who came along?")


class Round(NamedTuple):
    """One round: ours with new notes, llama.cpp alone (seconds, tokens/s), ours with a second question."""

    new_notes: dict[str, float]
    prefill: float
    decode: float
    follow_up: dict[str, float]


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
    stream = generator.generate(prompt, max_tokens=REPLY_TOKENS, temperature=0)
    token = next(stream)
    first = time.perf_counter() - started
    for token in stream:  # noqa: B007 - the last one carries the counts
        pass
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
            tokens = (c.llama_token * len(part))(*part)  # kept: the batch only points at it
            status = c.llama_decode(context, c.llama_batch_get_one(tokens, len(part)))
            assert status == 0, f"llama_decode: {status} for {len(part)} tokens"

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
    there.close()  # so that the end of the process is seen as the end of the pipe

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
            results.append(Round(new_notes, prefill, decode, follow_up))
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


def _summary(results: list[Round]) -> list[tuple[str, str]]:
    """The best of the rounds: what other programs take away is not the model's speed."""
    uncached = results[0].new_notes["uncached"]
    first = min(each.new_notes["first"] for each in results)
    alone = min(each.prefill for each in results)
    follow_up = min(each.follow_up["first"] for each in results)
    return [
        (f"first token, {uncached} uncached tokens, s", f"{first:.2f}"),
        ("llama.cpp alone, same tokens, s", f"{alone:.2f}"),
        ("ratio (wanted: at most 1.15)", f"{first / alone:.3f}"),
        ("prefill, tokens/s", f"{uncached / first:.0f}"),
        (f"first token of a follow-up, {results[0].follow_up['uncached']} uncached, s", f"{follow_up:.2f}"),
        ("decode, tokens/s", f"{max(each.new_notes['decode'] for each in results):.1f}"),
        ("llama.cpp alone, tokens/s", f"{max(each.decode for each in results):.1f}"),
    ]


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    os.environ["GOMP_SPINCOUNT"] = "1000"  # the same for both sides
    cache = model_cache_dir()
    installed = [ensure_answerer(name, cache) for name in ANSWERERS if answerer_available(name, cache)]
    for path in arguments.models or installed:
        print(f"\n### {path.name}, {default_threads()} threads, load {os.getloadavg()[0]:.1f}\n\n| | |\n| --- | --- |")
        for name, value in measure(path, arguments.rounds):
            print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
