"""What a provider is, what it can do, and how the installed ones are found."""

from intent.provider.capabilities import Capabilities
from intent.provider.protocol import Binary, BoundView, Invocation, Launcher, Provider, Source

__all__ = ["Binary", "BoundView", "Capabilities", "Invocation", "Launcher", "Provider", "Source"]
