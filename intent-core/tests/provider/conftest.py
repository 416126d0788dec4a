"""Third-party provider packages, installed for a test: a module and a dist-info folder on the path."""

from __future__ import annotations

import sys
import textwrap

import pytest

GOOD = """
from intent.provider import Capabilities, hookimpl

class Toy:
    name = {provider!r}
    version = "9.1"
    capabilities = Capabilities(dtypes=frozenset({{"f32"}}), needs_gpu={needs_gpu})
    def knobs(self): return {{}}
    def grid(self, length): return (length,)
    def serialize(self, program): raise NotImplementedError
    def build(self, source, target): raise NotImplementedError
    def load(self, source, device): raise NotImplementedError
    def emulate(self, source): raise NotImplementedError
    def available(self): return {reason!r}

class Plugin:
    @hookimpl
    def intent_provider(self): return Toy()

plugin = Plugin()
"""


def good(provider: str, *, needs_gpu: bool = False, reason: str | None = None) -> str:
    """The text of a plugin module that keeps the protocol."""
    return GOOD.format(provider=provider, needs_gpu=needs_gpu, reason=reason)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """``install(distribution, provider, text)`` installs a package whose plugin module has this text."""

    def installed(distribution: str, provider: str, text: str) -> str:
        module = f"{distribution.replace('-', '_')}_plugin"
        place = tmp_path / distribution
        info = place / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (place / f"{module}.py").write_text(textwrap.dedent(text))
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[intent.providers]\n{provider} = {module}:plugin\n")
        monkeypatch.syspath_prepend(str(place))
        return module

    yield installed
    for name in [name for name in sys.modules if name.endswith("_plugin") and name.startswith("toy_")]:
        del sys.modules[name]


@pytest.fixture
def plugin_text():
    """The text of a plugin module that keeps the protocol."""
    return good
