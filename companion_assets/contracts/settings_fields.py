"""The kinds of value a setting can have, and what every section shares."""

from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Unit = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]


def _http_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not an address such as http://localhost:11434")
    return url


HttpAddress = Annotated[str, AfterValidator(_http_address)]


def later(default: Any, feature: str, **limits: Any) -> Any:
    """A field that is accepted now and acts when `feature` lands."""
    return Field(default, json_schema_extra={"later": feature}, **limits)


class Section(BaseModel):
    """A group of keys. Unknown keys are faults, values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)
