import json
import os
import stat
from pathlib import Path

from companion_assets.backends.prefix_cache import FOLDER, PrefixCache, forget_prefixes

TOKENS = list(range(100, 180))


def write(tokens: list[int], file: Path) -> bool:
    file.write_text(json.dumps(tokens))
    return True


def read(file: Path) -> list[int]:
    return list(json.loads(file.read_text()))


def keep(cache: PrefixCache, tokens: list[int]) -> None:
    cache.save(tokens, lambda file: write(tokens, file))


def test_a_saved_prefix_is_found_by_another_process(tmp_path: Path) -> None:
    keep(PrefixCache(tmp_path, "model"), TOKENS)
    later = PrefixCache(tmp_path, "model")
    assert later.longest([*TOKENS, 1, 2]) == len(TOKENS)
    assert later.load([*TOKENS, 1, 2], read) == len(TOKENS)


def test_the_longest_of_several_prefixes_is_taken(tmp_path: Path) -> None:
    cache = PrefixCache(tmp_path, "model")
    keep(cache, TOKENS[:40])
    keep(cache, TOKENS)
    assert cache.load([*TOKENS, 1], read) == len(TOKENS)
    assert cache.load([*TOKENS[:60], 1], read) == 40


def test_other_models_and_other_tokens_do_not_match(tmp_path: Path) -> None:
    keep(PrefixCache(tmp_path, "model"), TOKENS)
    assert PrefixCache(tmp_path, "other").longest(TOKENS) == 0
    assert PrefixCache(tmp_path, "model").longest([0, *TOKENS]) == 0
    assert PrefixCache(tmp_path, "model").longest(TOKENS[:-1]) == 0


def test_a_damaged_state_is_ignored_and_removed(tmp_path: Path) -> None:
    cache = PrefixCache(tmp_path, "model")
    keep(cache, TOKENS)
    state = next(tmp_path.glob("*.kv"))
    state.write_bytes(state.read_bytes()[:-7])
    asked: list[Path] = []
    assert cache.load(TOKENS, lambda file: asked.append(file) or []) == 0  # type: ignore[func-returns-value]
    assert not asked, "a damaged file must not reach native code"
    assert not list(tmp_path.iterdir())
    keep(cache, TOKENS)
    assert cache.load(TOKENS, read) == len(TOKENS)


def test_an_unreadable_manifest_and_a_vanished_state_are_no_error(tmp_path: Path) -> None:
    keep(PrefixCache(tmp_path, "model"), TOKENS)
    (tmp_path / "broken.json").write_text('{"identity"')
    next(tmp_path.glob("*.kv")).unlink()
    cache = PrefixCache(tmp_path, "model")
    assert cache.load(TOKENS, read) == 0
    assert cache.longest(TOKENS) == 0


def test_only_the_last_used_few_are_kept(tmp_path: Path) -> None:
    cache = PrefixCache(tmp_path, "model")
    prompts = [[start, *TOKENS] for start in range(7)]
    for age, prompt in enumerate(prompts):
        keep(cache, prompt)
        newest = max(tmp_path.glob("*.kv"), key=lambda state: state.stat().st_mtime_ns)
        os.utime(newest, (1_000_000 + age, 1_000_000 + age))
    assert len(list(tmp_path.glob("*.kv"))) == 4
    assert cache.longest(prompts[-1]) == len(prompts[-1])
    assert cache.longest(prompts[0]) == 0


def test_states_are_private_and_can_be_forgotten(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    keep(PrefixCache(folder, "model"), TOKENS)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(state.stat().st_mode) == 0o600 for state in folder.glob("*.kv"))
    assert forget_prefixes(tmp_path) == 2
    assert PrefixCache(folder, "model").longest(TOKENS) == 0
    assert forget_prefixes(tmp_path / "nothing") == 0


def test_a_state_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    cache = PrefixCache(blocked / "prefix", "model")
    keep(cache, TOKENS)
    cache.save(TOKENS, lambda file: False)
    assert cache.longest(TOKENS) == 0
