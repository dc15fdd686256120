"""One partition per top-level folder of the vault, `_root` for loose notes.

Not one per note: every (asset, partition) pair costs about 11 ms and 8 kB per run, and a run covers one contiguous
range of keys. Inside a folder the steps compare with the catalog, so an unchanged folder costs next to nothing, and
any scattered set of changes is one run over the whole range.
"""

from collections.abc import Mapping, Sequence

import dagster as dg

VAULT_FOLDERS = "vault_folders"
RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"

vault_folders = dg.DynamicPartitionsDefinition(name=VAULT_FOLDERS)


def range_tags(keys: Sequence[str]) -> Mapping[str, str]:
    """Run tags that cover all of `keys`, in the order in which the instance lists them."""
    return {RANGE_START: keys[0], RANGE_END: keys[-1]}
