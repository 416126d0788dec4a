"""The pluggy hook that a provider's package implements.

A package declares an entry point of group ``intent.providers`` whose *name* is the provider's name and whose
*object* is a pluggy plugin: a module or an instance with one hook implementation. ::

    # pyproject.toml:  [project.entry-points."intent.providers"]  mine = "my_package.plugin:plugin"

    from intent.provider import hookimpl

    class Plugin:
        @hookimpl
        def intent_provider(self) -> Provider:
            return MyProvider()

    plugin = Plugin()

The name is known without importing the package, so importing ``intent`` and listing names import no toolkit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pluggy

if TYPE_CHECKING:
    from intent.provider.protocol import Provider

__all__ = ["ENTRY_POINT_GROUP", "hookimpl", "hookspec", "intent_provider"]

ENTRY_POINT_GROUP: Final = "intent.providers"

hookspec: Final = pluggy.HookspecMarker("intent")
hookimpl: Final = pluggy.HookimplMarker("intent")


@hookspec
def intent_provider() -> Provider:  # type: ignore[empty-body]  # pluggy reads the signature only
    """The provider object; its ``name`` equals the entry point's. May import a toolkit, touches no driver."""
