"""One walk through the folders of a vault: what is a note, what is left out and why.

Links are never followed into folders: a link inside the vault leads to what is walked anyway, or around in a loop;
a link out of it leaves what the person pointed us at. A linked note is taken once, under its real path if that is
walked too. What is left out is listed with its reason, never dropped silently.
"""

import fnmatch
import os
import re
import stat
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from pathlib import Path

from companion_assets.contracts.records import NoteFile
from companion_assets.contracts.settings_knowledge import IndexingSettings

ROOT_FOLDER = "_root"

# Names that sync tools give to the losing side: Syncthing, Dropbox, Nextcloud and Obsidian Sync, Seafile, ownCloud.
_CONFLICT_COPY = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|\([^()]*\bconflicted copy\b[^()]*\)|\(SFConflict [^()]*\)|_conflict-\d{8}",
    re.IGNORECASE,
)
_BY_PATH = attrgetter("path", "raw_path")
_CLOUD_STUB = re.compile(r"\.(.+)\.icloud")


class LeftOutReason(StrEnum):
    """Why something in the vault is not among the notes."""

    DENIED_FOLDER = "folder on the deny list"
    HIDDEN = "name starts with a dot"
    DENIED_NAME = "name matches a deny pattern"
    CONFLICT_COPY = "conflict copy of a sync tool"
    CLOUD_STUB = "not downloaded from the cloud"
    LINK_OUTSIDE = "link out of the vault"
    LINK_DANGLING = "link that leads nowhere"
    LINK_REPEATED = "link to what is in the vault already"
    NOT_A_FILE = "not a regular file"
    SAME_NAME = "same name as another file once accents are composed"
    BAD_NAME = "name is not valid Unicode"
    UNREADABLE = "cannot be read"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One thing that is not among the notes; `path` is relative to the vault (a cloud stub has its note's path)."""

    path: str
    reason: LeftOutReason


@dataclass(frozen=True, slots=True)
class VaultScan:
    """What is in the vault.

    Attributes:
        files: The notes, sorted by path.
        left_out: What is not among them, sorted by path.
        attachments: Paths of the other visible files, for the resolution of links.
        complete: Whether everything could be seen. If not, a missing note may still exist; see `gone`.
    """

    files: tuple[NoteFile, ...]
    left_out: tuple[LeftOut, ...]
    attachments: tuple[str, ...]
    complete: bool

    def gone(self, known: Iterable[str]) -> set[str]:
        """Of notes known before, those that are surely deleted: not unseen, not waiting in the cloud."""
        gone = set(known)
        if gone:
            gone -= {file.path for file in self.files}
        for left in self.left_out:
            if left.reason is LeftOutReason.CLOUD_STUB:
                gone.discard(left.path)
            elif left.reason is LeftOutReason.UNREADABLE:
                inside = f"{left.path}/" if left.path else ""
                gone = {path for path in gone if path != left.path and not path.startswith(inside)}
        return gone


@dataclass(frozen=True, slots=True)
class VaultRules:
    """Which names in a vault count.

    Attributes:
        is_note: Matches lower-case names of notes.
        is_denied: Matches names of notes to leave out.
        deny_dirs: Names of folders to stay out of.
    """

    is_note: re.Pattern[str]
    is_denied: re.Pattern[str]
    deny_dirs: frozenset[str]

    def folder_reason(self, name: str) -> LeftOutReason | None:
        """Why a folder of this name is left out; None if it is walked."""
        if name in self.deny_dirs:
            return LeftOutReason.DENIED_FOLDER
        return LeftOutReason.HIDDEN if name.startswith(".") else None

    def note_reason(self, name: str) -> LeftOutReason | None:
        """Why a note of this name is left out; None if it is taken."""
        if name.startswith("."):
            return LeftOutReason.HIDDEN
        if _CONFLICT_COPY.search(name):
            return LeftOutReason.CONFLICT_COPY
        return LeftOutReason.DENIED_NAME if self.is_denied.match(name) else None

    def folder_of(self, path: str, *, is_folder: bool = False) -> str | None:
        """The top-level folder whose notes change when this path changes; None if a walk would never see it.

        Args:
            path: Relative to the vault, as it is spelt on disk. The names decide, nothing need be there.
            is_folder: It is (or was) a folder.
        """
        *folders, name = path.split("/")
        if is_folder:
            folders.append(name)
        elif not self.is_note.match(name.lower()) or self.note_reason(name):
            return None
        if any(map(self.folder_reason, folders)) or not _is_unicode(path):
            return None
        return _composed(folders[0]) if folders else ROOT_FOLDER


def vault_rules(*, file_patterns: Iterable[str], deny_dirs: Iterable[str], deny_patterns: Iterable[str]) -> VaultRules:
    """The rules as settings spell them.

    Args:
        file_patterns: Globs on file names that make a file a note, in any case (`*.md`).
        deny_dirs: Names of folders to stay out of, at any depth, case-sensitive.
        deny_patterns: Globs on names of notes to leave out, case-sensitive. Names that start with a dot and conflict
            copies of sync tools are always left out.
    """
    return VaultRules(
        is_note=_name_filter(pattern.lower() for pattern in file_patterns),
        is_denied=_name_filter(deny_patterns),
        deny_dirs=frozenset(deny_dirs),
    )


def rules_of(indexing: IndexingSettings) -> VaultRules:
    """The rules of the settings in force."""
    return vault_rules(
        file_patterns=indexing.file_patterns, deny_dirs=indexing.deny_dirs, deny_patterns=indexing.deny_patterns
    )


def _name_filter(patterns: Iterable[str]) -> re.Pattern[str]:
    """One expression for many globs on file names; without globs it matches nothing."""
    return re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns) or r"(?!)")


@dataclass(slots=True)
class VaultWalk:
    """Collects what `walk` meets; the links come last, since they need to know what else was found.

    Attributes:
        root: The vault's real path.
        rules: Which names count.
    """

    root: Path
    rules: VaultRules
    _files: list[NoteFile] = field(default_factory=list)
    _left_out: list[LeftOut] = field(default_factory=list)
    _attachments: list[str] = field(default_factory=list)
    _links: list[str] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)

    def walk(self) -> VaultScan:
        """Walk the whole vault."""
        folders = [""]
        while folders:
            prefix = folders.pop()
            top, slash, _ = _composed(prefix).partition("/")
            folder = top if slash else ROOT_FOLDER
            try:
                with os.scandir(self.root / prefix) as entries:
                    folders += [path for entry in entries if (path := self._visit(entry, prefix, folder))]
            except OSError:
                self._leave_out(prefix.rstrip("/"), LeftOutReason.UNREADABLE)
        for link in sorted(self._links):
            self._visit_link(link)
        self._files.sort(key=_BY_PATH)
        files: dict[str, NoteFile] = {}
        for file in self._files:
            if files.setdefault(file.path, file) is not file:
                self._leave_out(file.raw_path, LeftOutReason.SAME_NAME)
        return VaultScan(
            files=tuple(files.values()),
            left_out=tuple(sorted(self._left_out, key=lambda left: (left.path, left.reason))),
            attachments=tuple(sorted(self._attachments)),
            complete=all(left.reason is not LeftOutReason.UNREADABLE for left in self._left_out),
        )

    def _visit(self, entry: "os.DirEntry[str]", prefix: str, folder: str) -> str | None:
        """Take in one entry; a folder to walk comes back, with a slash behind it."""
        name, path = entry.name, prefix + entry.name
        if not name.isascii() and not _is_unicode(name):
            self._leave_out(path, LeftOutReason.BAD_NAME)
        elif entry.is_dir(follow_symlinks=False):
            reason = self.rules.folder_reason(name)
            if reason is None:
                return path + "/"
            self._leave_out(path, reason)
        elif self.rules.is_note.match(name.lower()):
            self._visit_note(entry, path, folder)
        elif stub := _CLOUD_STUB.fullmatch(name):
            if self.rules.is_note.match(stub[1].lower()):
                self._leave_out(prefix + stub[1], LeftOutReason.CLOUD_STUB)
        elif entry.is_symlink():
            self._links.append(path)
        elif not name.startswith("."):
            self._attachments.append(_composed(path))
        return None

    def _visit_note(self, entry: "os.DirEntry[str]", path: str, folder: str) -> None:
        if reason := self.rules.note_reason(entry.name):
            self._leave_out(path, reason)
        elif entry.is_symlink():
            self._links.append(path)
        else:
            try:
                self._take(path, folder, entry.stat(follow_symlinks=False))
            except OSError:  # it went away under our eyes: perhaps a save by delete and rename
                self._leave_out(path, LeftOutReason.UNREADABLE)

    def _visit_link(self, path: str) -> None:
        try:
            real = (self.root / path).resolve(strict=True)
            status = real.stat()
        except (OSError, RuntimeError):  # Python before 3.13 reports a loop of links as RuntimeError
            return self._leave_out(path, LeftOutReason.LINK_DANGLING)
        inside = real.is_relative_to(self.root)
        if stat.S_ISDIR(status.st_mode):
            return self._leave_out(path, LeftOutReason.LINK_REPEATED if inside else LeftOutReason.LINK_OUTSIDE)
        if not self.rules.is_note.match(path.rpartition("/")[2].lower()):
            return self._attachments.append(_composed(path))
        if not inside:
            return self._leave_out(path, LeftOutReason.LINK_OUTSIDE)
        target = real.relative_to(self.root).as_posix()
        *folders, name = target.split("/")
        denied = next((reason for folder in folders if (reason := self.rules.folder_reason(folder))), None)
        if reason := denied or self.rules.note_reason(name):
            return self._leave_out(path, reason)
        if target in self._taken:
            return self._leave_out(path, LeftOutReason.LINK_REPEATED)
        top, slash, _ = _composed(path).partition("/")
        return self._take(path, top if slash else ROOT_FOLDER, status)

    def _take(self, path: str, folder: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            return self._leave_out(path, LeftOutReason.NOT_A_FILE)
        self._taken.add(path)
        self._files.append(NoteFile(_composed(path), path, folder, status.st_mtime_ns, status.st_size))
        return None

    def _leave_out(self, path: str, reason: LeftOutReason) -> None:
        self._left_out.append(LeftOut(_composed(path).encode("utf-8", "replace").decode(), reason))


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # the file system held bytes that are not UTF-8
        return False
    return True


def _composed(path: str) -> str:
    return path if path.isascii() else unicodedata.normalize("NFC", path)
