"""Searches that a chat model writes for people's questions, and their hits.

Questions are counted as in ``lawyers.py``: without a writer, with searches of a model under the
built-in prompt, and under each ``--prompt``. Printed per group are right provisions quoted first or
second, and among the first ten hits; a line before each table shows the cost of calls. Searches are
kept in the work folder, so that a stopped run continues, and nothing is paid for twice.

Before and after an optimisation, on unseen questions::

    xz --decompress --stdout tests/localrag/lawyers/asked/sealed.jsonl.xz >/tmp/sealed.jsonl
    .venv/bin/python scripts/bench/written_searches.py MODEL --questions /tmp/sealed.jsonl \
        --prompt PROMPT.txt
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.corpora import installed, make_searchable
from bench.lawyers import ASKED, answered, print_groups, query_of
from bench.options import parser
from bench.rates import latency

from localrag.answer.prompts import language_of
from localrag.corpus.config import load
from localrag.errors import ModelUnusable
from localrag.methods.answering import MethodResources
from localrag.methods.searches import built_in, write_searches
from localrag.methods.toolkit import Toolkit
from localrag.search.pipeline import Retriever
from localrag.search.types import ModelCall, WrittenSearch

# Of the questions that --first and --last take.
CHANCE = 0


def main() -> None:
    """Print the groups without a writer, and with it under each prompt."""
    options = parser(__doc__, work=True, embedder=True)
    options.add_argument("model", help="a chat model: the name of an installed one, or its file")
    options.add_argument(
        "--questions", type=Path, default=ASKED / "seen.jsonl", metavar="FILE", help="JSON lines"
    )
    options.add_argument(
        "--prompt", type=Path, action="append", default=[], metavar="FILE", help="of instructions"
    )
    options.add_argument("--from", type=int, default=0, metavar="N", dest="first", help="leave out")
    options.add_argument("--to", type=int, metavar="N", dest="last", help="in an order by chance")
    options.add_argument("--threads", type=int, default=0, metavar="N", help="of the model")
    arguments = options.parse_args()
    asked = [json.loads(line) for line in arguments.questions.read_text("utf-8").splitlines()]
    asked = sorted((one for one in asked if one["gold"]), key=lambda one: str(one["id"]))
    random.Random(CHANCE).shuffle(asked)
    asked = asked[arguments.first : arguments.last]
    egov = arguments.data / "egov"
    laws = [path for name in ("xml", "xml_2015") if (path := egov / name).exists()]
    workspace, config = make_searchable(
        arguments.work.resolve(), "all-statutes", laws, arguments.embedder
    )
    settings = {
        "embedding.model": config.embedding.model,
        "chat.model": installed(workspace, arguments.model, "chat"),
        "runtime.threads": arguments.threads,
    }
    config = load(workspace, settings)
    with (
        Retriever.open(workspace, "all-statutes", config) as retriever,
        MethodResources(workspace, "all-statutes", config, retriever) as resources,
    ):
        print("without a writer")
        print_groups(answered(retriever, asked))
        for file in (None, *arguments.prompt):
            text = file.read_text(encoding="utf-8").strip() if file else ""
            print(f"\n{resources.model.id}, {file.name if file else 'the built-in prompt'}")
            print_groups(answered(retriever, asked, write(resources, asked, text)))


def write(
    resources: MethodResources, asked: Sequence[dict[str, Any]], instruction: str
) -> dict[str, Sequence[WrittenSearch]]:
    """Searches written by a model, by id of the question; prints the cost of calls.

    Args:
        resources: the model and the laws.
        asked: the questions.
        instruction: "" for the built-in one.
    """
    written: dict[str, Sequence[WrittenSearch]] = {}
    calls: list[ModelCall] = []
    failed = 0
    for one in asked:
        toolkit, query = Toolkit(resources), query_of(one, resources.retriever)
        try:
            instruct = instruction or built_in(language_of(query.text))
            written[one["id"]] = write_searches(toolkit, query, instruct)
        except ModelUnusable as error:
            if not error.of_one_request:
                raise
            failed += 1
        calls += toolkit.trace.calls
    took = latency([call.seconds for call in calls]) if calls else "none: all were remembered"
    tokens = sum(call.completion for call in calls) / max(1, len(calls))
    print(f"calls: {took}; {tokens:.0f} tokens written each; no search for {failed}", flush=True)
    return written


if __name__ == "__main__":
    main()
