"""What is wrong with a setting, in plain words, and which key was probably meant."""

import json
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic_core import ErrorDetails

from companion_assets.contracts.settings import leaf_fields
from companion_assets.stores.settings_yaml import Place

_EXPECTED = {
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "finite_number": "expected a finite number",
    "string_type": "expected text in quotes",
    "tuple_type": "expected a list such as [a, b]",
    "dict_type": "expected a group of keys",
    "model_type": "expected a group of keys",
    "path_type": "expected a path",
}
_LIMITS: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "greater_than_equal": lambda c: f"must be at least {c['ge']}",
    "greater_than": lambda c: f"must be more than {c['gt']}",
    "less_than_equal": lambda c: f"must be at most {c['le']}",
    "less_than": lambda c: f"must be less than {c['lt']}",
    "literal_error": lambda c: f"must be {c['expected']}",
    "string_too_short": lambda c: f"needs at least {c['min_length']} character(s)",
    "string_too_long": lambda c: f"may have at most {c['max_length']} characters",
}


def explain(error: ErrorDetails) -> str:
    """One fault of a validation, as a phrase that follows the key."""
    kind = error["type"]
    if kind == "extra_forbidden":
        return "is not a setting" + suggestion(tuple(error["loc"]))
    if kind == "value_error":
        return str(error["ctx"]["error"])
    said = _EXPECTED.get(kind) or (_LIMITS[kind](error["ctx"]) if kind in _LIMITS else error["msg"])
    return f"{said}, got {_shown(error['input'])}"


def suggestion(place: Place) -> str:
    """`; did you mean …?` for an unknown key, or nothing where no key is near."""
    *parents, name = map(str, place)
    prefix = "".join(f"{part}." for part in parents)
    siblings = {key.removeprefix(prefix).split(".")[0] for key in leaf_fields() if key.startswith(prefix)}
    if near := get_close_matches(name, sorted(siblings), 1):
        return f"; did you mean {prefix}{near[0]}?"
    section = f"{place[0]}."
    for within, likeness in ((section, 0.6), ("", 0.8)):  # a key moved inside its section is likelier than across
        elsewhere = {key.rpartition(".")[2]: key for key in leaf_fields() if key.startswith(within)}
        if near := get_close_matches(name, sorted(elsewhere), 1, likeness):
            return f"; did you mean {elsewhere[near[0]]}?"
    return ""


def key_name(place: Place) -> str:
    """`vault.indexing.deny_dirs[2]`."""
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return name.removeprefix(".")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "…"
