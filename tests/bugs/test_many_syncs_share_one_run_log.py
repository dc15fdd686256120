"""Sensor, schedule, a person, the worker and onlookers at once: nobody hears of a lock (B54, B55, B81)."""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from companion_assets.contracts.paths import data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.stores.catalog_view import CatalogView
from companion_assets.stores.index import ChunkIndex
from tests.bugs import actors
from tests.crash.processes import CONTEXT, start_server

FOLDERS = ["Journal", "People", "Projects"]
PATIENCE = 120


def write(vault: Path, edition: int) -> dict[str, str]:
    """An edition of every note, as if it had been there for a minute."""
    texts = {f"{folder}/{n}.md": f"{folder} {n}, edition {edition}." for folder in FOLDERS for n in range(3)}
    past = time.time() - 60 + edition
    for path, text in texts.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text, encoding="utf-8")
        os.utime(vault / path, (past, past))
    return texts


def test_all_syncs_succeed_and_the_index_is_the_vault(tmp_path: Path) -> None:
    place = actors.Place(data_paths().root, tmp_path / "vault", tmp_path / "said", tmp_path / "over")
    place.log.mkdir()
    write(place.vault, 0)
    start_server()
    with ProcessPoolExecutor(5, CONTEXT) as pool:
        pool.submit(actors.person, place, 1).result(PATIENCE)
        looking = pool.submit(actors.onlooker, place)
        syncing = [
            pool.submit(actors.sensor, place, 2),
            pool.submit(actors.schedule, place),
            pool.submit(actors.person, place, 1),
            pool.submit(actors.worker, place, FOLDERS[:2]),
        ]
        for edition in range(1, 4):
            write(place.vault, edition)
            time.sleep(0.3)
        for actor in syncing:
            actor.result(PATIENCE)
        texts = write(place.vault, 4)
        pool.submit(actors.person, place, 1).result(PATIENCE)
        place.over.touch()
        assert looking.result(PATIENCE) > 3

    said = "".join(file.read_text(encoding="utf-8") for file in place.log.iterdir())
    assert said == ""
    with open_instance(data_paths()) as instance:
        runs = instance.get_runs()
        events = [str(event) for run in runs for event in instance.all_logs(run.run_id)]
    assert {run.status.value for run in runs} == {"SUCCESS"}
    reasons = [run.tags["companion/reason"] for run in runs]
    assert (reasons.count("companion sync"), reasons.count("watcher"), reasons.count("daily")) == (3, 2, 1)
    assert not [event for event in events if "locked" in event]

    index, counts = ChunkIndex.open(data_paths()), CatalogView(data_paths().catalog_db).counts()
    assert {path: index.neighbours(path)[0].text for path in index.health().chunks_by_note} == texts
    assert (index.health().rows, index.health().duplicate_ids, counts.pending) == (len(texts), 0, 0)
