"""cuTile provider of Intent: verified GPU programs become ``@ct.kernel`` source, built, launched or emulated.

The provider is found through the entry-point group ``intent.providers``; importing this package touches
neither ``cuda.tile`` nor a driver.
"""

from __future__ import annotations
