"""One partition per top-level folder of the vault, `_root` for loose notes.

Not one per note: every (asset, partition) pair costs about 11 ms and 8 kB per run, and a run covers one contiguous
range of keys. Inside a folder the steps compare with the catalog, so an unchanged folder costs next to nothing, and
any scattered set of changes is one run over the whole range.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import dagster as dg

from companion_assets.defs.run_tags import ALL_FOLDERS, SCOPE_TAG
from companion_assets.stages.drift import Drift, measure_drift
from companion_assets.stages.workspace import Workspace

VAULT_FOLDERS = "vault_folders"
RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"

# What Dagster does not take in a key: it writes a range as "first...last". Escaped as in a URL, in such names only.
_REFUSED = re.compile(r"\.\.\.|[\a\b\f\n\r\t\v\0]|%(?=[0-9A-F]{2})")
_ESCAPED = re.compile(r"%[0-9A-F]{2}")

vault_folders = dg.DynamicPartitionsDefinition(name=VAULT_FOLDERS)


def key_of(folder: str) -> str:
    """The partition of a folder: its name, but for the few that Dagster refuses ("To do...")."""
    return _REFUSED.sub(lambda found: "".join(f"%{ord(letter):02X}" for letter in found[0]), folder)


def folder_of(key: str) -> str:
    """The folder of a partition."""
    return _ESCAPED.sub(lambda found: chr(int(found[0][1:], 16)), key)


def range_tags(keys: Sequence[str]) -> Mapping[str, str]:
    """Run tags that cover all of `keys`, in the order in which the instance lists them."""
    return {RANGE_START: keys[0], RANGE_END: keys[-1]}


def covering_tags(keys: Sequence[str], some: Collection[str]) -> Mapping[str, str]:
    """Run tags of the smallest range that covers some partitions; a run over all of them says so.

    Args:
        keys: All partitions, in the order in which the instance lists them.
        some: Some of them, at least one.
    """
    places = [place for place, key in enumerate(keys) if key in some]
    covered = keys[places[0] : places[-1] + 1]
    return {**range_tags(covered), **({SCOPE_TAG: ALL_FOLDERS} if len(covered) == len(keys) else {})}


@dataclass(frozen=True, slots=True)
class FolderPlan:
    """What the partitions should become.

    Attributes:
        drift: What differs between vault and catalog.
        add: Folders that have no partition yet.
        drop: Partitions of folders that are gone from the vault, from the catalog and from the index.
        keys: All partitions once `add` is done, in the order in which the instance will list them.
        dirty: Partition → fingerprint of its difference.
    """

    drift: Drift
    add: tuple[str, ...]
    drop: tuple[str, ...]
    keys: tuple[str, ...]
    dirty: Mapping[str, str]


def register(instance: dg.DagsterInstance, wanted: Iterable[str]) -> list[str]:
    """Make sure that these partitions exist; returns all of them in the order in which the instance lists them."""
    known = instance.get_dynamic_partitions(VAULT_FOLDERS)
    if not (new := [key for key in wanted if key not in known]):
        return list(known)
    instance.add_dynamic_partitions(VAULT_FOLDERS, new)
    return list(instance.get_dynamic_partitions(VAULT_FOLDERS))


def plan_folders(work: Workspace, instance: dg.DagsterInstance) -> FolderPlan:
    """Compare vault, catalog and partitions.

    A folder is dropped only after a run has emptied it, so that its last event is a truthful "0 notes", and nothing of
    it stays behind in the index.

    Raises:
        VaultError: The vault cannot be read.
    """
    drift = measure_drift(work)
    have = instance.get_dynamic_partitions(VAULT_FOLDERS)
    dirty = {key_of(folder): mark for folder, mark in drift.dirty.items()}
    there = {*map(key_of, drift.folders), *dirty}
    wanted = {*there, *map(key_of, work.catalog.folders())}
    # Also a folder that is gone from the vault and known to no run log: a run has to empty it.
    add = tuple(sorted(there - set(have)))
    return FolderPlan(drift, add, tuple(key for key in have if key not in wanted), (*have, *add), dirty)
