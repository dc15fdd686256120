"""llama.cpp through its own C interface, as far as we need it: one model, one sequence, one thread.

Used only inside the process of `llama_worker`: two threads on one context abort the whole process. The high-level
class of llama-cpp-python is passed by because it keeps prompt rendering, cache and sampling to itself.
"""

import collections
import ctypes
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from companion_assets.backends.llama_options import ModelOptions
from companion_assets.contracts.errors import BackendUnavailable

_WARNING = 3  # llama.cpp's log levels: 1 debug or info, 3 warning, 4 error
_ALL_LAYERS = 2**31 - 1
# A loop guard that leaves short repeats alone: citations, names and list marks come again, twelve equal
# tokens in a row do not. Source: the DRY sampler of llama.cpp, its usual base and multiplier.
_REPEAT = {"multiplier": 0.8, "base": 1.75, "allowed": 12, "window": 1024}
_SAMPLING = {"top_k": 40, "top_p": 0.95, "min_p": 0.05}  # llama.cpp's own defaults


class NativeModel:
    """A loaded model with its context and vocabulary.

    Args:
        options: File, context length, threads.
        on_progress: Called with the loaded fraction.
        interrupted: Asked between the operations of a computation; True stops it.

    Raises:
        BackendUnavailable: llama.cpp refused the file, with its own last words.
    """

    def __init__(
        self, options: ModelOptions, on_progress: Callable[[float], None], interrupted: Callable[[], bool]
    ) -> None:
        import llama_cpp

        self._c: Any = llama_cpp
        self._report = on_progress
        self._complaints: collections.deque[str] = collections.deque(maxlen=4)
        # ctypes callbacks must outlive the native side, so they hang on the object.
        self._log = self._c.llama_log_callback(self._on_log)
        self._abort = self._c.ggml_abort_callback(lambda _: interrupted())
        self._progress = self._c.llama_cpp.llama_progress_callback(self._on_progress)
        self._c.llama_log_set(self._log, None)
        self._c.llama_backend_init()
        self._model = self._load(options)
        self.vocab = self._c.llama_model_get_vocab(self._model)
        self._context = self._open_context(options)
        self._memory = self._c.llama_get_memory(self._context)
        self.context_length = int(self._c.llama_n_ctx(self._context))
        self.batch = options.batch
        partial = (self._c.llama_model_is_recurrent, self._c.llama_model_is_hybrid)
        self.can_truncate = not any(kind(self._model) for kind in partial)

    def _load(self, options: ModelOptions) -> Any:
        params = self._c.llama_model_default_params()
        params.n_gpu_layers = _ALL_LAYERS if options.gpu_layers < 0 else options.gpu_layers
        params.progress_callback = self._progress
        model = self._c.llama_model_load_from_file(options.path.encode(), params)
        if not model:
            raise BackendUnavailable(
                f"the model {Path(options.path).name} could not be loaded: {self._last_words()}",
                hint="the file may be cut or of a newer kind: fetch it again, or choose another model",
            )
        return model

    def _open_context(self, options: ModelOptions) -> Any:
        params = self._c.llama_context_default_params()
        trained = int(self._c.llama_model_n_ctx_train(self._model))
        params.n_ctx = min(options.context_length, trained) if trained else options.context_length
        params.n_batch = params.n_ubatch = options.batch
        params.n_threads = params.n_threads_batch = options.threads
        params.flash_attn_type = self._c.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.abort_callback = self._abort
        params.no_perf = True
        context = self._c.llama_init_from_model(self._model, params)
        if not context:
            raise BackendUnavailable(
                f"no room for a context of {params.n_ctx} tokens: {self._last_words()}",
                hint="lower model.inference.context_length or choose a smaller model",
            )
        return context

    def _on_progress(self, fraction: float, _: object) -> bool:
        self._report(fraction)
        return True  # False would stop the loading

    def _on_log(self, level: int, text: bytes, _: object) -> None:
        if level >= _WARNING:
            line = text.decode("utf-8", "replace").strip()
            if line.strip("."):
                self._complaints.append(line)
                sys.stderr.write(line + "\n")

    def _last_words(self) -> str:
        return "; ".join(self._complaints) or "llama.cpp gave no reason"

    def metadata(self, key: str) -> str:
        """A value of the file's header as text; "" where there is none."""
        size = 1024
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = self._c.llama_model_meta_val_str(self._model, key.encode(), buffer, size)
            if length < size:
                return buffer.value.decode("utf-8", "replace") if length >= 0 else ""
            size = length + 1

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Token ids, nothing added. Only with `special` may the text's control tokens become such.

        Reads the vocabulary alone, so it may run beside a computation.
        """
        raw = text.encode("utf-8", "replace")
        room = len(raw) + 8
        ids = (self._c.llama_token * room)()
        count = self._c.llama_tokenize(self.vocab, raw, len(raw), ids, room, False, special)
        if count < 0:
            raise BackendUnavailable(f"the model's tokenizer refused a text of {len(raw)} bytes")
        return list(ids[:count])

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """The bytes a token stands for; control tokens are empty unless `special`."""
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = int(self._c.llama_token_to_piece(self.vocab, token, buffer, size, 0, special))
            if length >= 0:
                return buffer.raw[:length]
            size = -length

    def is_control(self, token: int) -> bool:
        """Whether the vocabulary marks the token as steering the model rather than as text."""
        return bool(self._c.llama_vocab_is_control(self.vocab, token)) or self.is_end(token)

    def is_user_defined(self, token: int) -> bool:
        """Whether the token was added by the model's maker; such ones are matched in any text."""
        return bool(self._c.llama_vocab_get_attr(self.vocab, token) & self._c.LLAMA_TOKEN_ATTR_USER_DEFINED)

    def is_end(self, token: int) -> bool:
        """Whether the token ends a reply (end of text, end of turn)."""
        return bool(self._c.llama_vocab_is_eog(self.vocab, token))

    def begin(self) -> int | None:
        """The token every prompt must begin with, if the model wants one."""
        wanted = self._c.llama_vocab_get_add_bos(self.vocab)
        return int(self._c.llama_vocab_bos(self.vocab)) if wanted else None

    def special_text(self, token: int) -> str:
        """How a token that marks the prompt is spelled; "" for none (-1)."""
        return self.piece(token, special=True).decode("utf-8", "replace") if token >= 0 else ""

    @property
    def bos_text(self) -> str:
        """Spelling of the begin token, for chat templates."""
        return self.special_text(self._c.llama_vocab_bos(self.vocab))

    @property
    def eos_text(self) -> str:
        """Spelling of the end token, for chat templates."""
        return self.special_text(self._c.llama_vocab_eos(self.vocab))

    def decode(self, tokens: Sequence[int]) -> bool:
        """Append at most `batch` tokens to the sequence. False if it was interrupted.

        Raises:
            RuntimeError: The computation failed; the process should not go on.
        """
        ids = (self._c.llama_token * len(tokens))(*tokens)
        status = self._c.llama_decode(self._context, self._c.llama_batch_get_one(ids, len(tokens)))
        if status not in (0, 2):
            raise RuntimeError(f"llama.cpp failed with status {status}: {self._last_words()}")
        return bool(status == 0)

    def truncate(self, length: int) -> bool:
        """Forget all tokens from position `length` on. False: the model can only forget everything, and has."""
        if self._c.llama_memory_seq_rm(self._memory, 0, length, -1):
            return True
        self._c.llama_memory_clear(self._memory, True)
        return False

    def save(self, file: Path, tokens: Sequence[int]) -> bool:
        """Write the state of the sequence, which is `tokens`."""
        ids = (self._c.llama_token * len(tokens))(*tokens)
        return bool(self._c.llama_state_seq_save_file(self._context, str(file).encode(), 0, ids, len(tokens)))

    def load(self, file: Path) -> list[int]:
        """Replace the sequence by a saved one and return its tokens; [] if the file does not fit."""
        ids = (self._c.llama_token * self.context_length)()
        count = ctypes.c_size_t(0)
        path = str(file).encode()
        read = self._c.llama_state_seq_load_file(self._context, path, 0, ids, self.context_length, ctypes.byref(count))
        return list(ids[: count.value]) if read else []

    def sampler(self, temperature: float) -> "NativeSampler":
        """A fresh choice of tokens; greedy at temperature 0."""
        return NativeSampler(self._c, self._context, self.vocab, temperature)

    def close(self) -> None:
        """Free the context and the weights."""
        self._c.llama_free(self._context)
        self._c.llama_model_free(self._model)


class NativeSampler:
    """Chooses the next token of one reply; remembers the reply to break endless loops."""

    def __init__(self, library: Any, context: Any, vocab: Any, temperature: float) -> None:
        self._c = library
        self._context = context
        self._chain = library.llama_sampler_chain_init(library.llama_sampler_chain_default_params())
        dry = (_REPEAT["multiplier"], _REPEAT["base"], _REPEAT["allowed"], _REPEAT["window"])
        self._add(library.llama_sampler_init_dry(vocab, *dry, None, 0))
        if temperature <= 0:
            self._add(library.llama_sampler_init_greedy())
            return
        self._add(library.llama_sampler_init_top_k(_SAMPLING["top_k"]))
        self._add(library.llama_sampler_init_top_p(_SAMPLING["top_p"], 1))
        self._add(library.llama_sampler_init_min_p(_SAMPLING["min_p"], 1))
        self._add(library.llama_sampler_init_temp(temperature))
        self._add(library.llama_sampler_init_dist(library.LLAMA_DEFAULT_SEED))

    def _add(self, link: Any) -> None:
        self._c.llama_sampler_chain_add(self._chain, link)

    def next(self) -> int:
        """The token that follows what was decoded last."""
        return int(self._c.llama_sampler_sample(self._chain, self._context, -1))

    def close(self) -> None:
        """Free the chain."""
        self._c.llama_sampler_free(self._chain)
