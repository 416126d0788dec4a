"""Printed kernels parse back equal, whatever they hold."""

import math

import pytest

from intent.diagnostics import TextError
from intent.kir import (
    Assumption,
    Broadcast,
    Buffer,
    BufferAlloc,
    Condition,
    Constant,
    Contract,
    DomainInfo,
    For,
    If,
    Load,
    Pointwise,
    Reduce,
    RegionFold,
    Relation,
    ScalarParam,
    Store,
    View,
)
from intent.kir.parse import parse_kernel
from intent.kir.text import print_kernel
from intent.kir.verify import verify
from intent.types.dtypes import BF16, BOOL, F32, I32, INDEX
from intent.types.extent import broadcast, ceildiv, const, dyn, floordiv, maximum, minimum, scalar, symbol

M, N = symbol("M"), symbol("N")


def round_trip(kernel):
    text = print_kernel(kernel)
    assert parse_kernel(text) == kernel
    assert print_kernel(parse_kernel(text)) == text
    return text


def row_sum(kit):
    x = kit.view("x", F32, M, N)
    y = kit.view("y", F32, M, mode="out")
    rows, columns = kit.iota(M), kit.iota(N)
    loaded = kit.op(Load, kit.value(F32, M, N, name="row"), source=x, relation=kit.relation(rows, columns))
    total = kit.op(Reduce, kit.value(F32, M, name="total"), operands=(loaded,), axes=(1,), kind="sum")
    kit.op(Store, target=y, relation=kit.relation(rows), value=total)
    return kit.kernel()


def test_text_of_a_small_kernel(kit):
    kernel = row_sum(kit)
    verify(kernel)
    assert round_trip(kernel) == (
        "kernel k\n"
        "  view x: f32[M, N] in\n"
        "  view y: f32[M] out\n"
        "  domain 0 axis\n"
        "  domain 1 axis\n"
        "  body ^17() {\n"
        "    %0 index = extent_value #1 extent=<0>\n"
        "    %2 index = extent_value #3 extent=<1>\n"
        "    %4 index[M] = iota #5 begin=%0 step=%2 domain=0\n"
        "    %6 index = extent_value #7 extent=<0>\n"
        "    %8 index = extent_value #9 extent=<1>\n"
        "    %10 index[N] = iota #11 begin=%6 step=%8 domain=1\n"
        "    %12:row f32[M, N] = load #13 source=@x relation=[%4(0), %10(1)]\n"
        "    %14:total f32[M] = reduce #15 operands=(%12:row) axes=(1) kind=sum\n"
        "    store #16 target=@y relation=[%4(0)] value=%14:total\n"
        "  }\n"
    )


@pytest.mark.parametrize(
    "extent",
    [
        const(0),
        const(-3),
        M * N - N + 2,
        -M,
        floordiv(M * N + 3, const(4)) - 1,
        ceildiv(M, 128) * ceildiv(N, 64),
        (M + 1) % 2,
        maximum(0, M - scalar("n")),
        minimum(M, N * N),
        broadcast(M, N),
        dyn(7) * 2 + M,
    ],
    ids=str,
)
def test_extents(kit, extent):
    kit.extent(extent)
    round_trip(kit.kernel())


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(F32, -0.0), (F32, math.inf), (F32, -math.inf), (F32, math.nan), (F32, 1e-30), (F32, 1e300), (F32, 2.0),
     (I32, -5), (BOOL, True), (BOOL, False)],
)  # fmt: skip
def test_constants_keep_their_python_type_and_sign(kit, dtype, value):
    kit.constant(dtype, value)
    text = print_kernel(kit.kernel())
    read = parse_kernel(text).body.ops[0].value
    assert type(read) is type(value)
    assert repr(read) == repr(value)


def test_header_lines(kit):
    kit.params.append(
        View(name="x", dtype=BF16, shape=(M, const(3)), mode="inout", strides=(None, 1, "S"), alias="g")
    )
    kit.params.append(View(name="class", dtype=F32, shape=(), mode="out", noalias=True))
    kit.scalar("scale", F32)
    kit.domains += [DomainInfo(id=0, name="rows"), DomainInfo(id=4, name="the window", parent=0)]
    kit.conditions.append(Condition(kind="equal_or_one", lhs=M, rhs=N, reason='broadcasting in "+"'))
    kernel = kit.kernel(
        assumptions=(Assumption(kind="unique", detail="the rows of y"),),
        constexprs=(("CAUSAL", "True"), ("KIND", "Kind.NONE")),
    )
    text = round_trip(kernel)
    assert "view x: bf16[M, 3] inout strides=(None, 1, S) alias=g" in text
    assert 'condition equal_or_one <M> <N> "broadcasting in \\"+\\""' in text


def test_nested_regions_and_optional_fields(kit):
    x, cond = kit.view("x", F32, M, mode="inout"), kit.scalar("cond", BOOL)
    begin, end, step = kit.extent(0), kit.extent(M), kit.extent(1)
    init = kit.constant(F32, 0.0)
    kit.domains.append(DomainInfo(id=0, name="i"))

    def body(point, carry):
        one = kit.op(Load, kit.value(F32), source=x, relation=kit.relation(point))
        then = kit.region(body=lambda: (kit.op(Pointwise, kit.value(F32), fn="add", operands=(carry, one)),))
        return (
            kit.op(If, kit.value(F32), condition=cond, then=then, orelse=kit.region(body=lambda: (carry,))),
        )

    loop = kit.region(kit.value(INDEX, name="i"), kit.value(F32, name="carry"), body=body)
    kit.op(For, kit.value(F32), begin=begin, end=end, step=step, inits=(init,), body=loop, domain=0)
    buffer = Buffer(id=2, name="tile", dtype=F32, shape=(const(4),))
    kit.op(BufferAlloc, buffer=buffer, init=init)
    kernel = kit.kernel()
    verify(kernel)
    text = round_trip(kernel)
    assert "buffer !2 tile: f32[4]" in text
    assert "buffer_alloc" in text


def test_region_fold(kit):
    x = kit.view("x", F32, M)
    value = kit.op(Load, kit.value(F32, M), source=x, relation=kit.relation(kit.iota(M)))
    zero = kit.constant(F32, 0.0)
    cut = dyn(kit.fresh())
    summarize = kit.region(
        kit.value(F32, cut),
        body=lambda s: (kit.op(Reduce, kit.value(F32), operands=(s,), axes=(0,), kind="sum"),),
    )
    combine = kit.region(
        kit.value(F32),
        kit.value(F32),
        body=lambda a, b: (kit.op(Pointwise, kit.value(F32), fn="add", operands=(a, b)),),
    )
    kit.op(
        RegionFold,
        kit.value(F32),
        source=(value,),
        axis=0,
        slice_extent=cut,
        identity=(zero,),
        summarize=summarize,
        combine=combine,
    )
    kernel = kit.kernel()
    verify(kernel)
    round_trip(kernel)


def test_names_do_not_take_part_in_equality_but_are_kept(kit):
    kit.op(Constant, kit.value(F32, name="a b.c"), value=1.0)
    kernel = kit.kernel()
    text = round_trip(kernel)
    assert '%0:"a b.c" f32' in text
    assert parse_kernel(text).body.ops[0].result.name == "a b.c"
    assert parse_kernel(text.replace(':"a b.c"', "")) == kernel


def test_contract_pairs_and_relations_of_rank_two_coordinates(kit):
    a = kit.op(Broadcast, kit.value(F32, M, N), value=kit.constant(F32, 1.0), axes=())
    kit.op(Contract, kit.value(F32, M, M), lhs=a, rhs=a, reduce=((1, 1),), batch=())
    index = kit.op(Broadcast, kit.value(INDEX, M, N), value=kit.constant(INDEX, 0), axes=())
    x = kit.view("x", F32, M)
    kit.op(Load, kit.value(F32, M, N), source=x, relation=Relation(coordinates=(index,), axes=((0, 1),)))
    text = round_trip(kit.kernel())
    assert "reduce=((1, 1))" in text
    assert "(0, 1)]" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "'kernel'"),
        ("kernel k\n  nonsense", "'body' or a line of the header"),
        ("kernel k\n  body ^0() {\n    %1 f32 = frobnicate #0\n  }", "an operation"),
        ("kernel k\n  body ^0() {\n    %1 f33 = constant #0 value=1.0\n  }", "a dtype"),
        ("kernel k\n  body ^0() {\n    %1 f32 = cast #0 value=%9\n  }", "a value defined above, not %9,"),
        ("kernel k\n  body ^0() {\n  } }", "the end"),
        ("kernel k ~", "a token"),
    ],
)
def test_text_that_is_no_kernel(text, expected):
    with pytest.raises(TextError) as error:
        parse_kernel(text)
    assert expected in error.value.seen.values()


def test_the_line_of_a_text_error():
    with pytest.raises(TextError, match="line 3 of the kernel's text"):
        parse_kernel("kernel k\n  body ^0() {\n    %1 f33 = constant #0 value=1.0\n  }")


def test_scalar_parameters_are_body_arguments(kit):
    scale = kit.scalar("scale", F32)
    kernel = kit.kernel()
    assert kernel.body.args == (scale,)
    assert round_trip(kernel).count("%0:scale f32") == 2
    assert isinstance(parse_kernel(print_kernel(kernel)).params[0], ScalarParam)
