"""The decorators: what they keep, sources in every place Python code can come from, captures."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import linecache
import os
import pickle
import subprocess
import sys
import textwrap
from copy import deepcopy
from pathlib import Path

import pytest

import intent.language as I
from intent.diagnostics import HelperCalledDirectly, KernelCalledDirectly, NotADefinition, SourceUnavailable
from intent.language.definitions import FnDefinition, KernelDefinition, fn, kernel

SCALE = 2
TABLE = [1, 2]


@kernel
def copy(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    """Copy."""
    y[:] = x[:] * SCALE + len(TABLE)
    later(x)


@fn
def later(x, *, factor=1):
    return x * factor


def load(folder: Path, text: str, name: str = "author"):
    """Write a module and import it."""
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def execute(text: str, filename: str, *, register: bool):
    text = textwrap.dedent(text)
    if register:
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope = {"I": I, "kernel": kernel, "fn": fn}
    exec(compile(text, filename, "exec"), scope)
    return scope


def test_a_kernel_looks_like_its_function():
    assert isinstance(copy, KernelDefinition)
    assert copy.__name__ == copy.name == "copy"
    assert copy.__doc__ == "Copy."
    assert copy.__wrapped__.__name__ == "copy"
    assert copy.__module__ == __name__
    assert "copy" in repr(copy)


def test_calling_a_kernel_says_to_compile():
    with pytest.raises(KernelCalledDirectly) as caught:
        copy(1, 2)
    assert "intent.compile(copy)" in caught.value.fix


def test_calling_a_helper_says_where_to_call_it():
    with pytest.raises(HelperCalledDirectly, match="'later'"):
        later(1)


@pytest.mark.parametrize("thing", [len, lambda x: x, KernelDefinition, 3])
def test_only_plain_functions_can_be_decorated(thing):
    with pytest.raises(NotADefinition):
        kernel(thing)
    with pytest.raises(NotADefinition):
        fn(thing)


def test_the_source_is_the_whole_definition():
    assert copy.source.text.startswith("@kernel\ndef copy(")
    assert copy.source.text.rstrip().endswith("later(x)")
    assert copy.source.file == __file__
    assert isinstance(copy.source.tree, ast.FunctionDef)


def test_spans_point_into_the_file():
    statement = copy.source.tree.body[1]
    span = copy.source.span(statement)
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[span.line - 1]
    assert span.source == line
    assert line[span.column : span.end_column] == "y[:] = x[:] * SCALE + len(TABLE)"


def test_spans_count_characters_not_bytes(tmp_path):
    module = load(
        tmp_path,
        """
        from intent.language.definitions import fn

        @fn
        def f(x):
            größe = x; return größe + 1
        """,
    )
    returned = module.f.source.tree.body[1]
    span = module.f.source.span(returned.value)
    assert span.source[span.column : span.end_column] == "größe + 1"


def test_spans_of_several_lines_keep_all_lines(tmp_path):
    module = load(
        tmp_path,
        """
        from intent.language.definitions import fn

        @fn
        def f(x):
            return (
                x
            )
        """,
    )
    span = module.f.source.span(module.f.source.tree.body[0])
    assert (span.line, span.end_line) == (6, 8)
    assert span.source == "    return (\n        x\n    )"


def test_nested_functions_and_two_of_one_name_are_told_apart():
    def make(factor):
        @fn
        def f(x):
            return x * factor

        return f

    @fn
    def f(x):
        return x

    first = make(3)
    assert "x * factor" in first.source.text
    assert "x * factor" not in f.source.text
    assert first.captures["factor"] == 3
    assert make(4).captures["factor"] == 4


def test_executed_text_works_when_linecache_knows_it():
    text = """
        @fn
        def f(x):
            return x + 1
        """
    assert "x + 1" in execute(text, "<cell 7>", register=True)["f"].source.text
    with pytest.raises(SourceUnavailable, match="'g'"):
        execute(text.replace("f(x)", "g(x)"), "<cell 8>", register=False)["g"].source.tree  # noqa: B018


def test_a_file_edited_after_import_does_not_change_the_kernel(tmp_path):
    text = """
        from intent.language.definitions import fn

        @fn
        def f(x):
            return x + 1
        """
    module = load(tmp_path, text)
    path = tmp_path / "author.py"
    path.write_text(path.read_text(encoding="utf-8").replace("x + 1", "x + 2"), encoding="utf-8")
    os.utime(path, (1, 1))
    assert "x + 1" in module.f.source.text
    assert "x + 2" in load(tmp_path, text.replace("x + 1", "x + 2")).f.source.text


def test_constants_are_captured_at_decoration(tmp_path):
    module = load(
        tmp_path,
        """
        import enum
        from intent.language.definitions import fn
        import intent.language as I

        N = 8
        NAME = "n"
        class Mode(I.Enum):
            A = 0
        MODE = Mode.A

        @fn
        def f(x):
            return helper(x) + N + MODE + NAME + UNKNOWN

        @fn
        def helper(x):
            return x

        N = 9
        """,
    )
    captures = module.f.captures
    assert captures["N"] == 8
    assert captures["MODE"] is module.Mode.A
    assert captures["NAME"] == "n"
    assert isinstance(captures["helper"], FnDefinition)
    assert "UNKNOWN" not in captures
    with pytest.raises(KeyError):
        captures["UNKNOWN"]
    assert set(captures) == {"helper", "N", "MODE", "NAME"}
    assert len(captures) == 4


def test_other_captures_are_found_but_not_copied():
    assert copy.captures["TABLE"] is TABLE
    assert copy.captures["later"] is later
    assert copy.captures["len"] is len
    assert copy.captures["I"] is I


def test_a_closure_variable_assigned_later_is_found():
    @fn
    def f(x):
        return x * factor

    assert "factor" not in f.captures
    factor = 5
    assert f.captures["factor"] == 5


def test_an_attribute_name_is_not_a_capture():
    @fn
    def f(x):
        return x.TABLE

    assert "TABLE" not in set(f.captures)


def test_definitions_are_copied_and_pickled_by_name(tmp_path, monkeypatch):
    (tmp_path / "author_pickle.py").write_text(Path(__file__).read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("author_pickle")
    assert pickle.loads(pickle.dumps(module.copy)) is module.copy  # noqa: S301
    assert deepcopy(copy) is copy


def test_helpers_bind_like_python():
    assert later.bind(["x"]) == {"x": "x", "factor": 1}
    assert later.bind(["x"], {"factor": 2}) == {"x": "x", "factor": 2}


def test_importing_the_language_touches_no_driver_and_no_provider():
    code = (
        "import sys, intent.language;"
        "print(sorted(m.split('.')[0] for m in sys.modules"
        " if m.split('.')[0] in {'torch','triton','cupy','cuda','pluggy','z3','intent_provider_triton'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
