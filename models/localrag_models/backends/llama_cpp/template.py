"""The chat template of a model: from messages to the text of a prompt.

A template is a program that came with a model file. It runs in the sandbox of Jinja, which keeps it
from everything but its own work; that this work ends is seen to here.
"""

import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from jinja2 import nodes
from jinja2.sandbox import SandboxedEnvironment

from localrag_models.backends.llama_cpp.native import runtime
from localrag_models.chat import Message
from localrag_models.errors import N_, ModelDamaged, WrongKind
from localrag_models.replies import neutralise

_LIMIT = 2.0
"""Seconds of work in which a prompt has to be ready; one of 200 turns takes 0.1."""
_NO_REASONING = "\n</think>\n\n"


class ChatTemplate:
    """The template that a model file brings along, rendered in a sandbox.

    Args:
        source: Jinja.
        name: of the model, for errors.
        begin: spelling of the token that begins a text; empty where there is none.
        end: spelling of the token that ends a turn.
        control: spellings of the control tokens of the vocabulary.

    Raises:
        WrongKind: the model has no template.
        ModelDamaged: its template is no Jinja, or does not come to an end.
    """

    def __init__(
        self, source: str, *, name: str, begin: str, end: str, control: Collection[str]
    ) -> None:
        runtime()
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        if not source:
            raise WrongKind(
                N_("{name} has no chat template: nobody knows how to talk to it."),
                N_("Choose an instruction-tuned model whose file holds its template."),
                name=name,
            )
        self._name = name
        self._control = frozenset(control)
        extensions = (Jinja2ChatFormatter.IgnoreGenerationTags, "jinja2.ext.loopcontrols")
        try:
            with _limited():
                if SandboxedEnvironment(extensions=extensions).parse(source).find(nodes.Pow):
                    # A power of a power is one step, which nothing can interrupt.
                    raise _Overlong("it raises numbers to powers")
                self._format = Jinja2ChatFormatter(source, eos_token=end, bos_token=begin)
        except _Overlong as error:
            raise self._endless(error) from None
        except Exception as error:  # Jinja's own, those of Python's compiler, and its limits
            raise ModelDamaged(
                N_("The chat template of {name} is no Jinja template: {why}."),
                N_("Choose another conversion of the model."),
                name=name,
                why=error,
            ) from error

    def render(self, messages: Sequence[Message]) -> str:
        """The text of a prompt that ends where the answer begins; reasoning is switched off.

        Raises:
            WrongKind: the template does not take these messages, or leaves some of them out.
            ModelDamaged: it does not come to an end.
        """
        turns: list[dict[str, str]] = [
            {"role": message.role, "content": neutralise(message.content, self._control)}
            for message in messages
        ]
        prompt = self._attempt(turns)
        if prompt is None and turns[0]["role"] == "system":
            prompt = self._attempt(_without_system(turns))
        if prompt is None:
            raise WrongKind(
                N_("The chat template of {name} cannot put these turns into a prompt: {roles}."),
                N_("Choose another model, or another conversion of it."),
                name=self._name,
                roles=", ".join(turn["role"] for turn in turns),
            )
        # A template may open the reasoning itself, for models that always think.
        return prompt + _NO_REASONING if prompt.rstrip().endswith("<think>") else prompt

    def _attempt(self, turns: list[dict[str, str]]) -> str | None:
        """The prompt; None where the template refuses the turns or drops what they say."""
        try:
            with _limited():
                prompt: str = self._format(messages=cast(Any, turns), enable_thinking=False).prompt
        except _Overlong as error:
            raise self._endless(error) from None
        except Exception:  # noqa: BLE001 - templates raise whatever they like
            return None
        whole = all(turn["content"].strip() in prompt for turn in turns)
        return prompt if whole else None

    def _endless(self, why: "_Overlong") -> ModelDamaged:
        return ModelDamaged(
            N_("The chat template of {name} takes too long: {why}."),
            N_("Choose another conversion of the model; do not trust this one."),
            name=self._name,
            why=why,
        )


class _Overlong(Exception):  # noqa: N818 - it says what the template is
    """A template takes too long; the message says what it does."""


@contextmanager
def _limited() -> Iterator[None]:
    """Let the Python code of this thread work for so long only.

    Jinja compiles templates to Python, and has no hook in its loops; the interpreter has one, that
    of debuggers. It is looked at between steps, not within one (``"x" * 10**9``).
    """
    end = time.thread_time() + _LIMIT

    def look(*_: object) -> Any:
        if time.thread_time() > end:
            raise _Overlong(f"no prompt after {_LIMIT:g} s of work")
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(before)


def _without_system(turns: list[dict[str, str]]) -> list[dict[str, str]]:
    """The same turns, with the text of the system put before that of the first user."""
    system, first, *others = [*turns, {"role": "user", "content": ""}][: max(2, len(turns))]
    content = f"{system['content']}\n\n{first['content']}".strip()
    return [{"role": "user", "content": content}, *others]
