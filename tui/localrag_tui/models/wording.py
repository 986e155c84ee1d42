"""Models in words: kinds, states, what they take."""

from textual.content import Content

from localrag.language import N_, _
from localrag_tui.models.stock import ModelRow, State
from localrag_tui.models.usage import Usage
from localrag_tui.shown import content, harmless
from localrag_tui.wording import size

KINDS = {
    "": "",
    "chat": N_("chat"),
    "embedder": N_("embedder"),
    "reranker": N_("reranker"),
}
"""What a model does, as messages."""
_STATES = {
    State.INSTALLED: (N_("installed"), "$text-success"),
    State.DAMAGED: (N_("damaged"), "$text-error"),
    State.UNFINISHED: (N_("half pulled"), "$text-warning"),
    State.AVAILABLE: (N_("can be pulled"), "$foreground-muted"),
    State.SERVED: (N_("on a server"), "$text-success"),
    State.ABSENT: (N_("not installed"), "$text-error"),
}


def state(row: ModelRow, usage: Usage | None = None) -> Content:
    """How a model is, and whether it is used; of one to be pulled, whether it would fit."""
    if row.state is State.AVAILABLE and usage is not None:
        return Content.styled(*_fit(row, usage))
    words, style = _STATES[row.state]
    if row.used_as and row.state in (State.INSTALLED, State.SERVED):
        return Content.styled(_("in use"), "bold $text-accent")
    return Content.styled(_(words), style)


def fit(row: ModelRow, usage: Usage | None) -> Content:
    """Whether a model fits into the memory of this machine; nothing where that is not known."""
    if not row.memory or usage is None:
        return Content("")
    words, style = _fit(row, usage)
    line = _("takes about {about} of memory: {fits}")
    return Content.styled(line.format(about=size(row.memory), fits=words), style)


def _fit(row: ModelRow, usage: Usage) -> tuple[str, str]:
    if row.memory > usage.total:
        return _("too large"), "$text-error"
    if row.memory > usage.free + usage.loaded:
        return _("not free now"), "$text-warning"
    return _("fits"), "$text-success"


def advice(name: str, kind: str) -> str:
    """How a model is put to use."""
    if kind == "chat":
        return _("u uses it for answers; t tests it.")
    section = "embedding" if kind == "embedder" else "reranking"
    line = _('To use it: localrag.toml, [{section}] model = "{name}"')
    return line.format(section=section, name=name)


def details(row: ModelRow, usage: Usage | None) -> Content:
    """All that is known of a model."""
    facts = [
        _(KINDS[row.kind]),
        size(row.size) if row.size else "",
        _("context {n}").format(n=f"{row.context:,}") if row.context else "",
        harmless(row.licence),
    ]
    lines = [
        content(row.name, "bold $text-primary"),
        Content(" · ".join(filter(None, facts))),
        state(row),
    ]
    if row.fetched:
        left = _("{fetched} have come; p goes on, Del drops them").format(fetched=size(row.fetched))
        lines.append(Content(left))
    if row.used_as:
        lines.append(Content(_("named by {setting}").format(setting=row.used_as)))
    elif row.state is State.INSTALLED:
        lines.append(Content(advice(row.name, row.kind)))
    lines.append(fit(row, usage))
    if row.source:
        source = _("from {source}").format(source=harmless(row.source))
        lines.append(Content.styled(source, "$foreground-muted"))
    style = "$text-error" if row.state is State.DAMAGED else "$foreground-muted"
    lines += [content(line, style) for line in row.lines]
    return Content("\n").join(line for line in lines if line.plain)


def memory(usage: Usage, model: str) -> Content:
    """What is loaded, what it takes, what is left."""
    if usage.loaded and model:
        loaded = _("loaded: {model}, {taken}").format(
            model=harmless(model), taken=size(usage.loaded)
        )
    elif usage.loaded:
        loaded = _("no model loaded (answering takes {taken})").format(taken=size(usage.loaded))
    else:
        loaded = _("no model loaded")
    free = _("{free} of {total} of memory free")
    return Content.assemble(
        loaded,
        "\n",
        (free.format(free=size(usage.free), total=size(usage.total)), "$foreground-muted"),
    )
