"""The folder in which packages of the project keep what they can make again."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """Where files are kept: ``INTENT_CACHE_DIR``, else the user's cache folder. It may not exist yet."""
    chosen = os.environ.get("INTENT_CACHE_DIR")
    return Path(chosen) if chosen else user_cache_path("intent")
