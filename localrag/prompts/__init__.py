"""Every prompt, one Jinja file each, Japanese and English side by side.

A file holds one macro for each role and language: ``system_ja``, ``user_ja``, ``system_en``,
``user_en``. Values reach a prompt as data: a template is never made of them.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from localrag_models.chat import Message, Role

if TYPE_CHECKING:
    from jinja2 import Environment

Language = Literal["ja", "en"]

_JAPANESE = re.compile("[\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9d]")


def language_of(text: str) -> Language:
    """The language to answer a text in: Japanese if it holds any Japanese letter."""
    return "ja" if _JAPANESE.search(text) else "en"


def prompt(name: str, language: Language, **values: Any) -> tuple[Message, ...]:
    """Render the prompt ``<name>.jinja``: its system message, then its user message.

    Raises:
        jinja2.UndefinedError: the template uses a value that was not given.
    """
    template = _environment().get_template(f"{name}.jinja").make_module(values)
    roles: tuple[Role, ...] = ("system", "user")
    return tuple(
        Message(role, str(getattr(template, f"{role}_{language}")()).strip()) for role in roles
    )


@cache
def _environment() -> "Environment":
    # Imported only here: what works without a model needs no prompt.
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # A prompt is plain text; there is no markup that could be escaped.
    return ImmutableSandboxedEnvironment(
        loader=PackageLoader("localrag", "prompts"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
