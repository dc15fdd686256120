"""The second half of the catalog: from chunks to vectors and to the index, and how far each note has come there."""

import json
from collections.abc import Iterable, Iterator, Mapping

from companion_assets.contracts.records import Chunk
from companion_assets.stores.catalog_rows import chunk_from_payload, now
from companion_assets.stores.catalog_view import AMONG, COMMITTED, PUT_FACT, TEXT_KEY, CatalogView, json_list

_HELD_BY_TABLE = "NOT gone AND indexed_key = chunked_key || '@' || ?"


class CatalogPublishing(CatalogView):
    """The chunks of `catalog.db`, on their way into a table of the index."""

    def notes_to_embed(self, folder: str, embedder_id: str) -> list[str]:
        """Paths of the notes with chunks that no table of this embedder holds as they are."""
        query = (
            "SELECT path FROM notes WHERE folder = ? AND NOT gone AND status != 'skipped' AND chunked_key IS NOT NULL"
            " AND (indexed_key IS NULL OR indexed_key NOT GLOB chunked_key || '@' || ? || '_*') ORDER BY path"
        )
        with self._database.read() as connection:
            return list(connection.exec_driver_sql(query, (folder, embedder_id)).scalars())

    def chunks_of(self, paths: Iterable[str]) -> Iterator[tuple[Chunk, str]]:
        """The chunks of these notes in order, each with the hash of its embedded text."""
        query = f"SELECT payload, text_sha FROM chunks WHERE path {AMONG} ORDER BY path, position"
        with self._database.read() as connection:
            for payload, sha in connection.exec_driver_sql(query, json_list(paths)):
                yield chunk_from_payload(payload), sha

    def count_chunks(self, paths: Iterable[str]) -> dict[str, int]:
        """Path → number of chunks, of those of the notes that have any."""
        query = f"SELECT path, count(*) FROM chunks WHERE path {AMONG} GROUP BY path"
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.exec_driver_sql(query, json_list(paths))}

    def notes_to_publish(self, folder: str, table: str) -> dict[str, str]:
        """Path → chunked_key of notes, cut as they were last read (or skipped), that this table does not hold so.

        Those of the folder, and of any folder those to which a note of this folder has moved: the one leaves the index
        in the commit that brings the other.
        """
        query = (
            "SELECT path, chunked_key FROM notes WHERE NOT gone"
            " AND (folder = ?1 OR sha IN (SELECT sha FROM notes INDEXED BY notes_gone"
            " WHERE gone AND folder = ?1 AND sha != ''))"
            f" AND (status = 'skipped' OR substr(chunked_key, 1, length({TEXT_KEY})) = {TEXT_KEY})"
            " AND indexed_key IS NOT chunked_key || '@' || ?2 ORDER BY path"
        )
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.exec_driver_sql(query, (folder, table))}

    def behind(self, table: str) -> dict[str, str]:
        """Path → folder of the readable notes that this index table does not hold as they were last read."""
        query = (
            "SELECT path, folder FROM notes WHERE NOT gone AND status != 'skipped'"
            " AND (chunked_key IS NULL OR indexed_key IS NOT chunked_key || '@' || ?)"
        )
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.exec_driver_sql(query, (table,))}

    def tombstones(self) -> dict[str, str]:
        """Path → folder of the vanished notes that the index may still hold."""
        with self._database.read() as connection:
            query = "SELECT path, folder FROM notes INDEXED BY notes_gone WHERE gone ORDER BY path"
            return {row[0]: row[1] for row in connection.exec_driver_sql(query)}

    def tombstones_to_drop(self, folder: str) -> list[str]:
        """Those tombstones whose text does not wait, under another path, to be brought into the index.

        A note that moved leaves its old path in the commit that brings it under its new one.
        """
        query = (
            "SELECT path FROM notes t INDEXED BY notes_gone WHERE folder = ? AND gone AND NOT EXISTS"
            " (SELECT 1 FROM notes n WHERE n.sha = t.sha AND n.sha != '' AND NOT n.gone AND n.indexed_key IS NULL)"
            " ORDER BY path"
        )
        with self._database.read() as connection:
            return list(connection.exec_driver_sql(query, (folder,)).scalars())

    def tombstones_of(self, paths: Iterable[str]) -> list[str]:
        """Tombstones, of whatever folder, with the same text as one of these notes: where they moved from."""
        query = (
            "SELECT path FROM notes INDEXED BY notes_gone WHERE gone AND sha != ''"
            f" AND sha IN (SELECT sha FROM notes WHERE path {AMONG}) ORDER BY path"
        )
        with self._database.read() as connection:
            return list(connection.exec_driver_sql(query, json_list(paths)).scalars())

    def mark_published(
        self, notes: Mapping[str, str], table: str, *, version: int = 0, dropped: Iterable[str] = ()
    ) -> None:
        """A commit to the index is done: write down what it brought and what it dropped, all or nothing.

        Args:
            notes: Path → chunked_key. A note cut again meanwhile stays pending.
            table: Holds these notes now.
            version: Of the table, with that commit; see `reconcile`.
            dropped: Notes whose tombstones are no longer needed; one that came back meanwhile is kept.
        """
        rows = [(f"{key}@{table}", now(), path, key) for path, key in notes.items()]
        with self._database.write() as connection:
            if rows:
                query = "UPDATE notes SET indexed_key = ?, published_at = ? WHERE path = ? AND chunked_key = ?"
                connection.exec_driver_sql(query, rows)
            connection.exec_driver_sql(f"DELETE FROM notes WHERE gone AND path {AMONG}", json_list(dropped))
            connection.exec_driver_sql(PUT_FACT, (COMMITTED, json.dumps([table, version])))

    def reconcile(self, table: str, version: int) -> bool:
        """Take back what is written down of a table that is not at the version written down last.

        After a power loss files may be of different age: nothing but the served pointer is forced to the disk at once.
        Or a run was killed in the moment between a commit and its being written down. All notes are pending again then;
        their vectors are not.

        Returns:
            Whether the two had parted.
        """
        if self.committed(table) in (None, version):
            return False
        with self._database.write() as connection:
            connection.exec_driver_sql("UPDATE notes SET indexed_key = NULL WHERE indexed_key GLOB '*@' || ?", (table,))
            connection.exec_driver_sql("DELETE FROM facts WHERE name = ?", (COMMITTED,))
        return True

    def published_totals(self, table: str) -> tuple[int, int]:
        """How many notes and how many chunks this index table holds as they were last cut; the skipped not counted."""
        query = (
            f"SELECT count(DISTINCT c.path), count(*) FROM notes n CROSS JOIN chunks c ON c.path = n.path"
            f" WHERE {_HELD_BY_TABLE}"
        )
        with self._database.read() as connection:
            notes, chunks = connection.exec_driver_sql(query, (table,)).one()
        return int(notes), int(chunks)

    def published_counts(self, table: str, among: Iterable[str] | None = None) -> dict[str, int]:
        """Path → number of chunks, of the notes (of some, or of all) that this table holds as they were last cut."""
        query = (
            "SELECT n.path, count(c.path) FROM notes n LEFT JOIN chunks c ON c.path = n.path"
            f" WHERE {_HELD_BY_TABLE}{f' AND n.path {AMONG}' if among is not None else ''} GROUP BY n.path"
        )
        with self._database.read() as connection:
            rows = connection.exec_driver_sql(query, (table, *(json_list(among) if among is not None else ())))
            return {row[0]: row[1] for row in rows}
