"""Takes the power out of chat-template control tokens in text that somebody else wrote.

A note that contains `<|im_end|>` must stay a note: rendered into a prompt as it is, many runtimes read it as
the end of the turn. The brackets of such words are swapped for look-alikes, so a person (and the model) still
reads the same word while no tokenizer takes it for a token. Look-alikes are used, not zero-width characters,
because some tokenizers drop those before matching.

`llama_prompt` does not depend on this (it never parses tokens in content); engines that render the prompt
themselves, such as Ollama, do.
"""

import re
from collections.abc import Collection
from functools import lru_cache

# Families of spellings rather than a list of models: <|name|>, its one-sided forms <|turn> and <turn|>, the
# same with the full-width bar, sentence marks, turn marks, and the bracketed words of the Llama and Mistral line.
_FAMILIES = r"""
    < [|｜] [^\s<>‹›]{1,64} >
  | < [^\s<>‹›]{1,64} [|｜] >
  | (?i: < /? (?: s | bos | eos | pad | unk | cls | sep | mask | eod | eot | eop | sop
            | unused\d+ | extra_id_\d+ | reserved_\d+ | (?: start | end | begin ) _of_ [a-z_]{1,24} ) > )
  | \[ /? (?: INST | SYSTEM_PROMPT | AVAILABLE_TOOLS | TOOL_CALLS | TOOL_RESULTS | TOOL_CONTENT
            | MODEL_SETTINGS | ARGS | CALL_ID | THINK | g?MASK | sMASK | CLS | SEP | PAD | UNK | BOS | EOS ) \]
  | << /? SYS >>
"""
_LOOK_ALIKES = str.maketrans({"<": "‹", ">": "›", "[": "⟦", "]": "⟧"})
_WORD_JOINER = "\u2060"


def neutralise(text: str, control_tokens: Collection[str] = ()) -> str:
    """`text` with every control token made plain; all other text is untouched.

    Neutralising twice changes nothing more.

    Args:
        text: Untrusted text: a note, a question, a fetched page.
        control_tokens: Further spellings to break, as a model's vocabulary lists them. One-character
            spellings are ignored: they cannot be told from text.
    """
    pattern = _pattern(frozenset(token for token in control_tokens if len(token) > 1))
    # Breaking one spelling can uncover an overlapping one, so until nothing is left.
    while (plain := pattern.sub(_plain, text)) != text:
        text = plain
    return text


@lru_cache(maxsize=8)
def _pattern(control_tokens: frozenset[str]) -> re.Pattern[str]:
    longest_first = sorted(control_tokens, key=lambda token: (-len(token), token))
    listed = "".join(f" | {re.escape(token)}" for token in longest_first)
    return re.compile(_FAMILIES + listed, re.VERBOSE)


def _plain(match: re.Match[str]) -> str:
    token = match.group()
    swapped = token.translate(_LOOK_ALIKES)
    return swapped if swapped != token else token[0] + _WORD_JOINER + token[1:]
