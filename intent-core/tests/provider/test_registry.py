from __future__ import annotations

import subprocess
import sys

import pytest

from intent.diagnostics import BrokenProvider, DuplicateProvider, MissingProvider
from intent.provider import Registry
from intent.provider.registry import _installed


def fresh() -> Registry:
    return Registry(_installed)


def test_names_are_known_without_importing_the_package(install, plugin_text):
    module = install("toy-fine", "fine", plugin_text("fine"))
    assert "fine" in fresh().names()
    assert module not in sys.modules


def test_a_third_party_provider_is_loaded_by_name(install, plugin_text):
    install("toy-fine", "fine", plugin_text("fine"))
    registry = fresh()
    provider = registry.get("fine")
    assert (provider.name, provider.version) == ("fine", "9.1")
    assert registry.get("fine") is provider
    status = registry.status("fine")
    assert (status.state, status.version, status.detail) == ("ready", "9.1", "")
    assert "toy-fine" in status.source


def test_a_module_may_be_the_plugin_itself(install, plugin_text):
    text = (
        plugin_text("moduled")
        + "\nimport sys\nplugin = sys.modules[__name__]\n"
        + ("@hookimpl\ndef intent_provider(): return Toy()\n")
    )
    install("toy-moduled", "moduled", text)
    assert fresh().get("moduled").name == "moduled"


def test_a_missing_name_suggests_the_nearest(install, plugin_text):
    install("toy-fine", "finesse", plugin_text("finesse"))
    with pytest.raises(MissingProvider) as caught:
        fresh().get("finese")
    assert "did you mean finesse?" in str(caught.value)


def test_a_missing_name_near_nothing_says_how_to_install():
    with pytest.raises(MissingProvider) as caught:
        Registry(lambda: ()).get("quux")
    assert "pip install intent-provider-quux" in str(caught.value)


def test_two_packages_with_one_name(install, plugin_text):
    install("toy-one", "twice", plugin_text("twice"))
    install("toy-two", "twice", plugin_text("twice"))
    registry = fresh()
    assert registry.names().count("twice") == 1
    with pytest.raises(DuplicateProvider) as caught:
        registry.get("twice")
    assert "toy-one" in str(caught.value)
    assert "toy-two" in str(caught.value)
    assert registry.status("twice").state == "duplicate"


BROKEN = {
    "import": ("raise ImportError('libtoy.so is missing')", "libtoy.so is missing"),
    "no object": ("other = 1", "plugin"),
    "no hook": ("class P: pass\nplugin = P()", "implements the hook intent_provider 0 times"),
    "raises": (
        (
            "from intent.provider import hookimpl\n"
            "class P:\n    @hookimpl\n    def intent_provider(self): raise OSError('no licence')\nplugin = P()"
        ),
        "no licence",
    ),
    "protocol": (
        (
            "from intent.provider import hookimpl\nclass T: name = 'broken'\n"
            "class P:\n    @hookimpl\n    def intent_provider(self): return T()\nplugin = P()"
        ),
        "lacks version, capabilities",
    ),
    "unknown hook": (
        (
            "from intent.provider import hookimpl\n"
            "class P:\n    @hookimpl\n    def intent_provide(self): return 1\nplugin = P()"
        ),
        "intent_provide",
    ),
}


@pytest.mark.parametrize("text, cause", BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_is_reported_when_asked_for(install, plugin_text, text, cause):
    install("toy-broken", "broken", text)
    install("toy-fine", "fine", plugin_text("fine"))
    registry = fresh()
    assert "broken" in registry.names()
    with pytest.raises(BrokenProvider) as caught:
        registry.get("broken")
    assert cause in str(caught.value)
    assert registry.status("broken").state == "broken"
    assert cause in registry.status("broken").detail
    assert registry.get("fine").name == "fine"


def test_a_provider_with_another_name_than_its_entry_point(install, plugin_text):
    install("toy-alias", "alias", plugin_text("somebody"))
    with pytest.raises(BrokenProvider, match="calls itself 'somebody'"):
        fresh().get("alias")


def test_capabilities_of_another_type(install, plugin_text):
    install(
        "toy-odd",
        "odd",
        plugin_text("odd").replace("plugin = Plugin()", "Toy.capabilities = {}\nplugin = Plugin()"),
    )
    with pytest.raises(BrokenProvider, match="not a Capabilities"):
        fresh().get("odd")


def only(*names: str) -> Registry:
    return Registry(lambda: [e for e in _installed() if e.name in names])


@pytest.fixture
def three(install, plugin_text, monkeypatch):
    monkeypatch.delenv("INTENT_EXECUTION", raising=False)
    install("toy-cpu", "acpu", plugin_text("acpu"))
    install("toy-gpu", "gpu", plugin_text("gpu", needs_gpu=True))
    install("toy-away", "away", plugin_text("away", needs_gpu=True, reason="there is no device"))
    install("toy-bad", "bad", "raise RuntimeError('bad')")


@pytest.mark.usefixtures("three")
def test_the_default_is_a_gpu_provider_that_can_launch():
    assert only("acpu", "gpu", "away", "bad").default().name == "gpu"


@pytest.mark.usefixtures("three")
def test_of_several_the_preferred_one_is_the_default(install, plugin_text):
    text = plugin_text("zgpu", needs_gpu=True).replace("needs_gpu=True", "needs_gpu=True, preference=1")
    install("toy-zgpu", "zgpu", text)
    assert only("acpu", "gpu", "zgpu").default().name == "zgpu"


@pytest.mark.usefixtures("three")
def test_without_a_device_the_default_needs_no_gpu():
    assert only("acpu", "away", "bad").default().name == "acpu"
    assert only("away").default().name == "away"


@pytest.mark.usefixtures("three")
def test_emulation_prefers_a_gpu_provider_without_a_device(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")
    assert only("acpu", "away", "bad").default().name == "away"


@pytest.mark.usefixtures("three")
def test_no_default_when_every_provider_is_broken():
    with pytest.raises(MissingProvider):
        only("bad").default()


@pytest.mark.usefixtures("three")
def test_status_says_why_no_launch_is_possible():
    status = only("away").status("away")
    assert (status.state, status.detail) == ("no device", "there is no device")


QUIET = """
import sys
import intent, intent.language
from intent.provider import registry
intent.providers(); registry().names()
loaded = [m for m in sys.modules if m.split(".")[0] in
          ("torch", "triton", "cupy", "cuda", "intent_provider_triton") or m.startswith("intent.reference")]
print(",".join(loaded))
"""


def test_importing_intent_imports_no_provider_and_no_gpu_library():
    done = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
