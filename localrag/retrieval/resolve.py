"""Stage `resolve`: the provisions a question names, exactly."""

from dataclasses import dataclass, field

from localrag.corpus.model import Locator
from localrag.retrieval.admission import Admission
from localrag.retrieval.model import Query
from localrag.retrieval.units import Scores, article_unit
from localrag.statutes.resolver import Resolution, Resolver, Target

STAGE = "resolve"

IN_QUESTION = 1.0
"""Score of a provision that the question itself names."""
IN_OPTION = 0.8
"""Score of a provision that one of the options names: one suggestion among several."""


@dataclass(slots=True)
class Resolved:
    """What a question names.

    Attributes:
        targets: score of every provision named, most exact place kept.
        named: for each of them, the words that name it.
        events: citations that led nowhere or to several provisions, a sentence each.
    """

    targets: dict[Target, float] = field(default_factory=dict)
    named: dict[Target, str] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)

    @property
    def units(self) -> Scores:
        """Scores of the units the targets belong to."""
        scores: dict[str, float] = {}
        for target, score in self.targets.items():
            if target.locator != Locator():
                unit = article_unit(target.law_id, target.locator)
                scores[unit] = max(score, scores.get(unit, 0.0))
        return scores

    @property
    def words(self) -> dict[str, str]:
        """For each unit, the words that name it."""
        return {
            article_unit(target.law_id, target.locator): words
            for target, words in self.named.items()
        }


def resolve(resolver: Resolver, query: Query, admission: Admission) -> Resolved:
    """Resolve the citations of a question and its options, as far as the filters admit them.

    An option is read after the question, so that its bare 第三条 is of the law that the question
    speaks of.
    """
    resolved = Resolved()
    for resolution in resolver.resolve(query.text):
        _enter(resolved, resolution, IN_QUESTION, admission)
    for option in query.options:
        prefix = f"{query.text}\n"
        for resolution in resolver.resolve(prefix + option):
            if resolution.start >= len(prefix):
                _enter(resolved, resolution, IN_OPTION, admission)
    return resolved


def _enter(resolved: Resolved, resolution: Resolution, score: float, admission: Admission) -> None:
    if resolution.problem:
        resolved.events.append(f"{resolution.text}: {resolution.problem}")
    elif len(resolution.candidates) > 1:
        count = len(resolution.candidates)
        resolved.events.append(f"{resolution.text} can mean {count} provisions")
    # What is cited but does not exist stands in the text of another year, or is a slip: what is
    # around it is as good as suggested.
    targets = resolution.candidates or resolution.nearest
    score = score if resolution.candidates else score * IN_OPTION
    for target in targets:
        share = score / len(targets)
        if admission.admits(target.law_id) and share > resolved.targets.get(target, 0.0):
            resolved.targets[target] = share
            resolved.named[target] = resolution.text
