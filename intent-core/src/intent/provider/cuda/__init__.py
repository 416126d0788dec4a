"""What providers whose kernels the CUDA driver launches have in common; importing it touches no driver."""

from __future__ import annotations
