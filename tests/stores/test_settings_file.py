"""Settings: three sources, one check, every fault with its place."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from companion_assets.contracts.errors import SettingsError
from companion_assets.contracts.settings import Settings, inactive_keys, leaf_fields
from companion_assets.stores.settings_file import load_settings, reference_text, write_initial_settings

ROOT = Path(__file__).parents[2]
SEED = ROOT / "tests" / "data" / "seed_config.json"


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "companion.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def faults_of(file: Path, env: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load_settings(file, env or {})
    return [line.removeprefix(f"{file}:") for line in caught.value.faults] or [caught.value.message]


def leaves_of(tree: dict, prefix: str = "") -> list[str]:
    found = []
    for key, value in tree.items():
        inside = isinstance(value, dict) and f"{prefix}{key}" not in leaf_fields()
        found += leaves_of(value, f"{prefix}{key}.") if inside else [f"{prefix}{key}"]
    return found


def test_every_key_of_the_seeds_config_loads_as_it_is() -> None:
    loaded = load_settings(SEED, {})
    from_file = {key for key, origin in loaded.origins.items() if origin.kind == "file"}
    keys = leaves_of(json.loads(SEED.read_text()))
    assert from_file == set(keys)
    assert len(keys) == 78
    assert loaded.settings.companion.name == "SAN"
    assert loaded.settings.rag.embedding.model == "mxbai-embed-large"
    assert loaded.settings.vault.chunking_rules["Journal/**"].section_tags[0] == "#DayInShort"


def test_the_reference_holds_every_key_and_loads_to_the_defaults() -> None:
    loaded = load_settings(ROOT / "config" / "companion.yaml", {})
    assert loaded.settings == Settings()
    assert [key for key, origin in loaded.origins.items() if origin.kind != "file"] == []
    assert reference_text() == (ROOT / "config" / "companion.yaml").read_text()


def test_every_key_of_the_reference_is_explained_or_follows_an_explained_one() -> None:
    later = {line.strip() for line in reference_text().splitlines() if "[later]" in line}
    assert len(later) >= 9
    assert {key.split(".")[0] for key in inactive_keys()} <= {
        line.split(":")[0] for line in reference_text().splitlines()
    }


def test_without_a_file_all_is_default_and_nothing_is_created(tmp_path: Path) -> None:
    loaded = load_settings(env={"COMPANION_HOME": str(tmp_path / "none")})
    assert loaded.settings == Settings()
    assert loaded.path is None
    assert {origin.kind for origin in loaded.origins.values()} == {"default"}
    assert list(tmp_path.iterdir()) == []


def test_order_is_defaults_then_file_then_environment(tmp_path: Path) -> None:
    file = written(tmp_path, "rag:\n  search:\n    default_top_k: 5\n    max_top_k: 12\n")
    loaded = load_settings(file, {"COMPANION_RAG__SEARCH__MAX_TOP_K": "9"})
    search = loaded.settings.rag.search
    assert (search.default_top_k, search.max_top_k, search.similarity_threshold) == (5, 9, 0.75)
    assert loaded.where("rag.search.default_top_k") == f"{file}:3"
    assert loaded.where("rag.search.max_top_k") == "COMPANION_RAG__SEARCH__MAX_TOP_K"
    assert loaded.where("rag.search.similarity_threshold") == "default"


def test_the_file_is_the_named_one_then_the_variables_then_the_data_roots(tmp_path: Path) -> None:
    home, named, pointed = tmp_path / "home", tmp_path / "named", tmp_path / "pointed"
    for folder in (home, named, pointed):
        folder.mkdir()
        written(folder, f"companion:\n  name: {folder.name}\n")
    env = {"COMPANION_HOME": str(home)}
    assert load_settings(env=env).settings.companion.name == "home"
    env["COMPANION_CONFIG"] = str(pointed / "companion.yaml")
    assert load_settings(env=env).settings.companion.name == "pointed"
    assert load_settings(named / "companion.yaml", env).settings.companion.name == "named"


@pytest.mark.parametrize(
    ("variable", "raw", "key", "value"),
    [
        ("RAG__EMBEDDING__PROVIDER", "ollama", "provider", "ollama"),
        ("RAG__EMBEDDING__MODEL", "2024", "model", "2024"),
        ("RAG__EMBEDDING__MODEL", "a #3: b", "model", "a #3: b"),
        ("RAG__EMBEDDING__DIMENSIONS", "1024", "dimensions", 1024),
        ("RAG__EMBEDDING__BATCH_SIZE", "  ", "batch_size", 32),
        ("RAG__EMBEDDING", "{batch_size: 4}", "batch_size", 4),
    ],
)
def test_environment_values_take_the_type_of_their_key(variable: str, raw: str, key: str, value: object) -> None:
    env = {"COMPANION_HOME": "/nowhere", "COMPANION_RAG__EMBEDDING__PROVIDER": "ollama", f"COMPANION_{variable}": raw}
    loaded = load_settings(env=env)
    assert getattr(loaded.settings.rag.embedding, key) == value


def test_environment_lists_and_switches() -> None:
    env = {
        "COMPANION_HOME": "/nowhere",
        "COMPANION_VAULT__INDEXING__DENY_DIRS": "[a, b]",
        "COMPANION_UI__CLI__RICH_OUTPUT": "false",
        "COMPANION_SOMETHING_OF_ANOTHER_PROGRAM": "x",
    }
    loaded = load_settings(env=env).settings
    assert loaded.vault.indexing.deny_dirs == ("a", "b")
    assert loaded.ui.cli.rich_output is False


def test_all_faults_are_reported_at_once_each_with_its_place(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "vualt: {}\n"
        "rag:\n"
        "  search:\n"
        "    default_top_k: 30\n"
        "    similarity_threshold: 1.5\n"
        "    top_k: 3\n"
        "  embedding:\n"
        "    base_url: http://example.com\n"
        "    dimensions: true\n"
        "vault:\n"
        "  indexing:\n"
        "    deny_dirs: [a, 3]\n"
        "    auto_sync: true\n"
        "    auto_sync: false\n"
        "companion:\n"
        "  name: 2024\n",
    )
    found = faults_of(file, {"COMPANION_API__HOST": "0.0.0.0", "COMPANION_API_PORT": "1", "COMPANION_UI__WEB__X": "1"})
    assert found == [
        "1: vualt: is not a setting; did you mean vault?",
        "3: rag.search: default_top_k (30) is greater than max_top_k (20)",
        "5: rag.search.similarity_threshold: must be at most 1.0, got 1.5",
        "6: rag.search.top_k: is not a setting; did you mean rag.search.max_top_k?",
        "8: rag.embedding.base_url: http://example.com is not on this machine, but security.local_only is true",
        "9: rag.embedding.dimensions: expected a whole number, got true",
        "12: vault.indexing.deny_dirs[1]: expected text in quotes, got 3",
        "14: vault.indexing.auto_sync: is set twice; first in line 13",
        "16: companion.name: expected text in quotes, got 2024",
        "COMPANION_API_PORT: is not a setting; did you mean COMPANION_API__PORT?",
        "COMPANION_API__HOST: api.host: 0.0.0.0 can be reached from outside, and access tokens are not there yet",
        "COMPANION_UI__WEB__X: ui.web.x: is not a setting",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a:\n\tb: 1\n", "2: a tab is used to indent; YAML takes spaces only"),
        ("- a\n- b\n", "1: settings are sections such as `vault:`, with keys in them"),
        ("just words", "1: settings are sections such as `vault:`, with keys in them"),
        ("api: {port: [1\n", "is not valid YAML"),
        ("--- {}\n--- {}\n", "is not valid YAML"),
        ("api: &a\n  port: 1\nui: *a\n", "anchors and aliases"),
        ("companion: !!python/object:os.system {}\n", "1: companion: has a type of its own"),
        ("api:\n  port: " + "9" * 5000, "2: api.port: cannot be read as its type"),
        ("api:\n  port: !!int x\n", "2: api.port: cannot be read as its type"),
        ("api:\n  port: .inf\n", "2: api.port: expected a"),
        ("? [a, b]\n: 1\n", "1: a key must be plain text"),
        ("[" * 100_000, "nested far too deeply"),
        ("api: " + "[" * 50 + "]" * 50, "1: api: is nested far too deeply"),
        ("name: \x07\n", "is not valid YAML"),
        ("model:\n  inference:\n    base_url: 'http://[x'\n", "3: model.inference.base_url: "),
        ("vault:\n  path: ~nobody-of-that-name/notes\n", "2: vault.path: "),
        ('vault:\n  path: "a\\0b"\n', "2: vault.path: a path cannot hold a NUL character"),
        (b"\xff\xfea\x00:\x00", "is not UTF-8 text"),
        (b"#" * 1_000_001, "1,000,001 bytes"),
    ],
)
def test_damaged_files_are_explained(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert said in "\n".join(faults_of(written(tmp_path, text)))


def test_a_bomb_of_aliases_is_refused_without_unfolding_it(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert any("anchors and aliases" in line for line in faults_of(written(tmp_path, "\n".join(lines))))


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is not a file" in faults_of(tmp_path)[0]
    assert "is not a file" in faults_of(tmp_path / "pipe")[0]
    with pytest.raises(SettingsError, match="does not exist") as caught:
        load_settings(tmp_path / "absent.yaml", {})
    assert "companion init" in caught.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, "api: {port: 1}\n")
    file.chmod(0)
    assert "cannot be read" in faults_of(file)[0]


@pytest.mark.parametrize("text", ["", "# only a comment\n", "vault:\nrag:\n  search:\n", "\ufeff", "---\n"])
def test_a_file_that_sets_nothing_leaves_the_defaults(tmp_path: Path, text: str) -> None:
    assert load_settings(written(tmp_path, text), {}).settings == Settings()


def test_json_with_tabs_a_byte_order_mark_and_escaped_emoji_loads(tmp_path: Path) -> None:
    text = '\ufeff{\n\t"companion": {\n\t\t"name": "SAN \\ud83d\\ude00 \\u00e9"\n\t}\n}\n'
    loaded = load_settings(written(tmp_path, text), {})
    assert loaded.settings.companion.name == "SAN 😀 é"
    assert loaded.origins["companion.name"].line == 3


def test_a_relative_vault_counts_from_the_files_folder(tmp_path: Path) -> None:
    assert load_settings(written(tmp_path, "vault:\n  path: notes\n"), {}).settings.vault.path == tmp_path / "notes"


@pytest.mark.parametrize("name", ["Notes", "No: tes #1", 'q"uo\\te', "Журнал 日记 é"])
def test_initial_settings_set_the_vault_and_nothing_else(tmp_path: Path, name: str) -> None:
    file = tmp_path / "home" / "companion.yaml"
    write_initial_settings(file, tmp_path / name)
    loaded = load_settings(file, {})
    assert loaded.settings.vault.path == tmp_path / name
    assert [key for key, origin in loaded.origins.items() if origin.kind == "file"] == ["vault.path"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert len(file.read_text().splitlines()) == len(reference_text().splitlines())


def test_initial_settings_never_overwrite(tmp_path: Path) -> None:
    file = written(tmp_path, "api: {port: 1}\n")
    with pytest.raises(SettingsError, match="exists already"):
        write_initial_settings(file, tmp_path)
    assert file.read_text() == "api: {port: 1}\n"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["rag", "search", "api", "port", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def loads_or_explains(file: Path, env: dict[str, str]) -> bool:
    try:
        return isinstance(load_settings(file, env).settings, Settings)
    except SettingsError as fault:
        return bool(fault.message)


@given(st.dictionaries(st.sampled_from(["vault", "rag", "api", "model", "zzz"]), VALUES, max_size=4))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_loads_or_is_refused_in_words(tmp_path: Path, tree: dict[str, object]) -> None:
    assert loads_or_explains(written(tmp_path, json.dumps(tree)), {})


@given(st.text(max_size=60) | st.text(st.sampled_from("ab:&*!|>{}[],-?#'\"%@ \n\t\0"), max_size=40))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_loads_or_is_refused_in_words(tmp_path: Path, text: str) -> None:
    file = written(tmp_path, text.encode("utf-8", "surrogatepass"))
    assert loads_or_explains(file, {"COMPANION_VAULT__PATH": text})


def test_the_embedded_embedder_has_one_model_and_another_name_is_not_ignored(tmp_path: Path) -> None:
    (fault,) = faults_of(written(tmp_path, "rag:\n  embedding:\n    model: mxbai-embed-large\n"))
    assert "multilingual-e5-small" in fault
    assert "ollama" in fault
