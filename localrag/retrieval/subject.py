"""Stage `subject`: what the triples of a corpus say of a subject under a predicate."""

from localrag.corpus.derived import MOST_TRIPLES
from localrag.corpus.lookups import Lookups
from localrag.corpus.rows import fold
from localrag.facts import Fact, FactKind
from localrag.retrieval.predicates import likeness
from localrag.retrieval.units import Admission, Scores, add

STAGE = "subject"

# A name that more subjects share says too little to read all of them.
_SUBJECTS = 20
# What each subject that the name means more likely takes from the next one.
_LESS_LIKELY = 0.1
# What a triple of the subject has, whatever its predicate.
_OF_THE_SUBJECT = 0.01
# What the very predicate has before one that only means the same.
_SAME = 0.05
# Less than that: what is found by meaning orders what the predicate leaves open, and follows.
_MEANING = 0.04


def triples_of(
    store: Lookups, name: str, predicate: str, admission: Admission
) -> tuple[dict[str, float], list[Fact]]:
    """The triples of every subject that a name can mean, best first.

    Args:
        store: the corpus.
        name: of the subject, in whatever spelling.
        predicate: what is asked of it.
        admission: which documents may be found.

    Returns:
        Scores by unit: above 1 where the predicate is the one asked for and the name means the
        subject before all others; and events.
    """
    subjects = store.knowledge.subjects(name)
    events = [] if subjects else [Fact(FactKind.NO_SUBJECT, name=name)]
    if len(subjects) > _SUBJECTS:
        left = len(subjects) - _SUBJECTS
        events.append(Fact(FactKind.MORE_SUBJECTS, name=name, n=left))
    scores: dict[str, float] = {}
    wanted = fold(predicate)
    for position, subject in enumerate(subjects[:_SUBJECTS]):
        known = store.knowledge.about(subject, MOST_TRIPLES + 1)
        if len(known) > MOST_TRIPLES:
            events.append(Fact(FactKind.FIRST_TRIPLES, name=subject, n=MOST_TRIPLES))
        for passage_id, triple in known[:MOST_TRIPLES]:
            if admission.admits(passage_id.rpartition("#")[0]):
                fit = likeness(predicate, triple.predicate) + _OF_THE_SUBJECT
                fit += _SAME * (wanted == fold(triple.predicate))
                scores[passage_id] = fit / (1 + _LESS_LIKELY * position)
    return scores, events


def join(of_subject: Scores, by_meaning: Scores) -> dict[str, float]:
    """Both rankings as one: by subject and predicate first, by meaning within and after.

    Args:
        of_subject: as `triples_of` gives them.
        by_meaning: relative to the best, 0 to 1.
    """
    return add(of_subject, {unit: _MEANING * score for unit, score in by_meaning.items()})
