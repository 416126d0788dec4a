"""Names of alias classes."""

from __future__ import annotations

from intent import kir


def alias_class(resource: kir.Resource) -> str:
    """The alias class of a resource: the declared group, or the resource itself."""
    if isinstance(resource, kir.Buffer):
        return f"buffer {resource.id}"
    return f"group {resource.alias}" if resource.alias else f"view {resource.name}"


def by_atomics(cls: str, what: str = "") -> str:
    """The mark of an alias class that atomics have written: those that do ``what`` need no fence after them.

    Every such mark begins with the one without ``what``.
    """
    return f"{cls} by atomic {what}"
