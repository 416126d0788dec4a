"""``intent.load``: an artifact from the folder that ``artifact.save`` wrote."""

from __future__ import annotations

from pathlib import Path

from intent.provider import Provider, registry
from intent.runtime.artifact import Artifact
from intent.runtime.saved import read

__all__ = ["load"]


def load(folder: str | Path, provider: str | Provider | None = None) -> Artifact:
    """The artifact of a folder that :meth:`Artifact.save` wrote; construction and verification run here again.

    Args:
        folder: The folder.
        provider: Another provider than the saved one. Its plans are then chosen anew.

    Raises:
        ArtifactError: The folder holds no artifact that this version reads.
        MissingProvider: The provider is not installed.
        PlanError: The one plan of the artifact does not fit this version's construction.
    """
    saved = read(Path(folder))
    chosen = registry().get(saved.provider) if provider is None else provider
    if isinstance(chosen, str):
        chosen = registry().get(chosen)
    same = chosen.name == saved.provider
    artifact = Artifact(
        saved.kernel,
        chosen,
        options=saved.options,
        target=saved.target if same else None,
        plan=saved.plan if same else None,
    )
    if same:
        artifact.remember(saved.tuned)
    return artifact
