"""Sources of settings laid over each other: later ones win key by key, and each value remembers where it came from."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import ValidationError

from companion_assets.contracts.settings import Settings, leaf_fields
from companion_assets.stores.settings_faults import explain, key_name
from companion_assets.stores.settings_yaml import Place


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from. `line` is 1-based, for files; `variable` is for the environment."""

    kind: Literal["file", "env", "default"]
    line: int = 0
    variable: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, and where."""

    origin: Origin
    place: Place
    message: str

    def line(self, file: str) -> str:
        """`companion.yaml:12: api.port must be …`."""
        where = self.origin.variable or (f"{file}:{self.origin.line}" if self.origin.line else file)
        return ": ".join(part for part in (where, key_name(self.place), self.message) if part)


@dataclass(slots=True)
class Layers:
    """The merged values, not yet checked, with the origin of each place and the faults so far."""

    tree: dict[str, Any] = field(default_factory=dict)
    origins: dict[Place, Origin] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def lay(self, place: Place, value: Any, origin: Callable[[Place], Origin]) -> None:
        """Set `value` at `place`; a mapping is laid key by key. Groups of keys left empty change nothing."""
        if place:
            if value is None and place in _groups():
                return
            self.origins[place] = origin(place)
        if isinstance(value, Mapping) and (value or not place):
            for key, inner in value.items():
                self.lay((*place, key), inner, origin)
            return
        if isinstance(value, list):
            self.origins |= {(*place, at): origin((*place, at)) for at in range(len(value))}
        self._put(place, value, origin(place))

    def _put(self, place: Place, value: Any, origin: Origin) -> None:
        branch = self.tree
        for depth, part in enumerate(place[:-1], start=1):
            branch = branch.setdefault(str(part), {})
            if not isinstance(branch, dict):
                message = f"cannot be set: {key_name(place[:depth])} has a value of its own"
                self.faults.append(Fault(origin, place, message))
                return
        branch[str(place[-1])] = value

    def origin_of(self, place: Place) -> Origin:
        """Origin of a place: its own, else of something in it, else of the group it lies in."""
        if place in self.origins:
            return self.origins[place]
        inside = (origin for at, origin in self.origins.items() if at[: len(place)] == place)
        return next(inside, None) or self.origin_of(place[:-1])

    def checked(self) -> Settings:
        """The settings. Faulty keys are noted in `faults` and left at their defaults, so that all are found."""
        while True:
            try:
                settings = Settings.model_validate_json(json.dumps(self.tree), strict=True)
                break
            except ValidationError as invalid:
                for error in invalid.errors():
                    self.faults.append(Fault(self.origin_of(error["loc"]), error["loc"], explain(error)))
                    self._remove(error["loc"])
        for key, message in settings.impossible_pairs():
            place = tuple(key.split("."))
            self.faults.append(Fault(self.origin_of(place), place, message))
        return settings

    def _remove(self, place: Place) -> None:
        """Take the faulty value out of the tree; a faulty list item takes its list with it."""
        branch: Any = self.tree
        for at, part in enumerate(place):
            inner = branch.get(part) if isinstance(branch, dict) else None
            if at == len(place) - 1 or not isinstance(inner, dict):
                if isinstance(branch, dict):
                    branch.pop(part, None)
                return
            branch = inner
        branch.clear()  # the fault is in the whole


@cache
def _groups() -> frozenset[Place]:
    """Places that hold keys: sections, and settings that are mappings."""
    sections = {tuple(key.split(".")[:depth]) for key in leaf_fields() for depth in range(1, key.count(".") + 1)}
    mappings = {
        tuple(key.split("."))
        for key, info in leaf_fields().items()
        if isinstance(info.get_default(call_default_factory=True), dict)
    }
    return frozenset(sections | mappings)
