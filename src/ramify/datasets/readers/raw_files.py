"""Files as bytes: plain or compressed, with limits against bombs, and the one error that every reader raises."""

from __future__ import annotations

import bz2
import difflib
import gzip
import hashlib
import itertools
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

PathLike = str | os.PathLike[str]

_PIECE = 1 << 20
_SAFE_SIZE = 64 << 20
_LARGEST_RATIO = 100
_XZ_MEMORY = 256 << 20
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError, NotImplementedError)


class FileError(ValueError):
    """What is wrong in a file, where, and what to do about it.

    Parameters
    ----------
    path : path-like
        The file.
    fault : str
        What is wrong, as a clause without full stop.
    line, column : int, optional
        Where, counted from 1; a column counts characters.
    advice : str, optional
        What to do next, as a sentence.

    Examples
    --------
    >>> from ramify.datasets import FileError
    >>> print(FileError("a.arff", "'x' is not a number", line=3, column=7, advice="Write ? for a missing value."))
    a.arff, line 3, column 7: 'x' is not a number. Write ? for a missing value.
    """

    def __init__(
        self, path: PathLike, fault: str, *, line: int | None = None, column: int | None = None, advice: str = ""
    ) -> None:
        self.path = os.fspath(path)
        self.fault = fault
        self.line = line
        self.column = column
        self.advice = advice
        place = self.path + (f", line {line}" if line is not None else "")
        place += f", column {column}" if column is not None else ""
        super().__init__(f"{place}: {fault}." + (f" {advice}" if advice else ""))

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process borders whole."""
        return (_rebuilt, (self.path, self.fault, self.line, self.column, self.advice))


def _rebuilt(path: str, fault: str, line: int | None, column: int | None, advice: str) -> FileError:
    return FileError(path, fault, line=line, column=column, advice=advice)


def shown(text: str | bytes, width: int = 60) -> str:
    """A piece of a file as it may stand in a message: quoted, printable and short."""
    if isinstance(text, bytes):
        text = text[: 4 * width].decode("utf-8", errors="replace")
    return repr(text if len(text) <= width else text[: width - 3] + "...")


def file_paths(files: PathLike | Sequence[PathLike]) -> list[Path]:
    """The argument `files` of a reader as a list of paths that exist."""
    if not isinstance(files, (str, os.PathLike, Iterable)):
        raise TypeError(f"A file must be named by a str or a path. Got {files!r} instead.")
    given = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    if not given:
        raise ValueError("No file was given. Name at least one file to read.")
    paths = []
    for entry in given:
        if not isinstance(entry, (str, os.PathLike)):
            raise TypeError(f"A file must be named by a str or a path. Got {type(entry).__name__} instead.")
        if not os.fspath(entry):
            raise ValueError("The name of a file is empty. Name a file to read.")
        path = Path(entry)
        if path.is_dir():
            raise FileError(path, "this is a folder", advice="Name the files in it.")
        if path.is_symlink() and not path.exists():
            raise FileError(path, "this link leads to no file", advice="Mend the link, or name the file itself.")
        if not path.exists():
            raise FileNotFoundError(f"{path}: there is no such file. {_advice_for_missing(path)}")
        if not path.is_file():
            raise FileError(path, "this is no regular file", advice="Save the data to a file first.")
        paths.append(path)
    return paths


def _advice_for_missing(path: Path) -> str:
    """The nearest name in the folder, if one is near."""
    try:
        names = [entry.name for entry in itertools.islice(path.parent.iterdir(), 10_000)]
        near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.75)
    except OSError:
        near = []
    return f"Did you mean {shown(near[0])}?" if near else "Check the spelling and the folder."


def advice_for_name(name: str, known: Sequence[str]) -> str:
    """The next step after a name that a file does not have: the nearest one, or the first it has."""
    candidates = [*known[:2000], *known[2000:][-2000:]]
    near = [other for other in candidates if other.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, candidates, n=1, cutoff=0.75)
    if near:
        return f"Did you mean {shown(near[0])}?"
    if not known:
        return "It has none."
    first = ", ".join(shown(other) for other in known[:8])
    return f"It has {first}{f' and {len(known) - 8} more' if len(known) > 8 else ''}."


def sha256_of(paths: Sequence[PathLike]) -> str:
    """Hash of the files' bytes as they are on disk, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with Path(path).open("rb") as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
    return digest.hexdigest()


def plain_name(path: PathLike) -> str:
    """Name of a file without the suffix of its compression."""
    name = Path(path).name
    stem, _, suffix = name.rpartition(".")
    return stem if stem and suffix.lower() in {"gz", "bz2", "xz", "zip"} else name


def zipped_name(path: PathLike) -> str:
    """Name of the one file in an archive whose own name does not say what it holds."""
    with Path(path).open("rb") as raw:
        if not zipfile.is_zipfile(raw):
            return Path(path).name
        next(_from_zip(path, raw), None)  # refuses several files
        with zipfile.ZipFile(raw) as archive:
            return next(m.filename for m in _members(archive))


def read_pieces(path: PathLike, size: int = _PIECE) -> Iterator[bytes]:
    """The content of a file in pieces of a size (-1: a plain file whole), decompressed if its first bytes say so.

    A compressed file that unpacks to more than 64 MiB and to more than 100 times its own size is refused.
    """
    with Path(path).open("rb") as raw:
        start = raw.read(6)
        raw.seek(0)
        n_bytes = os.fstat(raw.fileno()).st_size
        if start[:2] == b"\x1f\x8b":
            yield from _limited(path, _from_stream(gzip.GzipFile(fileobj=raw)), n_bytes)
        elif start[:3] == b"BZh":
            yield from _limited(path, _from_decompressor(raw, bz2.BZ2Decompressor), n_bytes)
        elif start == b"\xfd7zXZ\x00":
            yield from _limited(path, _from_decompressor(raw, _xz_decompressor), n_bytes)
        elif start[:4] in {b"PK\x03\x04", b"PK\x05\x06"}:
            yield from _limited(path, _from_zip(path, raw), n_bytes)
        else:
            step = n_bytes if size == -1 and n_bytes else size  # a number of bytes is read without a copy
            while piece := raw.read(step):
                yield piece


def read_bytes(path: PathLike) -> bytes:
    """The whole content of a file, decompressed."""
    return b"".join(read_pieces(path, size=-1))  # one piece is not copied


def read_text(path: PathLike, encoding: str = "utf-8") -> str:
    """The whole content of a file as text; a byte that is not of the encoding is an error with its place."""
    return decoded(path, without_bom(path, read_bytes(path)), encoding)


def without_bom(path: PathLike, content: bytes) -> bytes:
    """Drop the byte-order mark of UTF-8; refuse those of UTF-16 and UTF-32, and pictures."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        raise FileError(path, "this is UTF-16 or UTF-32 text", line=1, advice="Convert the file to UTF-8.")
    if content.startswith((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF-1")):
        raise FileError(path, "this is a picture or a PDF file", advice="Name the file that holds the data.")
    return content.removeprefix(b"\xef\xbb\xbf")


def decoded(path: PathLike, content: bytes, encoding: str, *, first_line: int = 1) -> str:
    """Decode bytes that begin with line `first_line`; the place of a bad byte is told."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line_start = before.rfind(b"\n") + 1
        raise FileError(
            path,
            f"byte 0x{content[error.start]:02x} is not valid {encoding}",
            line=first_line + before.count(b"\n"),
            column=len(before[line_start:].decode(encoding, errors="replace")) + 1,
            advice="Convert the file to UTF-8 or name its encoding, e.g. encoding='latin-1'.",
        ) from None


def column_of_cell(path: PathLike, line: int, cell: int, separator: str, encoding: str, quotes: str = "\"'") -> int:
    """Column, from 1, where a cell of a line begins; the end of the line if it has fewer cells. For messages only."""
    text = _line_text(path, line).decode(encoding, errors="replace").rstrip("\r\n")
    open_quote = ""
    n_before = 0
    position = 0
    while position < len(text) and n_before < cell:
        character = text[position]
        if open_quote:
            open_quote = "" if character == open_quote else open_quote
        elif character in quotes:
            open_quote = character
        elif character == separator:
            n_before += 1
        position += 1
    while position < len(text) and text[position] in " \t" and text[position] != separator:
        position += 1
    return position + 1


def _line_text(path: PathLike, line: int) -> bytes:
    """One line of a file, found by reading it again."""
    number = 1
    found: list[bytes] = []
    for piece in read_pieces(path):
        start = 0
        while number < line:
            end = piece.find(b"\n", start)
            if end < 0:
                break
            number += 1
            start = end + 1
        if number == line:
            end = piece.find(b"\n", start)
            found.append(piece[start:] if end < 0 else piece[start:end])
            if end >= 0:
                break
    return b"".join(found)


def check_encoding(encoding: str) -> None:
    """Refuse encodings that do not extend ASCII, since lines and separators are found as bytes."""
    try:
        is_ascii = ",{}%@'\"\n".encode(encoding) == b",{}%@'\"\n"
    except (LookupError, UnicodeError, TypeError):
        is_ascii = False
    if not is_ascii:
        raise ValueError(
            f"The 'encoding' parameter must name an encoding that extends ASCII. Got {encoding!r} instead."
        )


def _limited(path: PathLike, pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    unpacked = 0
    try:
        for piece in pieces:
            unpacked += len(piece)
            if unpacked > _SAFE_SIZE and unpacked > _LARGEST_RATIO * size:
                raise FileError(
                    path,
                    f"{size} compressed bytes unpack to over {unpacked >> 20} MiB, which looks like a bomb",
                    advice="If you trust the file, unpack it yourself and read the result.",
                )
            yield piece
    except _DAMAGE as error:
        raise FileError(
            path, f"the compressed file is damaged ({shown(str(error))})", advice="Fetch or compress it again."
        ) from error


def _from_stream(stream: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    while piece := stream.read(_PIECE):
        yield piece


def _from_decompressor(
    raw: BinaryIO, make: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]
) -> Iterator[bytes]:
    decompressor = make()
    pending = b""
    while True:
        if not pending and decompressor.needs_input:
            pending = raw.read(_PIECE)
            if not pending:
                raise EOFError("it ends too early")
        piece = decompressor.decompress(pending, _PIECE)
        pending = b""
        if piece:
            yield piece
        if decompressor.eof:
            pending = decompressor.unused_data or raw.read(_PIECE)
            if not pending.strip(b"\x00"):
                return
            decompressor = make()


def _xz_decompressor() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=_XZ_MEMORY)


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX/")]


def _from_zip(path: PathLike, raw: BinaryIO) -> Iterator[bytes]:
    with zipfile.ZipFile(raw) as archive:
        members = _members(archive)
        if any(m.filename == "[Content_Types].xml" for m in members):
            raise FileError(path, "this is an Excel file", advice="Let its name end with .xlsx.")
        if len(members) != 1:
            names = ", ".join(shown(m.filename) for m in members[:5])
            raise FileError(
                path,
                f"the archive holds {len(members)} files ({names})" if members else "the archive is empty",
                advice="Put exactly one data file into it, or unpack it and name the file to read.",
            )
        with archive.open(members[0]) as member:
            while piece := member.read(_PIECE):
                yield piece
