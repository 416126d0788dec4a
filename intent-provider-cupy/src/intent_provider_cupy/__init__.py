"""CuPy provider of Intent: verified GPU programs become CUDA C++, built by NVRTC, launched or emulated.

The provider is found through the entry-point group ``intent.providers``; importing this package touches
neither CuPy nor NVRTC nor a driver.
"""

from __future__ import annotations
