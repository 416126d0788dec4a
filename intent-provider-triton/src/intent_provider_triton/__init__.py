"""Triton provider of Intent: verified GPU programs become Triton source, built, launched or emulated.

The provider is found through the entry-point group ``intent.providers``; importing this package touches
neither Triton nor a driver.
"""

from __future__ import annotations
