from __future__ import annotations

import intent.physical as ph
from intent.physical.expression import Expressions
from intent.physical.text import print_program
from intent.physical.walk import walk
from intent.types.extent import const

EXPECTED = """\
program row_sum
  view x: f32[M, N] in
  view y: f32[M] out
  dims rows:4 cols:8
  segment 0: rows = M / 4, length ceildiv(M, 4), offset 0
    ^(%1:program index) {
      %2 index = constant value=4
      %3 index = constant value=8
      %4 index = constant value=0
      %5 index = pointwise fn=mul operands=(%1:program, %2)
      %6 index{rows:4} = lane dim=rows:4
      %7:rows index{rows:4} = pointwise fn=add operands=(%5, %6)
      %8 index = launch_value extent=<M>
      %9 index = launch_value extent=<N>
      %10 bool{rows:4} = pointwise fn=lt operands=(%7:rows, %8)
      %11 f32 = constant value=0.0
      %12 f32{rows:4} = broadcast value=%11
      %22:total f32{rows:4} = loop begin=%4 end=%9 step=%3 inits=(%12) body=^(%13:c index, %14:acc f32{rows:4}) {
        %15 index{cols:8} = lane dim=cols:8
        %16:cols index{cols:8} = pointwise fn=add operands=(%13:c, %15)
        %17 bool{cols:8} = pointwise fn=lt operands=(%16:cols, %9)
        %18 bool{rows:4, cols:8} = pointwise fn=and operands=(%10, %17)
        %19:x f32{rows:4, cols:8} = load source=@x coordinates=(%7:rows, %16:cols) valid=%18 fill=%11 \
proofs=(guard, guard)
        %20 f32{rows:4} = reduce operands=(%19:x) dims=(cols:8) kind=sum
        %21 f32{rows:4} = pointwise fn=add operands=(%14:acc, %20)
        yield %21
      }
      store target=@y coordinates=(%7:rows) value=%22:total valid=%10 dims=(rows:4) proofs=(guard)
    }
"""


def test_a_program_reads_as_text(program):
    assert print_program(program) == EXPECTED
    assert str(program) == EXPECTED


def test_coordinates_read_as_arithmetic(program):
    expressions = Expressions(program)
    load = next(op for op in walk(program.segments[0].body) if isinstance(op, ph.Load))
    assert [expressions.text(c) for c in load.coordinates] == ["rows", "cols"]
    assert expressions.text(load.valid) == "rows < M and cols < N"
    assert expressions.definitions == {"rows": "program * 4 + [0..3]", "cols": "c + [0..7]"}


def test_two_values_of_one_name_are_told_apart(program, builder):
    first, second = (builder.index(k) for k in (3, 4))
    a, b = builder.point("add", first, second, name="k"), builder.point("mul", first, second, name="k")
    total = builder.point("sub", b, a)
    segment = ph.Segment(
        group=0, axes=(), length=const(1), offset=const(0), body=ph.Region(args=(), ops=tuple(builder.ops))
    )
    expressions = Expressions(ph.Program(name="p", params=(), segments=(segment,)))
    assert expressions.text(total) == f"k - k{a.id}"
    assert expressions.definitions == {"k": "3 * 4", f"k{a.id}": "3 + 4"}
