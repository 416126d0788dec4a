"""What a provider is, what it can do, and how the installed ones are found."""

from intent.provider.capabilities import Capabilities
from intent.provider.hookspecs import hookimpl
from intent.provider.plan_table import ChainTile, Knobs, MatrixTile, PlanTable, Sized, Walk, settings
from intent.provider.protocol import Binary, BoundView, Invocation, Launcher, Provider, Source, is_provider
from intent.provider.registry import ProviderStatus, Registry, registry

__all__ = [
    "Binary", "BoundView", "Capabilities", "ChainTile", "Invocation", "Knobs", "Launcher", "MatrixTile", "PlanTable",
    "Provider", "ProviderStatus", "Registry", "Sized", "Source", "Walk", "hookimpl", "is_provider", "registry",
    "settings",
]  # fmt: skip
