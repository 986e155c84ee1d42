"""The models of a workspace: one folder each, with a manifest that holds the hash of every file."""

from localrag_models.files import Progress
from localrag_models.store.manifest import InstalledModel
from localrag_models.store.models import ModelStore

__all__ = ["InstalledModel", "ModelStore", "Progress"]
