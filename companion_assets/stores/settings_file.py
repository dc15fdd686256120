"""Settings from their three sources: defaults, then a YAML or JSON file, then the environment.

All faults are found in one reading and reported together, each with its file and line or its variable. Reading
creates nothing on disk. A group whose keys are all commented out (`vault:` with nothing under it) keeps its
defaults, and so does an empty variable.
"""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from companion_assets.contracts.errors import SettingsError
from companion_assets.contracts.paths import CONFIG_VARIABLE, HOME_VARIABLE, MODEL_CACHE_VARIABLE, data_paths
from companion_assets.contracts.settings import Settings, leaf_fields
from companion_assets.stores.settings_layers import Fault, Layers, Origin
from companion_assets.stores.settings_yaml import Place, read_text, read_value

ENV_PREFIX = "COMPANION_"
NOT_SETTINGS = (HOME_VARIABLE, CONFIG_VARIABLE, MODEL_CACHE_VARIABLE)
MAX_BYTES = 1_000_000  # the reference with every key and its comment has about 10 kB


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings in force.

    Attributes:
        origins: Dotted key → where its value comes from, for every key.
        path: The file that was read, or None.
    """

    settings: Settings
    origins: Mapping[str, Origin]
    path: Path | None

    def where(self, key: str) -> str:
        """`/…/companion.yaml:12`, the variable's name, or `default`."""
        origin = self.origins[key]
        return f"{self.path}:{origin.line}" if origin.kind == "file" else origin.variable or "default"


def load_settings(path: Path | None = None, env: Mapping[str, str] | None = None) -> LoadedSettings:
    """Read all sources and check everything.

    Args:
        path: The file; else the variable COMPANION_CONFIG, else `companion.yaml` in the data root if it exists.
        env: The environment; None is this process's.

    Raises:
        SettingsError: Something cannot be used. The message lists every fault with its place.
    """
    env = os.environ if env is None else env
    file = _settings_path(path, env)
    layers = Layers()
    if file:
        _lay_file(layers, file)
    _lay_environment(layers, env)
    settings = layers.checked()
    if layers.faults:
        raise _all_faults(layers.faults, file)
    origins = {key: layers.origins.get(tuple(key.split(".")), Origin("default")) for key in leaf_fields()}
    return LoadedSettings(settings, origins, file)


def write_initial_settings(path: Path, vault: Path) -> None:
    """Write the commented reference, with every key commented out but `vault.path`. Never overwrites.

    Raises:
        SettingsError: The file exists, or cannot be written.
    """
    try:
        quoted = json.dumps(str(vault.expanduser().absolute()), ensure_ascii=False)
        content = ("\n".join(_initial_lines(quoted)) + "\n").encode()
        if path.exists():
            raise SettingsError(f"{path} exists already and was left as it is", f"edit vault.path in {path}")
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with path.open("xb") as file:
            path.chmod(0o600)
            file.write(content)
    except (OSError, ValueError, RuntimeError) as fault:
        raise SettingsError(f"the settings file {path} cannot be written: {fault}") from fault


def reference_text() -> str:
    """The commented reference with every key at its default (`config/companion.yaml`)."""
    return files("companion_assets.stores").joinpath("companion.yaml").read_text(encoding="utf-8")


def _initial_lines(vault: str) -> Iterator[str]:
    for line in reference_text().splitlines():
        key, _, value = line.partition(":")
        bare = key.lstrip()
        if line.startswith("  path:"):
            yield f"  path: {vault}"
        elif not bare or bare.startswith("#") or not value.strip():  # a blank line, a comment, the head of a section
            yield line
        else:
            yield f"{key.removesuffix(bare)}# {line.lstrip()}"


def _settings_path(path: Path | None, env: Mapping[str, str]) -> Path | None:
    chosen = path or env.get(CONFIG_VARIABLE)
    if not chosen:
        own = data_paths(env.get(HOME_VARIABLE) or None).settings_file
        try:
            return own if own.exists() else None
        except OSError as fault:  # its folder is closed to us
            raise SettingsError(f"the settings file {own} cannot be read: {fault.strerror}") from fault
    try:
        return Path(chosen).expanduser().absolute()
    except RuntimeError as fault:
        raise SettingsError(f"the settings file {chosen} cannot be found: {fault}") from fault


def _lay_file(layers: Layers, path: Path) -> None:
    read = read_text(_file_text(path))
    layers.faults += [Fault(Origin("file", fault.line), fault.place, fault.message) for fault in read.faults]
    if isinstance(read.tree, dict):
        _anchor_vault(read.tree, path.parent)
        layers.lay((), read.tree, lambda place: Origin("file", read.lines.get(place, 0)))
    elif read.tree is not None:
        layers.faults.append(Fault(Origin("file", 1), (), "settings are sections such as `vault:`, with keys in them"))


def _anchor_vault(tree: dict[str, Any], folder: Path) -> None:
    """A relative vault path in a file counts from the file's folder, wherever Companion was started."""
    vault = tree.get("vault")
    if isinstance(vault, dict) and isinstance(written := vault.get("path"), str):
        vault["path"] = written if written.startswith("~") or not written else str(folder / written)


def _file_text(path: Path) -> str:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SettingsError(f"the settings file {path} is not a file", "name a YAML or JSON file")
        if status.st_size > MAX_BYTES:
            raise SettingsError(f"{path} has {status.st_size:,} bytes; settings have at most {MAX_BYTES:,}")
        return path.read_bytes()[:MAX_BYTES].decode("utf-8-sig")
    except FileNotFoundError as fault:
        raise SettingsError(f"the settings file {path} does not exist", "companion init --vault PATH") from fault
    except UnicodeDecodeError as fault:
        raise SettingsError(f"the settings file {path} is not UTF-8 text", "save it as UTF-8") from fault
    except (OSError, ValueError) as fault:
        raise SettingsError(f"the settings file {path} cannot be read: {fault}") from fault


def _lay_environment(layers: Layers, env: Mapping[str, str]) -> None:
    known = leaf_fields()
    variables = {ENV_PREFIX + key.upper().replace(".", "__"): key for key in known}
    for name in sorted(env):
        if not name.startswith(ENV_PREFIX) or name in NOT_SETTINGS or not env[name].strip():
            continue
        place: Place = tuple(name.removeprefix(ENV_PREFIX).lower().split("__"))
        origin = Origin("env", variable=name)
        if len(place) > 1:
            value = _variable_value(env[name], known.get(".".join(map(str, place))))
            layers.lay(place, value, lambda _, origin=origin: origin)  # type: ignore[misc]
        elif near := get_close_matches(name, variables, 1, 0.9):  # other programs may own other COMPANION_ names
            layers.faults.append(Fault(origin, (), f"is not a setting; did you mean {near[0]}?"))


def _variable_value(raw: str, info: FieldInfo | None) -> Any:
    """The text as a YAML value, or as it stands where the setting takes text and no such value (a name like `2024`)."""
    value = read_value(raw)
    if info is None or info.annotation is None:
        return value
    if isinstance(value, str):
        return raw
    accepts: TypeAdapter[Any] = TypeAdapter(info.annotation)
    for candidate in (value, raw):
        try:
            accepts.validate_json(json.dumps(candidate), strict=True)
        except ValidationError:
            continue
        return candidate
    return value


def _all_faults(faults: list[Fault], file: Path | None) -> SettingsError:
    in_order = sorted(faults, key=lambda fault: (fault.origin.variable, fault.origin.line))
    lines = tuple(dict.fromkeys(fault.line(str(file)) for fault in in_order))
    count = "1 setting" if len(lines) == 1 else f"{len(lines)} settings"
    message = "\n  ".join([f"{count} cannot be used:", *lines])
    return SettingsError(message, "config/companion.yaml holds every key with its meaning", lines)
