"""Declarations of datasets: TOML files of localrag and of users."""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from localrag.errors import InputError
from localrag.evaluation.datasets.keeping import PASSING, RESERVED
from localrag.evaluation.datasets.readers import READERS
from localrag.evaluation.measures import MEASURES
from localrag.evaluation.types import CONTAINS, Dataset
from localrag.language import N_, _

_FOLDER = Path(__file__).with_name("declared")
_LARGEST = 1_000_000
_SHOWN = 10


def _inside(path: str) -> str:
    plain = PurePosixPath(path)
    if not plain.parts or plain.is_absolute() or ".." in plain.parts or set("\\:\0") & set(path):
        raise ValueError("is no path inside the folder of the data")
    return str(plain)


def _unreserved(path: str) -> str:
    # Some file systems ignore case.
    plain = path.casefold()
    if PurePosixPath(plain).parts[0] in RESERVED or plain.endswith(PASSING):
        raise ValueError(
            f"is a name that localrag uses itself ({', '.join((*RESERVED, *PASSING))})"
        )
    return path


_Sentence = Annotated[str, Field(min_length=1, max_length=1_000)]
_InnerPath = Annotated[str, AfterValidator(_inside)]
_OwnPath = Annotated[_InnerPath, AfterValidator(_unreserved)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Split(_Table):
    name: str = Field(pattern=r"^[\w-]{1,64}$")
    file: _OwnPath
    sha256: str = Field("", pattern=r"^([0-9a-f]{64})?$")
    url: str = Field("", pattern=r"^(https?://\S+)?$")


class _Published(_Table):
    score: float = Field(ge=0, le=1)
    n: int = Field(0, ge=0)
    conditions: str
    source: str


class _Declaration(_Table):
    title: str
    source: str
    licence: str
    reader: str
    splits: Sequence[_Split] = Field(min_length=1)
    corpus: Sequence[_OwnPath] = ()
    excerpts: Sequence[_InnerPath] = ()
    hints: Mapping[str, str] = {}
    caveats: Sequence[_Sentence] = ()
    measure: str = CONTAINS
    synonyms: Sequence[_OwnPath] = ()
    published: Mapping[str, Sequence[_Published]] = {}


_DATASET = TypeAdapter(Dataset)


@functools.cache
def declared() -> Mapping[str, Dataset]:
    """Datasets that come with localrag, by name."""
    return {path.stem: read_declaration(path) for path in sorted(_FOLDER.glob("*.toml"))}


def read_declaration(path: Path, name: str = "") -> Dataset:
    """Read the declaration of a dataset, by default named like the file; reports every fault."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST)
        table = tomllib.loads(content.decode())
        read = _Declaration.model_validate(table)
    except OSError as error:
        raise InputError(
            N_("{path} cannot be read ({problem})."),
            N_("Check the path and its permissions."),
            path=path,
            problem=error,
        ) from error
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
        raise _invalid(path, faults) from error
    except (ValueError, RecursionError) as error:
        raise _invalid(path, [str(error) or "it is nested too deeply"]) from error
    if faults := _contradictions(read):
        raise _invalid(path, faults)
    return _DATASET.validate_python({"name": name or path.stem, **read.model_dump()})


def _contradictions(read: _Declaration) -> list[str]:
    faults = []
    if read.reader not in READERS:
        faults.append(f"reader: there is {', '.join(READERS)}, and no {read.reader!r}")
    if read.measure not in MEASURES:
        faults.append(f"measure: there is {', '.join(MEASURES)}, and no {read.measure!r}")
    for what, values in (
        ("splits: the name", [split.name for split in read.splits]),
        ("splits: the file", [split.file for split in read.splits]),
        # Files are kept under this name.
        ("excerpts: the name", [PurePosixPath(path).stem for path in read.excerpts]),
    ):
        faults += [
            f"{what} {value!r} stands twice"
            for value in sorted(set(values))
            if values.count(value) > 1
        ]
    return faults


def _invalid(path: Path, faults: Sequence[str]) -> InputError:
    left = len(faults) - _SHOWN
    more = _("; and {n:,} more").format(n=left) if left > 0 else ""
    return InputError(
        N_("{path} declares no dataset: {faults}{more}."),
        N_(
            "Compare it with a declaration that comes with localrag: localrag "
            "data show lawqa --json"
        ),
        path=path,
        faults="; ".join(faults[:_SHOWN]),
        more=more,
    )
