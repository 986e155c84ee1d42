"""The list of parts of a bundle with their licences, as CycloneDX."""

import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cyclonedx.model.component import Component

Kind = Literal["package", "model", "corpus", "documents", "python"]
_LONGEST = 200
_LICENSED = "License :: "


@dataclass(frozen=True, slots=True)
class BundlePart:
    """A file of a bundle from another maker.

    `path` is in the bundle. `version` may be "". `licence` is in the maker's words, "" if not
    stated.
    """

    path: str
    kind: Kind
    name: str
    version: str
    licence: str
    sha256: str = ""


def of_wheel(wheel: Path, path: str) -> BundlePart:
    """A part from the metadata of a wheel; raises ValueError if the wheel has no metadata."""
    with zipfile.ZipFile(wheel) as packed:
        inside = zipfile.Path(packed)
        told = next((one for one in inside.iterdir() if one.name.endswith(".dist-info")), None)
        if told is None:
            raise ValueError(f"{wheel.name} has no metadata")
        metadata = PathDistribution(told).metadata

        def said(field: str) -> list[str]:
            return [str(value).strip() for value in metadata.get_all(field) or ()]

        approved = [line for line in said("Classifier") if line.startswith(_LICENSED)]
        classified = ", ".join(line.rpartition(" :: ")[2] for line in approved)
        # Some have the whole text there; its first line names the licence.
        written = "".join(said("License")).split("\n")[0]
        licence = "".join(said("License-Expression")) or classified or written
        return BundlePart(
            path, "package", metadata["Name"], metadata["Version"], licence[:_LONGEST]
        )


def as_cyclonedx(version: str, parts: Iterable[BundlePart]) -> str:
    """The list of parts, of this version of localrag, as JSON of CycloneDX 1.6."""
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.output.json import JsonV1Dot6

    bom = Bom()
    bom.metadata.component = Component(
        name="localrag", version=version, type=ComponentType.APPLICATION, bom_ref="localrag"
    )
    bom.components.update(map(_component, parts))
    bom.register_dependency(bom.metadata.component, bom.components)
    return JsonV1Dot6(bom).output_as_string(indent=1)


def _component(part: BundlePart) -> "Component":
    from cyclonedx.contrib.license.factories import LicenseFactory
    from cyclonedx.model import HashAlgorithm, HashType
    from cyclonedx.model.component import Component, ComponentType
    from packageurl import PackageURL

    types = {
        "package": ComponentType.LIBRARY,
        "model": ComponentType.MACHINE_LEARNING_MODEL,
        "corpus": ComponentType.DATA,
        "documents": ComponentType.DATA,
        "python": ComponentType.PLATFORM,
    }
    package = part.kind == "package"
    return Component(
        name=part.name,
        version=part.version or None,
        type=types[part.kind],
        bom_ref=part.path,
        licenses=[LicenseFactory().make_from_string(part.licence)] if part.licence else (),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=part.sha256)],
        purl=PackageURL("pypi", name=part.name, version=part.version) if package else None,
    )
