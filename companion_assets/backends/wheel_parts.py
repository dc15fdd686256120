"""Files inside wheels, read as data: from an installed distribution, or from a `*.whl` file that is not."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib import metadata
from pathlib import Path
from typing import IO, NamedTuple


class Part(NamedTuple):
    """A pinned wheel."""

    distribution: str
    version: str

    @property
    def wheel_pattern(self) -> str:
        """Glob over wheel file names."""
        return f"{self.distribution.replace('-', '_')}-{self.version}-*.whl"


@dataclass(frozen=True, slots=True)
class PartFile:
    """The one file of interest in a wheel. `member` is its name inside `path`, or "" when `path` is the file."""

    path: Path
    member: str = ""

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Read it as a stream.

        Raises:
            OSError: It is gone or unreadable.
            zipfile.BadZipFile: The wheel is cut off, or a checksum in it does not fit.
        """
        if not self.member:
            with self.path.open("rb") as file:
                yield file
        else:
            with zipfile.ZipFile(self.path) as wheel, wheel.open(self.member) as file:
                yield file


def find_part(part: Part, member: str, wheels_dir: Path | None) -> PartFile | None:
    """The file of `part` that matches the glob `member`: in a wheel of `wheels_dir` first, else installed."""
    return (wheels_dir and _in_wheel(part, member, wheels_dir)) or installed_part(part, member)


def installed_part(part: Part, member: str) -> PartFile | None:
    """The file in the installed distribution, if that very version is installed."""
    try:
        distribution = metadata.distribution(part.distribution)
    except metadata.PackageNotFoundError:
        return None
    if distribution.version != part.version:
        return None
    paths = [Path(str(file.locate())) for file in distribution.files or () if fnmatch(file.as_posix(), member)]
    return PartFile(paths[0]) if len(paths) == 1 and paths[0].is_file() else None


def _in_wheel(part: Part, member: str, wheels_dir: Path) -> PartFile | None:
    """A damaged wheel counts as absent: downloading it again is the remedy for both."""
    for path in sorted(wheels_dir.glob(part.wheel_pattern)):
        try:
            with zipfile.ZipFile(path) as wheel:
                names = [name for name in wheel.namelist() if fnmatch(name, member)]
        except (OSError, zipfile.BadZipFile):
            continue
        if len(names) == 1:
            return PartFile(path, names[0])
    return None
