"""Settings: one typed tree, filled from defaults, localrag.toml, environment and flags.

`localrag.corpus.workspace` collects the values and decides which one is used.
"""

import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    field_validator,
)

from localrag.corpus.durable import Readers
from localrag.corpus.workspace import FLAG, HasSettings, collect
from localrag.errors import ConfigError, LocalragError, UsageError
from localrag.language import N_, _
from localrag_models.thinking import Effort, Thinking

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Switch = Literal["auto", "on", "off"]
"""Whether a step runs; auto: if it can."""

Provisions = Literal["openings", "whole"]
"""What is embedded of the provisions of statutes."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WorkspaceConfig(_Section):
    """The workspace folder."""

    readers: Readers = Field(
        "owner",
        description="who may read corpora, indexes and models besides: group, everyone; of "
        "conversations and runs their owner alone",
    )


class JournalConfig(_Section):
    """The journal of questions."""

    questions: bool = Field(
        False, description="record every question and its asker in asked.jsonl of the workspace"
    )


class IngestConfig(_Section):
    """Reading files and indexing."""

    workers: int = Field(0, ge=0, le=256, description="processes; 0: one for each processor")
    max_file_mb: int = Field(200, ge=1, description="larger files are refused, in megabytes")
    ocr: Literal["auto", "off"] = Field(
        "auto", description="read pages that are images; auto: where localrag[ocr] is installed"
    )

    @property
    def processes(self) -> int:
        """The number of processes to use, at least 1."""
        return self.workers or os.cpu_count() or 1


class LawsConfig(_Section):
    """Where the laws come from (localrag laws)."""

    archive: str = Field(
        "https://laws.e-gov.go.jp/bulkdownload", description="address of e-Gov's archives"
    )
    api: str = Field(
        "https://laws.e-gov.go.jp/api/2", description="address of e-Gov's API, version 2"
    )
    proxy: str = Field(
        "", description="proxy to e-Gov (http://proxy:8080); empty: as HTTPS_PROXY says"
    )
    certificates: str = Field(
        "", description="file of certificates (PEM) to trust besides the system's"
    )
    pause: float = Field(1.0, ge=0, le=60, description="seconds between two requests")
    timeout: float = Field(60.0, gt=0, description="seconds without a sign of life of e-Gov")
    tries: int = Field(5, ge=1, le=100, description="failures in a row before it gives up")


class RetrievalConfig(_Section):
    """Finding passages."""

    k: int = Field(10, ge=1, le=1000, description="passages given back for a question")
    lexical: bool = Field(True, description="search by words (BM25)")
    dense: Switch = Field("auto", description="search by meaning; auto: if there are vectors")
    rerank: Switch = Field("auto", description="rerank the best; auto: if reranking.model is set")
    lexical_weight: float = Field(1.0, ge=0, description="weight of the words when fused")
    dense_weight: float = Field(
        1.0,
        ge=0,
        description="weight of the meaning when fused; 0.4 of it for provisions",
    )
    fusion: Literal["scores", "ranks"] = Field(
        "scores", description="method of fusing words and meaning"
    )
    fusion_k: int = Field(60, ge=1, description="k of reciprocal rank fusion, for fusion = ranks")
    follow_titles: bool = Field(
        True, description="add documents with titles found in the text of the best hits"
    )
    rerank_depth: int = Field(30, ge=1, le=1000, description="hits a reranker reads")
    as_of: str = Field("", description="day (ISO) whose law is searched and shown; empty: today")
    where: str = Field(
        "", description="only such documents: kind=府省令; ministry=総務省; see `localrag overview`"
    )

    @field_validator("as_of")
    @classmethod
    def _is_a_day(cls, value: str) -> str:
        return date.fromisoformat(value).isoformat() if value else ""

    @property
    def day(self) -> date | None:
        """The day of `as_of`; None for today."""
        return date.fromisoformat(self.as_of) if self.as_of else None


class ChatConfig(_Section):
    """The model that writes answers."""

    model: str = Field("", description="installed model, ollama:NAME or openai:NAME; empty: none")
    server: str = Field(
        "", description="address of the model server; several that have the model: a list of them"
    )
    context: int = Field(
        0, ge=0, description="tokens of prompt and reply; 0: the model's own number"
    )
    max_tokens: int = Field(1024, ge=1, description="tokens of a reply at most")
    temperature: float = Field(0.0, ge=0, le=2, description="0 takes the likeliest token")
    seed: int = Field(0, ge=0, description="of the sampling")
    thinking: Thinking = Field(
        "off", description="think before answering; auto: as the model does by itself"
    )
    effort: Effort = Field(
        "medium", description="room for a thought: low 1,024 tokens, medium 2,048, high 4,096"
    )
    timeout: float = Field(300.0, gt=0, description="seconds without a sign of life of a server")
    parallel: int = Field(1, ge=1, le=256, description="requests a server gets at the same time")
    write_searches: bool = Field(
        True,
        description="before it answers from laws, the model puts the question into their words",
    )
    second_reading: bool = Field(
        False, description="ask the model once more whether the cited text supports the claim"
    )

    @field_validator("server", mode="before")
    @classmethod
    def _as_one_text(cls, value: object) -> object:
        # The environment and flags use the same form: http://a:8080/v1, http://b:8080/v1
        listed = value.split(",") if isinstance(value, str) else value
        if isinstance(listed, list) and all(isinstance(one, str) for one in listed):
            return ", ".join(filter(None, (one.strip() for one in listed)))
        return value

    @property
    def servers(self) -> tuple[str, ...]:
        """The addresses of `server`."""
        return tuple(filter(None, self.server.split(", ")))


class MethodConfig(_Section):
    """What answers. Each method declares its other settings in its own file."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(
        "", description="`localrag methods`; empty: generative with chat.model, else extractive"
    )
    query_prompt: str = Field("", description="optimised prompt that writes queries; empty: none")


class EmbeddingConfig(_Section):
    """The model behind search by meaning."""

    model: str = Field(
        "",
        description="installed model, ollama:NAME or openai:NAME; empty: the installed embedder, "
        "if there is exactly one; off: none",
    )
    server: str = Field("", description="address of the model server")
    provisions: Provisions = Field(
        "openings",
        description="for a provision of a statute: its heading and first words, or all of it "
        "(ten times slower)",
    )


class RerankingConfig(_Section):
    """The model that rereads the best hits."""

    model: str = Field("", description="installed model, ollama:NAME or openai:NAME; empty: none")
    server: str = Field("", description="address of the model server")


class RuntimeConfig(_Section):
    """Models that run in this process."""

    threads: int = Field(0, ge=0, le=256, description="threads of a model; 0: one for each core")
    gpu_layers: int = Field(-1, ge=-1, description="layers on a GPU, if there is one; -1: all")


class TuiConfig(_Section):
    """The terminal workbench."""

    theme: Literal["auto", "dark", "light"] = Field(
        "auto", description="colours; auto: as chosen there, else dark"
    )
    keys: dict[str, str] = Field(
        default_factory=dict, description="other keys, by the name of the action (docs/tui.md)"
    )


class ServeConfig(_Section):
    """The HTTP server (localrag serve)."""

    host: str = Field("127.0.0.1", min_length=1, description="address to listen on")
    port: int = Field(8080, ge=0, le=65535, description="port; 0: any free port")
    names: str = Field(
        "",
        description="further names of the server for clients, besides the address, separated by "
        "commas",
    )
    certificate: str = Field("", description="file of the TLS certificate (PEM); empty: no TLS")
    key: str = Field("", description="file of its private key (PEM)")
    proxy: str = Field(
        "", description="address of a proxy in front that speaks TLS, whose headers are believed"
    )
    processes: int = Field(
        0, ge=0, le=64, description="processes that search; 0: one for each processor, at most 4"
    )
    queue: int = Field(32, ge=0, le=10_000, description="calls that wait; more are refused (429)")
    connections: int = Field(256, ge=1, le=100_000, description="connections at the same time")
    max_body_kb: int = Field(1000, ge=1, description="larger requests are refused, in kilobytes")
    patience: float = Field(
        30.0, gt=0, description="seconds in which a client has to send a request, or take a piece"
    )
    log_questions: bool = Field(False, description="write questions into the log")


class Config(_Section):
    """Every setting of localrag."""

    corpus: str = Field("main", min_length=1, description="corpus used if none is named")
    language: Literal["auto", "en", "ja"] = Field(
        "auto",
        description="of everything shown; auto: in the workbench as chosen there, else as the "
        "environment says",
    )
    workspace: WorkspaceConfig = WorkspaceConfig()
    journal: JournalConfig = JournalConfig()
    ingest: IngestConfig = IngestConfig()
    laws: LawsConfig = LawsConfig()
    retrieval: RetrievalConfig = RetrievalConfig()
    method: MethodConfig = MethodConfig()
    chat: ChatConfig = ChatConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    reranking: RerankingConfig = RerankingConfig()
    runtime: RuntimeConfig = RuntimeConfig()
    tui: TuiConfig = TuiConfig()
    serve: ServeConfig = ServeConfig()


@dataclass(frozen=True, slots=True)
class Setting:
    """One value and where it comes from.

    Attributes:
        key: with dots, ``retrieval.k``.
        source: ``default``, ``localrag.toml``, the environment variable, or ``flag``.
        help: what the setting does.
    """

    key: str
    value: object
    source: str
    help: str


def load(
    workspace: HasSettings,
    overrides: Mapping[str, object] | None = None,
    corpus: HasSettings | None = None,
) -> Config:
    """Read the settings.

    Args:
        workspace: its ``localrag.toml`` is read if it exists.
        overrides: flags by dotted key; None means "not given".
        corpus: its own settings are read too, if it has any.

    Raises:
        ConfigError: a key is unknown or a value invalid; names the source and the nearest key.
        UsageError: the same for a flag.
    """
    return _load(collect(workspace, overrides or {}, corpus))


def require_valid(overrides: Mapping[str, object]) -> None:
    """Check that flags are valid settings, without reading files.

    Raises:
        UsageError: a key is unknown or a value invalid.
    """
    _load({key: (value, FLAG) for key, value in overrides.items()})


def explain(
    workspace: HasSettings,
    overrides: Mapping[str, object] | None = None,
    corpus: HasSettings | None = None,
) -> list[Setting]:
    """List every setting with its value and source; arguments and errors as for `load`."""
    sources = collect(workspace, overrides or {}, corpus)
    tree = _with_methods()
    config = _validated(tree, sources)
    return [
        Setting(
            key,
            _value(config, key),
            sources[key][1] if key in sources else "default",
            description,
        )
        for key, description in _keys(tree)
    ]


def _load(sources: Mapping[str, tuple[object, str]]) -> Config:
    if dict(_keys(Config)).keys() >= sources.keys():
        return _validated(Config, sources)
    config = _validated(_with_methods(), sources)
    # Other processes can only unpickle a class that a module has.
    return Config.model_validate(config.model_dump(exclude_unset=True))


@cache
def _with_methods() -> type[Config]:
    """`Config` with the settings that methods declare. It imports all methods."""
    # The one arrow upwards, named in pyproject.toml: a method's settings are in its file.
    from localrag.methods.catalogue import declared_settings

    declared: dict[str, Any] = {**declared_settings()}
    section = create_model("MethodConfig", __base__=MethodConfig, **declared)
    return create_model("Config", __base__=Config, method=(section, section()))


def _validated(tree: type[Config], sources: Mapping[str, tuple[object, str]]) -> Config:
    known = [key for key, _about in _keys(tree)]
    for key, (_given, source) in sources.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            raise _error_of(source)(
                N_("{source}: there is no setting {key!r}."),
                N_("Did you mean {near!r}?") if near else N_("Settings: {known}."),
                source=_(source),
                key=key,
                near=near[0] if near else "",
                known=", ".join(known),
            )
    try:
        return tree.model_validate(_nest(sources))
    except ValidationError as error:
        first = error.errors()[0]
        loc = ".".join(map(str, first["loc"]))
        # An error inside a table or a list has a longer key than the setting.
        key = next(key for key in sources if f"{loc}.".startswith(f"{key}."))
        _given, source = sources[key]
        raise _error_of(source)(
            N_("{source}: {key} = {value!r} is not valid ({problem})."),
            N_("See all settings: localrag config"),
            source=_(source),
            key=loc,
            value=first["input"],
            problem=_problem(first),
        ) from error


def _error_of(source: str) -> type[LocalragError]:
    """A wrong flag is a malformed request; other sources are wrong configuration."""
    return UsageError if source == FLAG else ConfigError


_PROBLEMS = {
    "int_parsing": N_("not a whole number"),
    "int_parsing_size": N_("not a whole number"),
    "int_from_float": N_("not a whole number"),
    "int_type": N_("not a whole number"),
    "float_parsing": N_("not a number"),
    "float_type": N_("not a number"),
    "bool_parsing": N_("neither true nor false"),
    "bool_type": N_("neither true nor false"),
    "dict_type": N_("not a table"),
    "string_type": N_("not a text"),
    "greater_than": N_("it must be above {gt:g}"),
    "greater_than_equal": N_("it must be {ge:g} or more"),
    "less_than_equal": N_("it must be {le:g} or less"),
    "value_error": N_("not a day; write it as 2024-04-01"),
    "literal_error": N_("it must be one of {expected}"),
}
"""Problems of values, by Pydantic's name for them."""


def _problem(error: "ErrorDetails") -> str:
    """The problem of a value, translated; rare ones in Pydantic's words."""
    if error["type"] not in _PROBLEMS:
        return error["msg"]
    limits = dict(error.get("ctx", {}))
    if "expected" in limits:
        limits["expected"] = str(limits["expected"]).replace(" or ", ", ")
    return _(_PROBLEMS[error["type"]]).format(**limits)


def _keys(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every dotted key of a tree with its description."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _keys(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field.description or ""


def _value(config: BaseModel, key: str) -> object:
    found: object = config
    for name in key.split("."):
        found = getattr(found, name)
    return found


def _nest(sources: Mapping[str, tuple[object, str]]) -> dict[str, object]:
    tree: dict[str, Any] = {}
    for key, (value, _source) in sources.items():
        *parents, name = key.split(".")
        section = tree
        for parent in parents:
            section = section.setdefault(parent, {})
        section[name] = value
    return tree


OFF = "off"
"""``embedding.model`` without search by meaning."""


class HasModels(Protocol):
    """The part of a workspace that is needed here."""

    @property
    def models(self) -> Path:
        """Folder of the models."""

    @property
    def servers(self) -> Path:
        """File of the ways in which model servers bind replies."""


def embedder_name(workspace: HasModels, config: Config) -> str:
    """The model for search by meaning, as settings name it; "" for none.

    Without a setting, it is the only installed embedder with an installed runtime. With several,
    there is none: otherwise installing a model could put every index out of date.
    """
    if config.embedding.model:
        return "" if config.embedding.model == OFF else config.embedding.model
    if not workspace.models.is_dir() or not any(workspace.models.iterdir()):
        return ""
    from localrag_models.runtimes import BY_FORMAT
    from localrag_models.store import ModelStore

    usable = [
        model.name
        for model in ModelStore(workspace.models).installed()
        if model.kind == "embedder" and BY_FORMAT[model.format].installed
    ]
    return usable[0] if len(usable) == 1 else ""
