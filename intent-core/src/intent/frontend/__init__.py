"""Python source to KIR: scopes, typing, helpers and control; one file per family of intrinsics."""

from intent.frontend.lower import lower

__all__ = ["lower"]
