"""Reading annotations: every form, text and quoted annotations, and every way to get them wrong."""
# No "from __future__ import annotations" here: most annotations of this file are evaluated objects.

import importlib.util
import textwrap

import pytest

import intent.language as I
from intent.diagnostics import (
    AnnotationError,
    ConstexprMissing,
    ConstexprUnknown,
    ConstexprWrongType,
    NotADefinition,
    RemovedConstruct,
    UnknownIntrinsic,
    UnknownKeyword,
)
from intent.language import resolve_signature
from intent.language.definitions import fn, kernel

ROWS = 4


class Mode(I.Enum):
    A = 0
    B = 1


@kernel
def every(
    x: I.In[I.f16, ("M", ROWS + 1), I.constraints(strides=(None, 1), alias="g")],
    s: I.InOut[I.bool, ()],
    y: I.Out[I.f8e4m3fn, ("M", "N"), I.constraints(strides=("S", 1))],
    eps: I.f32,
    n: I.index,
    MODE: I.Constexpr[Mode],
    GROUPS: I.Constexpr[int] = 4,
    SCALE: I.Constexpr[float] = 2,
) -> None: ...


def author(tmp_path, text, name="author"):
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_views():
    x, s, y = every.signature.views
    assert (x.name, x.kind, x.mode, x.dtype, x.shape) == ("x", "view", "in", I.f16, ("M", 5))
    assert (x.constraints.strides, x.constraints.alias, x.constraints.noalias) == ((None, 1), "g", False)
    assert (s.mode, s.dtype, s.shape, s.constraints) == ("inout", I.bool, (), None)
    assert (y.mode, y.writable, x.writable, s.writable) == ("out", True, False, True)


def test_scalars_and_constexprs():
    eps, n = every.signature.scalars
    assert (eps.dtype, n.dtype) == (I.f32, I.index)
    mode, groups, scale = every.signature.constexprs
    assert (mode.constexpr_type, groups.constexpr_type, scale.constexpr_type) == (Mode, int, float)
    assert groups.default == 4
    assert (scale.default, type(scale.default)) == (2.0, float)
    assert repr(mode.default) == "MISSING"


def test_groups_of_parameters():
    signature = every.signature
    assert signature.name == "every"
    assert [p.name for p in signature.runtime] == ["x", "s", "y", "eps", "n"]
    assert [p.name for p in signature.outs] == ["y"]
    assert signature.symbols == ("M", "N", "S")
    assert signature["eps"] is signature.scalars[0]


def test_a_signature_is_resolved_once():
    assert every.signature is every.signature
    assert resolve_signature(every) == every.signature


def test_spans_point_at_annotations():
    span = every.signature["eps"].span
    assert span.source[span.column : span.end_column] == "I.f32"


def test_constexprs_are_bound_with_defaults():
    assert every.signature.bind_constexprs({"MODE": Mode.B}) == {"MODE": Mode.B, "GROUPS": 4, "SCALE": 2.0}
    with pytest.raises(ConstexprMissing) as caught:
        every.signature.bind_constexprs(None)
    assert "'MODE'" in caught.value.message
    with pytest.raises(ConstexprUnknown) as caught:
        every.signature.bind_constexprs({"MODE": Mode.A, "GROUP": 1})
    assert caught.value.fix == "did you mean GROUPS?"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GROUPS", True),
        ("GROUPS", 2.0),
        ("GROUPS", "4"),
        ("MODE", 0),
        ("MODE", "A"),
        ("SCALE", True),
        ("SCALE", None),
    ],
)
def test_constexprs_have_exact_types(name, value):
    with pytest.raises(ConstexprWrongType, match=name):
        every.signature.bind_constexprs({"MODE": Mode.A, name: value})


def test_annotations_as_text_are_evaluated_in_every_scope(tmp_path):
    module = author(
        tmp_path,
        """
        from __future__ import annotations
        import intent.language as I
        from intent.language.definitions import kernel

        ROWS = 8

        def make(columns):
            tiles = 3
            class Mode(I.Enum):
                A = 0
            @kernel
            def k(
                x: I.In[I.f32, (ROWS, columns, "N")],
                y: "I.Out[I.f32, (tiles,)]",
                M: I.Constexpr[Mode],
            ) -> None:
                y[0] = columns
            return k, Mode
        """,
    )
    k, mode = module.make(5)
    assert k.signature["x"].shape == (8, 5, "N")
    assert k.signature["y"].shape == (3,)
    assert k.signature["M"].constexpr_type is mode


def test_text_annotations_may_use_names_defined_later(tmp_path):
    module = author(
        tmp_path,
        """
        from __future__ import annotations
        import intent.language as I
        from intent.language.definitions import kernel

        @kernel
        def k(x: I.In[I.f32, (LATER,)]): ...

        LATER = 6
        """,
    )
    assert module.k.signature["x"].shape == (6,)


WRONG = {
    "x": "it has no annotation",
    "x: int": "'int' is a Python type",
    "x: 3": "not an annotation of the language",
    "x: I.In": "I.In needs a dtype and a shape",
    "x: I.In[I.f32]": "a view needs a dtype, a shape",
    "x: I.In[('N',), I.f32]": "the first item of a view is a dtype",
    "x: I.In[I.f32, 'N']": "the shape of a view is a tuple",
    "x: I.In[I.f32, 4]": "the shape of a view is a tuple",
    "x: I.In[I.f32, ('N', -1)]": "an extent cannot be negative",
    "x: I.In[I.f32, (2.0,)]": "2.0 is not an extent",
    "x: I.In[I.f32, (True,)]": "True is not an extent",
    "x: I.In[I.f32, ('2*N',)]": "'2*N' is not a symbol",
    "x: I.In[I.f32, ('N',), 'g']": "the third item of a view is I.constraints",
    "x: I.In[I.f32, ('N',), I.constraints(alias='g', noalias=True)]": "exclude each other",
    "x: I.In[I.f32, ('N',), I.constraints(strides=(1, 1))]": "one entry for each axis",
    "x: I.In[I.f32, ('N',), I.constraints(strides=1)]": "one entry for each axis",
    "x: I.Out[I.f32, ('N',), I.constraints(strides=(0,))]": "several written elements in one place",
    "x: I.In[I.f32, ('N',), I.constraints(strides=(1.0,))]": "1.0 is not a stride",
    "x: I.In[I.f32, ('N',), I.constraints(alias=1)]": "alias= names a group",
    "x: I.In[I.f32, ('N',), I.constraints(), 1]": "a view needs a dtype, a shape",
    "x: I.Constexpr": "I.Constexpr needs a type",
    "x: I.Constexpr[I.i32]": "not a run-time type",
    "x: I.Constexpr[list]": "not a run-time type",
    "x: I.Constexpr[Empty]": "has no members",
    "x: I.Constexpr[Twice]": "two names for one value: B",
    "x: I.f32 = 1.0": "cannot have a default",
    "*x: I.f32": "a kernel cannot take *x",
    "**x: I.f32": "a kernel cannot take **x",
    "x: undefined": "cannot be evaluated",
}


@pytest.mark.parametrize("parameter", WRONG)
def test_wrong_annotations_point_at_themselves(tmp_path, parameter):
    module = author(
        tmp_path,
        f"""
        from __future__ import annotations
        import intent.language as I
        from intent.language.definitions import kernel

        class Empty(I.Enum): ...
        class Twice(I.Enum):
            A = 0
            B = 0

        @kernel
        def k({parameter}): ...
        """,
    )
    with pytest.raises(AnnotationError) as caught:
        module.k.signature  # noqa: B018
    error = caught.value
    assert WRONG[parameter] in error.message
    assert error.span.line == 12
    assert error.span.source == f"def k({parameter}): ..."
    assert error.span.file.endswith("author.py")
    assert error.fix


@pytest.mark.parametrize(
    ("annotation", "error"),
    [("I.f23", UnknownIntrinsic), ("I.float32", RemovedConstruct), ("I.In[I.tile, ()]", RemovedConstruct)],
)
def test_unknown_names_in_annotations_keep_their_suggestion(tmp_path, annotation, error):
    module = author(
        tmp_path,
        f"""
        from __future__ import annotations
        import intent.language as I
        from intent.language.definitions import kernel

        @kernel
        def k(x: {annotation}): ...
        """,
    )
    with pytest.raises(error) as caught:
        module.k.signature  # noqa: B018
    assert caught.value.span.line == 7
    assert caught.value.fix


def test_a_default_of_the_wrong_type_is_an_error():
    @kernel
    def k(G: I.Constexpr[int] = 2.5): ...

    with pytest.raises(ConstexprWrongType) as caught:
        k.signature  # noqa: B018
    assert caught.value.span is not None


def test_a_kernel_returns_nothing():
    @kernel
    def k(x: I.In[I.f32, ()]) -> I.f32: ...

    with pytest.raises(AnnotationError, match="returns nothing"):
        k.signature  # noqa: B018


def test_a_helper_has_no_kernel_signature():
    with pytest.raises(NotADefinition):
        resolve_signature(len)

    @fn
    def f(x): ...

    with pytest.raises(NotADefinition):
        resolve_signature(f)


def test_views_and_constraints_print_as_written():
    annotation = I.Out[I.f32, ("N",), I.constraints(strides=(1,), alias="g")]
    assert repr(annotation) == "I.Out[f32, ('N',), I.constraints(strides=(1,), alias='g')]"
    assert repr(I.Constexpr[int]) == "I.Constexpr[int]"
    assert repr(I.constraints(noalias=True)) == "I.constraints(noalias=True)"


def test_constraints_and_decorators_take_no_other_options():
    with pytest.raises(UnknownKeyword, match="layout") as found:
        I.constraints(layout="row_major")
    assert found.value.span is not None
    assert "layout" in found.value.span.source
    for decorator in (kernel, fn):
        with pytest.raises(UnknownKeyword, match="num_warps") as found:
            decorator(num_warps=4)
        assert found.value.span is not None
        assert "num_warps" in found.value.span.source


def test_the_wrong_constexpr_is_blamed_on_its_parameter():
    @kernel
    def k(y: I.Out[I.f32, ("N",)], n: I.Constexpr[int]):
        y[...] = n

    with pytest.raises(ConstexprWrongType) as found:
        k.signature.bind_constexprs({"n": 1.5})
    assert found.value.span is not None
    assert "def k(" in found.value.span.source
