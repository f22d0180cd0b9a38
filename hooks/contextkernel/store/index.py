"""One SQLite file a repository: what each source file defines, imports and says.

The index keeps *segments* of postings, as search engines do: files scanned together share one, a
changed file gets a new number and stands in a new small segment, the old number is dead.  So an
update costs what changed, a build can stop and go on, and nothing is ever rewritten in place.
Small segments have a table of their own: the terms of one file touch nearly every page of the
large one.  An index is never wrong, only older: a reader compares it with the files on disk.

A file counts as unchanged while its size, times and inode are (`Signature`).  Within the tick of
a file system's clock a change can leave them as they were: a file that changed less than
SURE_AFTER_NS before it was listed is compared by its content once more.  The limit: a file system
that gives no time of change (ctime) and a tool that puts the old size and mtime back.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Callable, NamedTuple

from contextkernel.store import files as store_files
from contextkernel.store.index_file import DAMAGE, file_of, is_damage
from contextkernel.store.index_reader import (
    MOST_NUMBERS,
    POSTING_BITS,
    File,
    IndexReader,
    as_stored,
    from_stored,
)

__all__ = ["DAMAGE", "File", "Index", "Signature", "file_of", "is_damage"]

SEGMENT_BYTES = 48 << 20  # of source; a build commits after as many
MOST_RECENT = 12  # small segments; more are merged into one
LARGE_BYTES = 4 << 20  # of source: a segment of as much is no small one
# bytes of a file; more than what is scanned, so that a larger file is known as one
MOST_READ = 1 << 20
SURE_AFTER_NS = 2_000_000_000  # the coarsest clock of a file system in use (FAT) ticks so
DIGEST_BYTES = 16

Signature = tuple[int, int, int, int]  # size in bytes, mtime_ns, ctime_ns, inode


class _Scanned(NamedTuple):
    """A file as it was read: `facts` are those of slicing.scan.scan_file.Scan."""

    path: str
    signature: Signature
    digest: bytes
    facts: Any


class Index(IndexReader):
    """An open index.  Raises OSError when it cannot be opened; a damaged file or one of another
    version is begun anew.
    """

    def stale(
        self, root: str, files: dict[str, Signature], now_ns: int = 0
    ) -> tuple[list[str], list[str]]:
        """(paths to scan, paths to drop) against the files on disk, as listed just now.

        Files whose signature cannot tell are read; where they are as they were, that is noted.
        """
        now_ns = now_ns or time.time_ns()
        known: dict[str, tuple[Signature, int]] = {
            from_stored(path): ((size, mtime, ctime, inode), seen)
            for path, size, mtime, ctime, inode, seen in self.base.execute(
                "SELECT path, size, mtime_ns, ctime_ns, inode, seen_ns FROM file"
            )
        }
        changed, unsure = [], []
        for path, signature in files.items():
            row = known.get(path)
            if row is None or row[0] != signature:
                changed.append(path)
            elif max(signature[1], signature[2]) > row[1] - SURE_AFTER_NS:
                unsure.append(path)
        if unsure:
            other = self._other_content(root, unsure, now_ns).union(changed)
            changed = [path for path in files if path in other]
        return changed, [path for path in known if path not in files]

    def _other_content(self, root: str, paths: Iterable[str], now_ns: int) -> set[str]:
        """Those of some files whose content is not what was scanned; the others are sure from
        now on.
        """
        digests = dict(self.base.execute("SELECT path, digest FROM file"))
        other, same = set(), []
        for path in paths:
            try:
                digest = _digest(_bytes_of(os.path.join(root, path)))
            except OSError:
                other.add(path)
                continue
            if digests.get(as_stored(path)) == digest:
                same.append((now_ns, as_stored(path)))
            else:
                other.add(path)
        self._writing(lambda: self.base.executemany("UPDATE file SET seen_ns=? WHERE path=?", same))
        return other

    def refresh(
        self,
        root: str,
        files: dict[str, Signature],
        scan: Callable[[str, bytes], Any],
        segment_bytes: int = SEGMENT_BYTES,
        deadline: float = float("inf"),
    ) -> int:
        """Scan what changed, drop what went; gives back how many files changed.

        `scan(path, data)` gives the facts of a file (slicing.scan.scan_file.Scan).  Commits after
        every `segment_bytes` of source, so what is done stays done when the process ends; the next
        refresh goes on.  So it does after `deadline` (of time.monotonic), where this one stops.
        """
        changed, gone = self.stale(root, files)
        self.bring_up(root, files, changed, gone, scan, segment_bytes, deadline)
        return len(changed)

    def bring_up(
        self,
        root: str,
        files: dict[str, Signature],
        changed: list[str],
        gone: list[str],
        scan: Callable[[str, bytes], Any],
        segment_bytes: int = SEGMENT_BYTES,
        deadline: float = float("inf"),
    ) -> list[tuple[str, str]]:
        """`refresh`, with what `stale` has said; gives back what could not be read, as `add`."""
        unread: list[tuple[str, str]] = []
        self._writing(lambda: self.base.execute("DELETE FROM answer"))
        if gone:
            self._writing(lambda: self._forget(gone))
        for batch in _batches(changed, files, segment_bytes):
            if time.monotonic() < deadline:
                unread += self.add(root, {path: files[path] for path in batch}, scan, deadline)
        if int(self.meta("recent") or 0) > MOST_RECENT:
            self._writing(self._merge)
        return unread

    def add(
        self,
        root: str,
        files: dict[str, Signature],
        scan: Callable[[str, bytes], Any],
        deadline: float = float("inf"),
    ) -> list[tuple[str, str]]:
        """Scan some files into a segment of their own, as many as the time allows; gives back
        (path, reason) of those that could not be read.

        These are not kept: the next refresh tries them again.
        """
        scans: list[_Scanned] = []
        unread: list[tuple[str, str]] = []
        listed_ns = time.time_ns()
        for path, signature in files.items():
            if time.monotonic() > deadline:
                break
            try:
                data = _bytes_of(os.path.join(root, path))
                scans.append(_Scanned(path, signature, _digest(data), scan(path, data)))
            except store_files.NotRegularError:
                unread.append((path, "no regular file"))
            except OSError as error:
                unread.append((path, error.strerror or "not readable"))
        if scans or self.base.execute("SELECT 1 FROM file LIMIT 1").fetchone():
            self._writing(lambda: self._add_segment(scans, [path for path, _ in unread], listed_ns))
        return unread

    def _forget(self, paths: Iterable[str]) -> None:
        for path in map(as_stored, paths):
            self.base.execute(
                "DELETE FROM fact WHERE number=(SELECT number FROM file WHERE path=?)", (path,)
            )
            self.base.execute("DELETE FROM file WHERE path=?", (path,))

    def _add_segment(
        self, scans: Sequence[_Scanned], unread: Sequence[str], listed_ns: int
    ) -> None:
        if self.base.execute("SELECT 1 FROM file LIMIT 1").fetchone():
            self._forget([one.path for one in scans] + list(unread))
        if not scans:
            return
        number, segment = int(self.meta("last") or 0), int(self.meta("segments") or 0) + 1
        if number + len(scans) >= MOST_NUMBERS:
            self._begin(self.meta("version"))  # numbers are used up: the next refresh scans all
            return
        rows, facts = [], []
        postings: dict[str, list[int]] = defaultdict(list)
        for path, signature, digest, found in scans:
            number += 1
            said = (found.language, found.length, found.note, found.unresolved)
            rows.append((number, as_stored(path), *signature, digest, listed_ns, *said))
            if found.note:
                continue
            facts.append(
                (number, json.dumps([found.imports, found.definitions], separators=(",", ":")))
            )
            high = number << POSTING_BITS
            for term, bits in found.terms.items():
                postings[term].append(high | bits)
        self.base.executemany("INSERT INTO file VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", rows)
        self.base.executemany("INSERT INTO fact VALUES(?,?)", facts)
        large = sum(one.signature[0] for one in scans) >= LARGE_BYTES
        self._write_postings("posting" if large else "recent", segment, postings)
        self._put("last", str(number))
        self._put("segments", str(segment))
        if not large:
            self._put("recent", str(int(self.meta("recent") or 0) + 1))

    def _write_postings(self, table: str, segment: int, postings: dict[str, list[int]]) -> None:
        self.base.executemany(
            f"INSERT INTO {table} VALUES(?,?,?)",
            ((term, segment, array("I", postings[term]).tobytes()) for term in sorted(postings)),
        )

    def _merge(self) -> None:
        """The small segments as one, postings of dead numbers left out; all segments when a fifth
        of the numbers in use are dead.

        A merge of all costs as much as half a build: after every dozenth edit that would be felt.
        """
        live = {number for (number,) in self.base.execute("SELECT number FROM file")}
        missing = int(self.meta("last")) - len(live)
        whole = (missing - int(self.meta("left out") or 0)) * 4 > len(live)
        merged: dict[str, list[int]] = {}
        for table in ("posting", "recent") if whole else ("recent",):
            for term, value in self.base.execute(
                f"SELECT term, value FROM {table} ORDER BY term, segment"
            ):
                kept = [entry for entry in array("I", value) if entry >> POSTING_BITS in live]
                if kept:
                    merged.setdefault(term, []).extend(kept)
            self.base.execute("DELETE FROM " + table)
        segment = int(self.meta("segments")) + 1
        self._write_postings("posting" if whole else "recent", segment, merged)
        self._put("segments", str(segment))
        self._put("recent", "0" if whole else "1")
        if whole:
            self._put("left out", str(missing))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


def _batches(paths: list[str], files: dict[str, Signature], most: int) -> Iterable[list[str]]:
    """The paths in runs of about `most` bytes of source."""
    batch: list[str] = []
    size = 0
    for path in paths:
        batch.append(path)
        size += files[path][0]
        if size >= most:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _bytes_of(path: str) -> bytes:
    """The first MOST_READ bytes of a file; none when it is gone (the next refresh sees that).
    Raises OSError.
    """
    try:
        with store_files.opened(path, follow=False) as handle:
            return handle.read(MOST_READ)
    except (FileNotFoundError, NotADirectoryError):
        return b""
