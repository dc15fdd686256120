"""What comes in over HTTP."""

import datetime as dt
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from companion_assets.contracts.records import LONGEST_QUESTION
from companion_assets.contracts.searching import SearchFilters

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_QUESTION)]
SessionId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Glob = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
NotePath = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096)]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class FiltersIn(_In):
    """Hard filters; `after` and `before` are inclusive days."""

    after: dt.date | None = None
    before: dt.date | None = None
    tags: list[Tag] = Field(default=[], max_length=50)
    folder: Glob | None = None
    people: list[Name] = Field(default=[], max_length=20)
    note: NotePath | None = None

    def filters(self) -> SearchFilters:
        """The same in the words of the search."""
        return SearchFilters(
            after=self.after,
            before=self.before,
            tags=tuple(tag.removeprefix("#") for tag in self.tags),
            folder=self.folder,
            note=self.note,
            people=tuple(self.people),
        )


class ChatIn(_In):
    """A question. Without a `session_id` a new conversation begins."""

    question: Text
    session_id: SessionId | None = None
    filters: FiltersIn = FiltersIn()
    temperature: float | None = Field(None, ge=0.0, le=2.0)


class SearchIn(_In):
    """A search. `k` above the setting `max_top_k` is cut to it."""

    q: Text
    k: int | None = Field(None, ge=1, le=1000)
    after: dt.date | None = None
    before: dt.date | None = None
    tag: list[Tag] = Field(default=[], max_length=50)
    folder: Glob | None = None
    person: list[Name] = Field(default=[], max_length=20)
    note: NotePath | None = None

    def filters(self) -> SearchFilters:
        """The filters in the words of the search."""
        given = FiltersIn(
            after=self.after,
            before=self.before,
            tags=self.tag,
            folder=self.folder,
            people=self.person,
            note=self.note,
        )
        return given.filters()


class TriggerIn(_In):
    """How to sync. With `confirm_removals`, notes that vanished in great number are removed from the index."""

    confirm_removals: bool = False
