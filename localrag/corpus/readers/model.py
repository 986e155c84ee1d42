"""What reading gives besides documents: the failure of one source, and the limits of reading."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadFailure:
    """A file, or one member or line of it, that could not be read; the rest is not affected.

    Attributes:
        source: the file, with ``!member`` or ``:line`` where one file holds many documents.
        cause: what is wrong, one sentence.
        cure: what to do about it; empty where nothing can be advised.
    """

    source: str
    cause: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one source may make the reader hold in memory or unpack.

    Attributes:
        file_bytes: size of a file, or of a zip member after unpacking. Line-oriented files
            (``.jsonl``, also compressed) and zip archives may be larger: they are streamed.
        line_bytes: size of one line of a line-oriented file.
        unpacked_bytes: what one compressed file may unpack to, in all.
        ratio: how many times its packed size a zip member may unpack to; members that unpack
            to less than a megabyte are not held to it.
        members: number of members of a zip archive.
    """

    file_bytes: int = 200_000_000
    line_bytes: int = 50_000_000
    unpacked_bytes: int = 4_000_000_000
    ratio: int = 200
    members: int = 100_000
