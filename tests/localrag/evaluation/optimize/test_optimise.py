"""An optimisation climbs on a toy whose best prompt is known, and can be stopped at any moment."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from localrag.answer.prompts import OptimisedPrompt
from localrag.corpus.config import Config
from localrag.corpus.workspace import Workspace
from localrag.errors import (
    BusyError,
    InputError,
    ModelUnusable,
    StorageError,
    UsageError,
    WorkspaceError,
)
from localrag.evaluation.optimize.optimise import optimise
from localrag.evaluation.optimize.task import gain
from localrag.evaluation.optimize.types import (
    Accepted,
    Begun,
    Event,
    Leak,
    Objective,
    OptimisationOutcome,
    OptimisationPlan,
    OptimisationProgress,
    Reporting,
)
from localrag.text.facts import Fact
from localrag_models.errors import ContextExceeded, ServerUnreachable

from ....patience import PATIENCE
from ....rows import each

ADVICE = "甲乙丙丁"
# What fills in a provision is found a little later than once: references hand on one strength.
LEAST_GAIN = {Objective.OVERLAP: 0.3, Objective.RECALL: 0.29}
Toys = Callable[..., Any]


@pytest.fixture
def run(sample: Path, config: Config) -> Callable[..., OptimisationOutcome]:
    workspace = Workspace.locate(sample)

    def optimised(plan: OptimisationPlan, **options: Any) -> OptimisationOutcome:
        return optimise(workspace, "main", config, plan, **options)

    return optimised


@pytest.fixture
def folder(sample: Path) -> Path:
    return sample / "runs" / "optimize" / "toy"


@pytest.mark.parametrize("objective", list(Objective))
def test_it_climbs_to_the_best_instruction(
    run: Callable[..., OptimisationOutcome],
    toy: Toys,
    plan: OptimisationPlan,
    sample: Path,
    objective: Objective,
) -> None:
    toy()
    events: list[Event] = []
    outcome = run(replace(plan, objective=objective), on_event=events.append)
    best = outcome.candidates[outcome.best]
    assert all(piece in best.text for piece in ADVICE)
    assert outcome.candidates[0].score < 0.3
    assert outcome.gain > LEAST_GAIN[objective]
    assert outcome.end == "calls"
    assert outcome.calls == plan.calls
    assert {type(event) for event in events} >= {Begun, OptimisationProgress, Accepted}
    # The published method searches by meaning; `ask` by whatever there is.
    stands_in = any("BM25 replaces" in str(one) for one in events if isinstance(one, Fact))
    assert stands_in == (objective is Objective.OVERLAP)

    saved = OptimisedPrompt.load(sample / "prompts", "toy")
    assert saved.text == best.text
    assert saved.provenance["best_score"] == best.score
    assert saved.provenance["validation_n"] == 8
    assert saved.is_made
    assert not saved.is_seed


def test_the_same_seed_gives_the_same_candidates(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan
) -> None:
    toy()
    one, again = run(plan), run(replace(plan, name="again"))
    assert one.candidates == again.candidates
    assert run(replace(plan, name="other", seed=3)).candidates != one.candidates


def test_a_run_that_stops_again_and_again_ends_like_an_unbroken_one(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, folder: Path
) -> None:
    model = toy()
    whole = run(replace(plan, name="whole"))
    asked = len(model.requests)

    model = toy()
    inner, budget = model.chat, 7

    def interrupted(*arguments: Any) -> Any:
        if len(model.requests) >= budget:
            raise KeyboardInterrupt
        return inner(*arguments)

    model.chat = interrupted
    stops = 0
    while True:
        try:
            broken = run(plan)
            break
        except KeyboardInterrupt:
            stops += 1
            budget += 7 + stops
            # A line that a kill cut off.
            with (folder / "journal.jsonl").open("ab") as file:
                file.write(b'{"kind": "roll')
    assert stops > 5
    assert broken.candidates == whole.candidates
    assert broken.refused == whole.refused
    assert len(model.requests) == asked


def test_a_finished_run_costs_nothing_and_goes_on_with_more_calls(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan
) -> None:
    model = toy()
    few = run(replace(plan, calls=60))
    asked = len(model.requests)
    assert asked == few.calls == 60
    assert run(replace(plan, calls=60)).candidates == few.candidates
    assert len(model.requests) == asked
    more = run(plan)
    assert more.candidates[: len(few.candidates)] == few.candidates
    assert more.candidates == run(replace(plan, name="at-once")).candidates


def test_minutes_count_over_all_starts(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan
) -> None:
    toy()
    whole = run(plan)
    half = run(replace(plan, minutes=whole.seconds / 120))
    assert half.end == "minutes"
    assert half.seconds < whole.seconds
    with pytest.raises(UsageError, match="not scored"):
        run(replace(plan, minutes=1e-9))


def test_ctrl_c_leaves_the_best_prompt_so_far(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, sample: Path
) -> None:
    toy()

    def stop(event: Event) -> None:
        if isinstance(event, Accepted) and event.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan, on_event=stop)
    saved = OptimisedPrompt.load(sample / "prompts", "toy")
    assert saved.provenance["ended"] == "stopped"

    def stop_sooner(event: Event) -> None:
        if isinstance(event, Accepted) and event.number == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan, on_event=stop_sooner)
    assert OptimisedPrompt.load(sample / "prompts", "toy") == saved


def test_what_is_malformed_is_counted_and_asked_for_once_more(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan
) -> None:
    model = toy(lambda material: '{"analysis": ')
    outcome = run(plan)
    assert (outcome.best, outcome.gain) == (0, 0.0)
    reflections = [r for r in model.requests if r.schema and "analysis" in r.schema["properties"]]
    assert len(reflections) == 2 * outcome.refused.malformed > 0
    assert reflections[0].seed != reflections[1].seed


def test_what_carries_wording_of_a_question_never_becomes_a_candidate(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan
) -> None:
    def copy(material: dict[str, Any]) -> str:
        copied = material["instruction"] + ADVICE + material["examples"][0]["question"]
        return json.dumps({"analysis": "", "instruction": copied})

    toy(copy)
    events: list[Event] = []
    outcome = run(plan, on_event=events.append)
    assert len(outcome.candidates) == 1
    assert outcome.refused.leaking == sum(isinstance(event, Leak) for event in events) > 0


def test_the_reflection_model_sees_no_gold(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, questions: Path
) -> None:
    model = toy()
    run(plan)
    shown = [r.messages[1].content for r in model.requests if "analysis" in str(r.schema)]
    assert shown
    for row in map(json.loads, questions.read_text(encoding="utf-8").splitlines()):
        says = row["context"].splitlines()[-1]
        assert not any(says in prompt for prompt in shown)
    assert any('"Act": 1' in prompt for prompt in shown)


def test_another_model_can_propose(
    run: Callable[..., OptimisationOutcome],
    toy: Toys,
    plan: OptimisationPlan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small, large = toy(), toy()
    large.id = "large"
    monkeypatch.setattr(
        "localrag.methods.answering.open_chat",
        lambda _, config, *__: large if config.chat.model == "ollama:large" else small,
    )
    events: list[Event] = []
    outcome = run(replace(plan, reflection="ollama:large"), on_event=events.append)
    assert outcome.gain > 0.3
    assert isinstance(events[0], Begun)
    assert events[0].models == ("toy", "large")
    assert {"analysis" in str(request.schema) for request in large.requests} == {True}
    assert {"analysis" in str(request.schema) for request in small.requests} == {False}


@pytest.fixture
def gold_alone(questions: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Makes a file of the questions, without options and answers, under other words."""

    def made(before: str) -> Path:
        path = tmp_path / f"{before}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for line in questions.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                row = {"id": row["id"], "question": before + row["question"], "gold": row["gold"]}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        return path

    return made


def test_questions_with_gold_places_alone_serve_and_others_are_reported_on(
    run: Callable[..., OptimisationOutcome],
    toy: Toys,
    plan: OptimisationPlan,
    sample: Path,
    gold_alone: Callable[[str], Path],
) -> None:
    model = toy()
    plan = replace(plan, dataset=str(gold_alone("さて、")), objective=Objective.RECALL)
    plan = replace(plan, report=gold_alone("ところで、"))
    events: list[Event] = []
    outcome = run(plan, on_event=events.append)
    assert outcome.calls <= plan.calls
    assert outcome.reported is not None
    assert outcome.reported.n == 16
    before, after = outcome.reported.found
    assert before < after == 16
    assert outcome.reported.scores[0] < outcome.reported.scores[1]
    assert (max(one.score for one in outcome.candidates), outcome.end) == (1.0, "perfect")
    assert [one.done for one in events if isinstance(one, Reporting)] == [*range(1, 33)]
    asked = len(model.requests)
    assert run(plan).reported == outcome.reported
    assert len(model.requests) == asked, "nothing is asked twice"


def test_a_report_on_questions_that_take_part_is_refused(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, questions: Path
) -> None:
    toy()
    with pytest.raises(UsageError, match="take part"):
        run(replace(plan, report=questions))


def test_questions_without_options_are_refused_where_their_text_counts(
    run: Callable[..., OptimisationOutcome],
    toy: Toys,
    plan: OptimisationPlan,
    gold_alone: Callable[[str], Path],
) -> None:
    toy()
    with pytest.raises(InputError, match="no options"):
        run(replace(plan, dataset=str(gold_alone("さて、"))))


@each(
    ("places", "worth"),
    [((1,), 1.0), ((2, 1), 1.0), ((0,), 0.0), ((0, 0), 0.0), ((3,), 0.5)],
)
def test_what_ranks_are_worth(places: tuple[int, ...], worth: float) -> None:
    assert gain(places) == pytest.approx(worth)
    assert gain((*places, 0)) <= gain(places)


def test_a_short_context_leaves_out_examples_and_says_so(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan
) -> None:
    toy().context = 4_200
    events: list[Event] = []
    assert run(plan, on_event=events.append).gain > 0.3
    assert any("gets the first ones" in str(event) for event in events if isinstance(event, Fact))


def test_a_context_that_holds_no_query_scores_nothing_and_says_so(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan
) -> None:
    model = toy()

    def refuse(*_: Any) -> Any:
        raise ContextExceeded("It does not fit.", needed=2, available=1)

    model.chat = refuse
    events: list[Event] = []
    with pytest.raises(ModelUnusable, match="does not fit"):
        run(plan, on_event=events.append)
    assert any("does not fit" in str(event) for event in events if isinstance(event, Fact))


def test_it_does_not_go_on_with_other_settings(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan
) -> None:
    toy()
    first = run(replace(plan, calls=30))
    with pytest.raises(UsageError, match=r"seed was 0 and is 1.*--restart"):
        run(replace(plan, seed=1))
    assert run(replace(plan, calls=30, seed=1), restart=True).candidates != first.candidates


def test_a_prompt_of_another_origin_is_not_replaced(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, sample: Path
) -> None:
    toy()
    OptimisedPrompt("toy", "手で書いた指示文").save(sample / "prompts")
    with pytest.raises(UsageError, match="already"):
        run(plan)
    assert OptimisedPrompt.load(sample / "prompts", "toy").text == "手で書いた指示文"


def edit(sample: Path) -> str:
    made = OptimisedPrompt.load(sample / "prompts", "toy")
    edited = OptimisedPrompt("toy", f"{made.text}\n手で書き足した。", made.provenance)
    edited.save(sample / "prompts")
    return edited.text


def test_an_edited_prompt_is_replaced_only_on_a_restart(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, sample: Path
) -> None:
    toy()
    outcome = run(replace(plan, calls=60))
    text = edit(sample)
    with pytest.raises(UsageError, match="edited by hand"):
        run(plan)
    assert OptimisedPrompt.load(sample / "prompts", "toy").text == text
    run(replace(plan, calls=60), restart=True)
    saved = OptimisedPrompt.load(sample / "prompts", "toy")
    assert saved.text == outcome.candidates[outcome.best].text
    assert saved.is_made


def test_a_prompt_edited_while_the_run_goes_on_is_kept(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, sample: Path
) -> None:
    toy()
    run(replace(plan, calls=60))
    texts: list[str] = []
    notes: list[str] = []

    def listener(event: Event) -> None:
        if isinstance(event, Accepted) and not texts:
            texts.append(edit(sample))
        elif isinstance(event, Fact):
            notes.append(str(event))

    assert run(plan, on_event=listener).gain > 0.3
    assert OptimisedPrompt.load(sample / "prompts", "toy").text == texts[0]
    assert "edited by hand" in notes[-1]


def test_a_run_without_gain_saves_what_it_started_from(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, sample: Path
) -> None:
    toy(lambda _: json.dumps({"analysis": "", "instruction": "工夫がない。"}))
    assert run(plan).best == 0
    assert OptimisedPrompt.load(sample / "prompts", "toy").is_seed


@pytest.mark.parametrize("mark", ["\x00", "\x1b[31m", "\u202e", "\ud800"])
def test_control_characters_never_reach_a_prompt(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, mark: str
) -> None:
    toy(lambda _: json.dumps({"analysis": "", "instruction": f"{ADVICE}{mark}"}))
    outcome = run(plan)
    assert len(outcome.candidates) == 1
    assert outcome.refused.malformed > 0


def test_jinja_in_a_proposal_stays_as_it_is(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, sample: Path
) -> None:
    proposal = f"{ADVICE}\t{{{{ 7 * 7 }}}}{{% raw %}}{{{{ question }}}}"
    model = toy(lambda _: json.dumps({"analysis": "", "instruction": proposal}))
    run(plan)
    assert OptimisedPrompt.load(sample / "prompts", "toy").text == proposal
    assert proposal in {request.messages[0].content for request in model.requests}


def test_another_server_is_another_model(
    sample: Path,
    run: Callable[..., OptimisationOutcome],
    toy: Toys,
    plan: OptimisationPlan,
    config: Config,
) -> None:
    toy()
    run(replace(plan, calls=30))
    chat = config.chat.model_copy(update={"server": "http://127.0.0.1:9999"})
    other = config.model_copy(update={"chat": chat})
    with pytest.raises(UsageError, match=r"chat\.server was 'http://127\.0\.0\.1:11434' and is"):
        optimise(Workspace.locate(sample), "main", other, plan)


def test_the_cure_for_too_few_calls_works(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan
) -> None:
    toy()
    with pytest.raises(UsageError) as few:
        run(replace(plan, calls=1))
    assert "--calls to 9 at least" in few.value.cure
    assert "--limit" not in few.value.cure
    assert run(replace(plan, calls=9)).calls == 9
    with pytest.raises(UsageError) as more:
        run(replace(plan, name="fewer", calls=3))
    assert "--limit 4." in more.value.cure
    assert run(replace(plan, name="fewer", calls=3, limit=4)).calls == 3


def test_one_process_at_a_time(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, folder: Path
) -> None:
    toy()
    folder.mkdir(parents=True)
    with FileLock(folder / "lock"), pytest.raises(BusyError):
        run(plan)


def test_a_model_that_goes_away_ends_the_run_and_nothing_is_lost(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan
) -> None:
    def gone(material: dict[str, Any]) -> str:
        raise ServerUnreachable("The server is gone.")

    model = toy(gone)
    with pytest.raises(ModelUnusable, match="gone"):
        run(plan)
    asked = len(model.requests)
    model = toy()
    assert run(plan).gain > 0.3
    assert len(model.requests) == plan.calls - asked


def test_a_server_is_asked_several_things_at_the_same_time(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan
) -> None:
    toy()
    one_by_one = run(replace(plan, name="one"))
    model = toy()
    model.parallel = 4
    inner, first, second = model.chat, threading.Lock(), threading.Event()

    def met(*arguments: Any) -> Any:
        if first.acquire(blocking=False):
            assert second.wait(PATIENCE), "the first call was not joined by another"
        else:
            second.set()
        return inner(*arguments)

    model.chat = met
    at_once = run(plan)
    assert at_once.candidates == one_by_one.candidates
    assert at_once.calls == len(model.requests) == one_by_one.calls


def test_what_others_finished_is_kept_when_one_fails(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, folder: Path
) -> None:
    model = toy()
    model.parallel = 2
    inner = model.chat

    def failing(request: Any, *more: Any) -> Any:
        if len(model.requests) == 3:
            raise ServerUnreachable("The server is gone.")
        return inner(request, *more)

    model.chat = failing
    with pytest.raises(ModelUnusable, match="gone"):
        run(plan)
    assert len((folder / "journal.jsonl").read_text().splitlines()) == len(model.requests) == 3


def test_a_full_disk_is_told(
    run: Callable[..., OptimisationOutcome],
    toy: Toys,
    plan: OptimisationPlan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    toy()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("localrag.corpus.journal.os.fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        run(plan)
    monkeypatch.undo()
    toy()
    assert run(plan).gain > 0.3


def test_a_damaged_journal_is_refused(
    run: Callable[..., OptimisationOutcome], toy: Toys, plan: OptimisationPlan, folder: Path
) -> None:
    toy()
    run(replace(plan, calls=20))
    journal = folder / "journal.jsonl"
    journal.write_bytes(b'{"kind": "dream"}\n' + journal.read_bytes())
    with pytest.raises(WorkspaceError, match="line 1"):
        run(plan)


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"calls": 8}, "do not even score"),
        ({"limit": 3}, "Only 3 questions"),
        ({"name": "../x"}, "cannot be the name"),
    ],
)
def test_what_cannot_be_done_is_refused(
    run: Callable[..., OptimisationOutcome],
    toy: Toys,
    plan: OptimisationPlan,
    changes: dict[str, Any],
    cause: str,
) -> None:
    toy()
    with pytest.raises(UsageError, match=cause):
        run(replace(plan, **changes))


def test_gepa_is_named_where_it_is_missing(
    run: Callable[..., OptimisationOutcome], plan: OptimisationPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag.evaluation.optimize.optimise.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"localrag\[optimize\]"):
        run(plan)
