"""What the outcomes of an optimisation depend on: going on with anything else would mix them.

A server does not tell the weights behind the name of a model, and another server may have others:
its address stands for them.
"""

from hashlib import sha256
from importlib.metadata import version

from localrag.batch import origin as answers
from localrag.batch.origin import Origin
from localrag.batch.weights import weights
from localrag.config import Config
from localrag.evaluation.model import Questions
from localrag.inference.opening import server_of
from localrag.optimize.model import Plan
from localrag.optimize.resources import with_model
from localrag.workspace import Workspace


def origin_of(
    workspace: Workspace, corpus: str, config: Config, plan: Plan, questions: Questions, seed: str
) -> Origin:
    """Describe what outcomes would be made with now; the budget is no part of it.

    Args:
        workspace: with the models.
        corpus: that is searched.
        config: with the method whose query is optimised.
        plan: of the run.
        questions: with the digest of their file.
        seed: the instruction that is started from.

    Raises:
        NotFoundError: there is no such corpus.
        StoreError: its store cannot be used.
        ModelUnusable: a model is not installed.
    """
    reflection = plan.reflection or config.chat.model
    return {
        **answers.origin_of(workspace, corpus, config),
        **server_of("chat", config.chat),
        "gepa": version("gepa"),
        "dataset": questions.dataset.name,
        "split": questions.split,
        "questions.sha256": questions.sha256,
        "limit": plan.limit,
        "objective": plan.objective.value,
        "seed": plan.seed,
        "instruction": sha256(seed.encode()).hexdigest()[:16],
        "reflection.model": reflection,
        **{
            name.replace("chat.", "reflection."): value
            for name, value in weights(workspace, with_model(config, reflection), "chat").items()
        },
        **server_of("reflection", with_model(config, reflection).chat),
    }
