"""Runs emitted cuTile text on the CPU: a strict stand-in for ``cuda.tile``, computed by numpy.

It is this project's reading of the documented semantics, kept strict on purpose: tiles have power-of-two shapes,
dtypes mix only where the text may rely on it, loop carries keep their type and shape, and every active lane must hit
the array it was aimed at. Whether the real front end takes the text is checked separately, by its typed IR.
"""

from __future__ import annotations

from intent_provider_cutile.emulate.launcher import EmulatedLauncher

__all__ = ["EmulatedLauncher"]
