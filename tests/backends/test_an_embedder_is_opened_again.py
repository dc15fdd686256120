"""The embedder of an index is opened from its identity card, whatever the settings name by now."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from companion_assets.backends.factory import names_embedder, open_embedder, reopen_embedder
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.manifests import EmbedderSpec, IndexManifest
from companion_assets.contracts.settings import EmbeddingSettings
from tests.backends.ollama_double import OllamaDouble, embedding_model
from tests.backends.tiny_gguf import write_tiny_bert


@pytest.fixture
def server() -> Iterator[OllamaDouble]:
    with OllamaDouble() as double:
        double.models["some-model:latest"] = embedding_model(dimensions=64)
        yield double


def of_server(server: OllamaDouble, **changes: object) -> EmbeddingSettings:
    return EmbeddingSettings.model_validate(
        {"provider": "ollama", "model": "some-model", "base_url": server.url, **changes}
    )


def other_settings(server: OllamaDouble) -> EmbeddingSettings:
    return EmbeddingSettings.model_validate({"base_url": server.url})


@pytest.mark.parametrize("dimensions", [None, 64])
def test_a_model_of_a_server_is_found_by_name(server: OllamaDouble, dimensions: int | None) -> None:
    spec = open_embedder(of_server(server, dimensions=dimensions)).spec
    again = reopen_embedder(spec, other_settings(server))
    assert again.spec == spec
    assert again.embed_query("a question").shape == (64,)


def test_another_model_under_the_same_name_is_refused(server: OllamaDouble) -> None:
    spec = open_embedder(of_server(server)).spec
    server.models["some-model:latest"] = embedding_model(dimensions=64, digest="f" * 64)
    with pytest.raises(BackendUnavailable, match="is not the one any more") as fault:
        reopen_embedder(spec, of_server(server))
    assert fault.value.hint == "companion sync makes the index anew"


def test_names_alone_tell_whether_the_settings_still_name_it(server: OllamaDouble) -> None:
    spec = open_embedder(of_server(server)).spec
    assert names_embedder(of_server(server), spec)
    assert names_embedder(of_server(server, model="some-model:latest", dimensions=64), spec)
    assert not names_embedder(of_server(server, dimensions=32), spec)
    assert not names_embedder(of_server(server, model="some-model:v2"), spec)
    assert not names_embedder(other_settings(server), spec)
    file = replace(spec, provider="llama_cpp", model="bert", location="/models/bert.gguf")
    assert names_embedder(EmbeddingSettings(provider="llama_cpp", model="/models/bert.gguf"), file)
    assert not names_embedder(EmbeddingSettings(provider="llama_cpp", model="/models/other.gguf"), file)


def test_where_a_model_lies_is_kept_and_is_no_part_of_what_it_is() -> None:
    spec = EmbedderSpec("llama_cpp", "bert", "d", 8, 512, location="/models/bert.gguf")
    moved = replace(spec, location="/elsewhere/bert.gguf")
    assert (moved, moved.embedder_id) == (spec, spec.embedder_id)
    manifest = IndexManifest("t", spec, None, chunks=1, notes=1, version=1, published_at="2026-11-30")
    assert IndexManifest.from_json(manifest.to_json()).embedder.location == "/models/bert.gguf"
    older = manifest.to_json().replace('"location": "/models/bert.gguf",', "")
    assert IndexManifest.from_json(older).embedder == spec


def test_a_model_file_is_found_where_it_was_and_where_it_was_moved(tmp_path: Path, server: OllamaDouble) -> None:
    pytest.importorskip("llama_cpp")
    file = write_tiny_bert(tmp_path / "bert.gguf")
    with_file = EmbeddingSettings(provider="llama_cpp", model=str(file))
    opened = open_embedder(with_file)
    opened.close()
    again = reopen_embedder(opened.spec, other_settings(server))
    again.close()
    assert again.spec == opened.spec
    moved = file.rename(tmp_path / "moved.gguf")
    again = reopen_embedder(opened.spec, EmbeddingSettings(provider="llama_cpp", model=str(moved)))
    again.close()
    assert again.spec == opened.spec
    with pytest.raises(BackendUnavailable, match=r"bert\.gguf"):
        reopen_embedder(opened.spec, other_settings(server))
