"""The prompts: one Jinja file each, Japanese and English side by side.

A file has one macro for each role and language: ``system_ja``, ``user_ja``, ``system_en``,
``user_en``. Values are data, never part of a template.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from localrag.corpus.durable import make_folder, replace_text
from localrag.errors import NotFoundError, StorageError, UsageError, WorkspaceError
from localrag.language import N_
from localrag_models.chat import Message, Role

if TYPE_CHECKING:
    from jinja2 import Environment


Language = Literal["ja", "en"]

_JAPANESE = re.compile("[\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9d]")


def language_of(text: str) -> Language:
    """The language of an answer to a text: Japanese if it has a Japanese letter."""
    return "ja" if _JAPANESE.search(text) else "en"


def prompt(name: str, language: Language, **values: Any) -> tuple[Message, ...]:
    """Render ``<name>.jinja``: its system message, then its user message.

    Raises:
        jinja2.UndefinedError: a value is missing.
    """
    template = _environment().get_template(f"{name}.jinja").make_module(values)
    roles: tuple[Role, ...] = ("system", "user")
    return tuple(
        Message(role, str(getattr(template, f"{role}_{language}")()).strip()) for role in roles
    )


def template(name: str) -> str:
    """The text of ``<name>.jinja``. Another text may mean other replies."""
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), f"{name}.jinja")[0]


@cache
def _environment() -> "Environment":
    # Imported only here, because work without a model needs no prompt.
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # A prompt is plain text without markup to escape.
    return ImmutableSandboxedEnvironment(
        loader=PackageLoader("localrag.answer", "prompts"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


_NAME = re.compile(r"\w[\w-]{0,63}")
_SUFFIX = ".toml"


@dataclass(frozen=True, slots=True)
class OptimisedPrompt:
    """An instruction that replaces a built-in one.

    Attributes:
        name: chosen by the user.
        text: the instruction.
        provenance: JSON values by name (seed, data, score, models, budget …). ``digest`` is the
            digest
            of the optimised text, ``is_seed`` says whether that is the built-in one.
    """

    name: str
    text: str
    provenance: Mapping[str, str | int | float | bool] = field(default_factory=dict)

    @property
    def seen(self) -> frozenset[str]:
        """Marks of the questions used for it (see `localrag.methods.catalogue.mark`)."""
        return frozenset(str(self.provenance.get("seen", "")).split())

    @property
    def digest(self) -> str:
        """The digest of the text."""
        return sha256(self.text.encode()).hexdigest()[:16]

    @property
    def is_made(self) -> bool:
        """Whether the text is as it was optimised."""
        return self.provenance.get("digest") == self.digest

    @property
    def is_edited(self) -> bool:
        """Whether the text was changed later, so that its scores no longer apply."""
        return "digest" in self.provenance and not self.is_made

    @property
    def is_seed(self) -> bool:
        """Whether it is the built-in instruction, because optimisation found none better."""
        return self.provenance.get("is_seed") is True and not self.is_edited

    @classmethod
    def load(cls, folder: Path, name: str) -> Self:
        """Read the prompt of this name from a folder of prompts.

        Raises:
            NotFoundError: the folder has no such prompt; names the others.
            UsageError: the name cannot be a file name.
            WorkspaceError: the file is damaged.
        """
        path = optimised_path(folder, name)
        try:
            value = tomllib.loads(path.read_text(encoding="utf-8"))
            text, provenance = value["text"], value["provenance"]
            if not isinstance(text, str) or not text.strip() or not isinstance(provenance, dict):
                raise TypeError
        except FileNotFoundError as error:
            known = ", ".join(optimised_names(folder))
            raise NotFoundError(
                N_("There is no optimised prompt {name!r}."),
                N_("There is: {known}.") if known else N_("Make one: localrag optimize"),
                name=name,
                known=known,
            ) from error
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise WorkspaceError(
                N_("The optimised prompt {path} cannot be read."),
                N_("Restore it from a copy, or delete it and optimise again."),
                path=path,
            ) from error
        return cls(name, text, provenance)

    def save(self, folder: Path) -> Path:
        """Write it into a folder of prompts, over an earlier one of its name.

        Raises:
            UsageError: the name cannot be a file name.
            StorageError: it cannot be written; an earlier one stays.
        """
        import tomli_w

        path = optimised_path(folder, self.name)
        written = {"text": self.text, "provenance": dict(self.provenance)}
        try:
            make_folder(folder)
            # Only a string on one line keeps "\r" in TOML.
            legible = "\r" not in self.text
            replace_text(path, tomli_w.dumps(written, multiline_strings=legible))
        except OSError as error:
            raise StorageError(
                N_("{path} cannot be written ({reason})."),
                N_("Free space on the disk, or mend the permissions of the folder."),
                path=path,
                reason=error,
            ) from error
        return path


def optimised_path(folder: Path, name: str) -> Path:
    """The file of a prompt, which need not exist.

    Raises:
        UsageError: the name cannot be a file name on every system.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            N_("{name!r} cannot be the name of a prompt."),
            N_("Use up to 64 letters, digits, '_' and '-', beginning with a letter or digit."),
            name=name,
        )
    return folder / f"{name}{_SUFFIX}"


def optimised_names(folder: Path) -> list[str]:
    """The names of the prompts in a folder, sorted."""
    return sorted(path.stem for path in folder.glob(f"*{_SUFFIX}"))
