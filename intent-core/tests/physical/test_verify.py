"""Every rule accepts a legal program and rejects one that breaks exactly it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent.physical as ph
from intent.diagnostics import VerificationError
from intent.kir.value import Condition
from intent.physical.verify import RULES, problems, verify
from intent.types import dtypes
from intent.types.extent import const, dyn, scalar, symbol

M = symbol("M")
ROWS, COLS, EXTRA = ph.Dim("rows", 4), ph.Dim("cols", 8), ph.Dim("extra", 2)
SCALAR = ph.Fragment(id=900, dtype=dtypes.F32)
TRUE = ph.Fragment(id=901, dtype=dtypes.BOOL)
INDEX = ph.Fragment(id=902, dtype=dtypes.INDEX)
OTHER = ph.Fragment(id=904, dtype=dtypes.INDEX, dims=(ROWS,))
LANE = ph.Lane(id=954, results=(OTHER,), dim=ROWS)


FOUR = (const(4),)


def on(node, change, **test):
    """A change of the operations of one class (whose fields equal ``test``), others stay."""

    def apply(op):
        fits = isinstance(op, node) and all(getattr(op, k) == v for k, v in test.items())
        return change(op) if fits else None

    return apply


def constant(fragment, value):
    return ph.Constant(id=fragment.id, results=(fragment,), value=value)


def before(extra, node):
    """Put operations in front of those of one class."""
    return on(node, lambda op: (*extra, op))


def retyped(op, dtype):
    return replace(op, results=(replace(op.result, dtype=dtype),))


def redimmed(op, dims):
    return replace(op, results=(replace(op.result, dims=dims),))


def segment(program, **changes):
    return replace(program, segments=(replace(program.segments[0], **changes),))


def buffer(storage="registers", scope="program", shape=FOUR, number=7):
    return ph.Buffer(id=number, name="held", dtype=dtypes.F32, shape=shape, scope=scope, storage=storage)


SHARED = buffer("shared")


def alloc(held):
    return ph.BufferAlloc(id=950, buffer=held)


def write(held):
    return ph.Store(id=951, target=held, coordinates=(INDEX,), value=SCALAR, dims=(), proofs=(ph.STATIC,))


def read(held, at=INDEX):
    result = ph.Fragment(id=952, dtype=held.dtype, dims=at.dims)
    return ph.Load(id=953, results=(result,), source=held, coordinates=(at,), proofs=(ph.STATIC,))


USES = (constant(SCALAR, 1.0), constant(INDEX, 0))


def atomic(kind="add", operands=(SCALAR,), results=None, **fields):
    results = (ph.Fragment(id=960, dtype=dtypes.F32),) if results is None else results
    fields = {"dims": (), "proofs": (ph.STATIC,), **fields}
    target = ph.View(name="y", dtype=dtypes.F32, shape=(M,), mode="out")
    return ph.Atomic(
        id=961, results=results, target=target, coordinates=(INDEX,), kind=kind, operands=operands, **fields
    )


def combine(results=1, args=2, dims=()):
    arguments = tuple(ph.Fragment(id=970 + k, dtype=dtypes.F32, dims=dims) for k in range(args))
    return ph.Region(args=arguments, ops=(), yields=arguments[:results])


def generic(op, **changes):
    fields = {"kind": None, "combine": combine(), "identity": (SCALAR,)} | changes
    return (constant(SCALAR, 0.0), replace(op, **fields))


def contract(op, **changes):
    """A contraction of the loaded block with itself after the load."""
    x = op.result
    result = ph.Fragment(id=980, dtype=dtypes.F32, dims=changes.pop("result_dims", (ROWS,)))
    fields = {"lhs": x, "rhs": x, "dims": (COLS,), **changes}
    return (op, ph.Contract(id=981, results=(result,), **fields))


def branch(op, condition=TRUE, then=(), orelse=(), results=()):
    made = ph.If(
        id=990,
        results=results,
        condition=condition,
        then=ph.Region(args=(), ops=(), yields=then),
        orelse=ph.Region(args=(), ops=(), yields=orelse),
    )
    return (constant(TRUE, True), constant(SCALAR, 1.0), made, op)


def narrowed(loop, side, bound, tests=None):
    """The loop with a narrower range by its comparison of columns."""
    (test,) = (op.result for op in loop.body.ops if isinstance(op, ph.Pointwise) and op.fn == "lt")
    why = ph.Narrowed(side=side, bound=bound, tests=(test,) if tests is None else tests)
    return replace(loop, narrowed=(why,))


CASES = {
    # rule: {what is broken: (program, rewrite) -> program}
    "ssa-dominance": {
        "use before definition": lambda p, r: r(p, on(ph.Store, lambda o: replace(o, value=SCALAR))),
        "use of an inner value outside": lambda p, r: r(
            p,
            on(
                ph.Store,
                lambda o: replace(o, value=next(x for x in walk(p) if isinstance(x, ph.Reduce)).result),
            ),
        ),
        "defined twice": lambda p, r: r(
            p, on(ph.Load, lambda o: (constant(SCALAR, 1.0), constant(SCALAR, 1.0), o))
        ),
        "another type than the definition": lambda p, r: r(
            p, on(ph.Store, lambda o: replace(o, value=replace(o.value, name="t", dtype=dtypes.F32, dims=())))
        ),
        "a combine that captures": lambda p, r: r(
            p, on(ph.Reduce, lambda o: generic(o, combine=replace(combine(), yields=(SCALAR,))))
        ),
    },
    "dim-order": {
        "unknown dim": lambda p, r: replace(p, dims=(ROWS,)),
        "wrong order": lambda p, r: replace(p, dims=(COLS, ROWS)),
        "empty dim": lambda p, r: replace(p, dims=(*p.dims, ph.Dim("none", 0))),
        "one name twice": lambda p, r: replace(p, dims=(*p.dims, ph.Dim("rows", 8))),
    },
    "value-dims": {
        "a lost dim": lambda p, r: r(p, on(ph.Pointwise, lambda o: redimmed(o, (ROWS,)), fn="and")),
        "a scalar with lanes": lambda p, r: r(p, on(ph.LaunchValue, lambda o: redimmed(o, (ROWS,)))),
        "a broadcast that drops": lambda p, r: r(
            p, on(ph.Lane, lambda o: (o, ph.Broadcast(id=1, results=(INDEX,), value=o.result)), dim=ROWS)
        ),
        "a rename to a present dim": lambda p, r: r(
            p,
            on(
                ph.Lane,
                lambda o: (
                    o,
                    ph.Rename(
                        id=1,
                        results=(replace(INDEX, dims=(ROWS,)),),
                        value=o.result,
                        source=ROWS,
                        target=ROWS,
                    ),
                ),
                dim=ROWS,
            ),
        ),
        "a rename of another size": lambda p, r: r(
            p,
            on(
                ph.Lane,
                lambda o: (
                    o,
                    ph.Rename(
                        id=1,
                        results=(replace(INDEX, dims=(COLS,)),),
                        value=o.result,
                        source=ROWS,
                        target=COLS,
                    ),
                ),
                dim=ROWS,
            ),
        ),
    },
    "dtypes": {
        "comparison gives bool": lambda p, r: r(
            p, on(ph.Pointwise, lambda o: retyped(o, dtypes.I32), fn="lt")
        ),
        "operands differ": lambda p, r: r(p, on(ph.LaunchValue, lambda o: retyped(o, dtypes.I64))),
        "unknown function": lambda p, r: r(
            p, on(ph.Pointwise, lambda o: replace(o, fn="frobnicate"), fn="mul")
        ),
        "arity": lambda p, r: r(p, on(ph.Pointwise, lambda o: replace(o, fn="neg"), fn="mul")),
        "function of floats": lambda p, r: r(p, on(ph.Pointwise, lambda o: replace(o, fn="pow"), fn="mul")),
        "constant out of range": lambda p, r: r(
            p, before((constant(replace(SCALAR, dtype=dtypes.U8), 256),), ph.Load)
        ),
        "bool for a number": lambda p, r: r(p, before((constant(SCALAR, True),), ph.Load)),
        "bitcast of another width": lambda p, r: r(
            p,
            on(
                ph.Reduce,
                lambda o: (
                    o,
                    ph.Bitcast(
                        id=1, results=(ph.Fragment(id=902, dtype=dtypes.F64, dims=(ROWS,)),), value=o.result
                    ),
                ),
            ),
        ),
    },
    "interface": {
        "view that is no parameter": lambda p, r: replace(p, params=p.params[:1]),
        "unbound symbol": lambda p, r: segment(p, axes=(replace(p.segments[0].axes[0], extent=symbol("Q")),)),
        "unbound scalar": lambda p, r: r(p, on(ph.LaunchValue, lambda o: replace(o, extent=scalar("k")))),
        "unknown argument": lambda p, r: r(
            p, before((ph.Argument(id=1, results=(SCALAR,), parameter="alpha"),), ph.Load)
        ),
        "argument of another dtype": lambda p, r: r(
            replace(p, params=(*p.params, ph.ScalarParam(name="alpha", dtype=dtypes.I32))),
            before((ph.Argument(id=1, results=(SCALAR,), parameter="alpha"),), ph.Load),
        ),
        "one name twice": lambda p, r: replace(p, params=(*p.params, p.params[0])),
    },
    "launch-visible": {
        "launch value": lambda p, r: r(p, on(ph.LaunchValue, lambda o: replace(o, extent=dyn(3)))),
        "segment axis": lambda p, r: segment(p, axes=(replace(p.segments[0].axes[0], extent=dyn(3)),)),
        "guard": lambda p, r: replace(p, guards=(ph.Guard(kind="at_most", extent=dyn(3), bound=4),)),
        "condition": lambda p, r: replace(
            p, conditions=(Condition(kind="equal", lhs=M, rhs=dyn(1), reason="a test"),)
        ),
    },
    "segment-offsets": {
        "a hole": lambda p, r: segment(p, offset=const(1)),
        "overlap": lambda p, r: replace(p, segments=(p.segments[0], replace(p.segments[0], group=1))),
        "one group twice": lambda p, r: replace(
            p, segments=(p.segments[0], replace(p.segments[0], offset=p.segments[0].length))
        ),
    },
    "segment-lengths": {
        "another length": lambda p, r: segment(p, length=M),
        "block of nothing": lambda p, r: segment(p, axes=(ph.SegmentAxis(label="rows", extent=M, block=0),)),
        "no local id": lambda p, r: segment(p, body=replace(p.segments[0].body, args=())),
        "yields": lambda p, r: segment(p, body=replace(p.segments[0].body, yields=p.segments[0].body.args)),
    },
    "uniform-control": {
        "bound of lanes": lambda p, r: r(
            p, on(ph.Loop, lambda o: replace(o, end=replace(o.end, dims=(ROWS,))))
        ),
        "bound of another dtype": lambda p, r: r(p, on(ph.Loop, lambda o: replace(o, step=SCALAR))),
        "condition that is a number": lambda p, r: r(p, on(ph.Loop, lambda o: branch(o, condition=SCALAR))),
        "while that yields two": lambda p, r: r(
            p,
            on(
                ph.Store,
                lambda o: (
                    o,
                    ph.While(
                        id=1, condition=ph.Region(args=(), ops=(), yields=()), body=ph.Region(args=(), ops=())
                    ),
                ),
            ),
        ),
    },
    "region-schema": {
        "a carry of another dtype": lambda p, r: r(
            p, on(ph.Loop, lambda o: replace(o, inits=(replace(o.inits[0], dtype=dtypes.F64),)))
        ),
        "a yield too few": lambda p, r: r(
            p, on(ph.Loop, lambda o: replace(o, body=replace(o.body, yields=())))
        ),
        "a result too many": lambda p, r: r(
            p, on(ph.Loop, lambda o: replace(o, results=(*o.results, SCALAR)))
        ),
        "no index": lambda p, r: r(
            p, on(ph.Loop, lambda o: replace(o, body=replace(o.body, args=o.body.args[1:])))
        ),
        "a branch that yields nothing": lambda p, r: r(
            p, on(ph.Loop, lambda o: branch(o, then=(SCALAR,), results=(replace(SCALAR, id=903),)))
        ),
    },
    "structured-schema": {
        "sum of two": lambda p, r: r(p, on(ph.Reduce, lambda o: replace(o, operands=o.operands * 2))),
        "any of floats": lambda p, r: r(p, on(ph.Reduce, lambda o: replace(o, kind="any"))),
        "neither kind nor combine": lambda p, r: r(p, on(ph.Reduce, lambda o: generic(o, combine=None))),
        "no identity": lambda p, r: r(p, on(ph.Reduce, lambda o: generic(o, identity=()))),
        "combine of one argument": lambda p, r: r(
            p, on(ph.Reduce, lambda o: generic(o, combine=combine(args=1)))
        ),
        "combine that yields nothing": lambda p, r: r(
            p, on(ph.Reduce, lambda o: generic(o, combine=combine(results=0)))
        ),
        "combine over lanes": lambda p, r: r(
            p, on(ph.Reduce, lambda o: generic(o, combine=combine(dims=(ROWS,))))
        ),
        "builtin with a combine": lambda p, r: r(p, on(ph.Reduce, lambda o: replace(o, combine=combine()))),
        "accumulator of another dtype": lambda p, r: r(
            p, on(ph.Load, lambda o: contract(o, accumulator=replace(SCALAR, dtype=dtypes.F64)))
        ),
    },
    "narrowed-range": {
        "an end beyond the bound": lambda p, r: r(p, on(ph.Loop, lambda o: narrowed(o, "end", o.begin))),
        "a begin before the bound": lambda p, r: r(p, on(ph.Loop, lambda o: narrowed(o, "begin", o.step))),
        "no reason": lambda p, r: r(p, on(ph.Loop, lambda o: narrowed(o, "end", o.end, tests=()))),
        "a reason that is no test": lambda p, r: r(
            p, on(ph.Loop, lambda o: narrowed(o, "end", o.end, tests=(o.body.args[1],)))
        ),
    },
    "structured-dims": {
        "a dim that is not there": lambda p, r: r(p, on(ph.Reduce, lambda o: replace(o, dims=(EXTRA,)))),
        "a dim kept": lambda p, r: r(p, on(ph.Reduce, lambda o: redimmed(o, (ROWS, COLS)))),
        "no dims": lambda p, r: r(p, on(ph.Reduce, lambda o: replace(o, dims=()))),
        "a summed dim of one side": lambda p, r: r(
            p, on(ph.Load, lambda o: contract(o, rhs=o.coordinates[0], dims=(COLS,)))
        ),
        "a contraction that keeps its dim": lambda p, r: r(
            p, on(ph.Load, lambda o: contract(o, result_dims=(ROWS, COLS)))
        ),
    },
    "access-complete": {
        "arity": lambda p, r: r(p, on(ph.Store, lambda o: replace(o, coordinates=o.coordinates * 2))),
        "coordinate of floats": lambda p, r: r(p, on(ph.Store, lambda o: replace(o, coordinates=(o.value,)))),
        "validity that is no bool": lambda p, r: r(
            p, on(ph.Store, lambda o: replace(o, valid=o.coordinates[0]))
        ),
        "value of another dtype": lambda p, r: r(
            p, on(ph.Store, lambda o: replace(o, value=o.coordinates[0]))
        ),
        "fill of another dtype": lambda p, r: r(p, on(ph.Load, lambda o: replace(o, fill=INDEX))),
        "fill with lanes of its own": lambda p, r: r(
            p, on(ph.Load, lambda o: replace(o, fill=replace(SCALAR, dims=(EXTRA,))))
        ),
        "a lost dim": lambda p, r: r(p, on(ph.Load, lambda o: redimmed(o, (ROWS,)))),
        "a write to an In": lambda p, r: r(
            p, on(ph.Store, lambda o: replace(o, target=replace(o.target, mode="in")))
        ),
    },
    "access-proof": {
        "no proof": lambda p, r: r(p, on(ph.Load, lambda o: replace(o, proofs=(ph.GUARD,)))),
        "a guard that nothing tests": lambda p, r: r(p, on(ph.Store, lambda o: replace(o, valid=None))),
        "an invented proof": lambda p, r: r(
            p, on(ph.Store, lambda o: replace(o, proofs=(ph.Proof(kind="hope"),)))
        ),
    },
    "store-cover": {
        "a lane that no coordinate mentions": lambda p, r: r(
            p, on(ph.Store, lambda o: replace(o, dims=(ROWS, COLS)))
        ),
        "an operand outside the dims": lambda p, r: r(p, on(ph.Store, lambda o: replace(o, dims=()))),
    },
    "atomic-schema": {
        "operands": lambda p, r: r(p, before((*USES, atomic(operands=())), ph.Store)),
        "old value": lambda p, r: r(p, before((*USES, atomic(results=(replace(INDEX, id=960),))), ph.Store)),
        "exchange without success": lambda p, r: r(
            p, before((*USES, atomic("compare_exchange", operands=(SCALAR, SCALAR))), ph.Store)
        ),
        "sharing of a view": lambda p, r: r(p, before((*USES, atomic(sharing="instance")), ph.Store)),
    },
    "buffer-allocation": {
        "not allocated": lambda p, r: r(p, before((*USES, write(buffer())), ph.Store)),
        "allocated later": lambda p, r: r(p, before((*USES, write(buffer()), alloc(buffer())), ph.Store)),
        "allocated in an inner scope": lambda p, r: r(
            r(p, before((alloc(buffer()),), ph.Load)), before((*USES, write(buffer())), ph.Store)
        ),
    },
    "buffer-storage": {
        "workspace that is not listed": lambda p, r: r(
            p, before((*USES, alloc(buffer("workspace")), write(buffer("workspace"))), ph.Store)
        ),
        "registers that are listed": lambda p, r: replace(p, workspace=(buffer(),)),
        "registers of unknown extent": lambda p, r: r(p, before((alloc(buffer(shape=(M,))),), ph.Store)),
        "one identity twice": lambda p, r: r(p, before((alloc(buffer()), alloc(buffer("shared"))), ph.Store)),
        "registers of the invocation": lambda p, r: r(
            p, before((alloc(buffer(scope="invocation")),), ph.Store)
        ),
    },
    "fenced": {  # more in test_fences.py
        "read after a write of another element": lambda p, r: r(
            p, before((*USES, LANE, alloc(SHARED), write(SHARED), read(SHARED, OTHER)), ph.Store)
        ),
    },
    "split-reduction": {  # more in test_shared.py
        "nobody counts those that arrive": lambda p, r: replace(
            p, segments=(replace(p.segments[0], parts=2),)
        ),
    },
    "buffer-first-write": {
        "read only": lambda p, r: r(
            p, before((constant(INDEX, 0), alloc(buffer()), read(buffer())), ph.Store)
        ),
    },
}


def walk(program):
    from intent.physical.walk import walk as each

    return [op for s in program.segments for op in each(s.body)]


def test_a_legal_program_has_no_problem(program):
    assert problems(program) == {}
    verify(program)


def test_every_rule_has_a_rejecting_case():
    assert set(CASES) == {name for name, rule in RULES.items() if not rule.needs_kernel}


@pytest.mark.parametrize(
    "rule, case",
    [(rule, case) for rule, cases in CASES.items() for case in cases],
    ids=lambda v: v.replace(" ", "-"),
)
def test_a_rule_rejects(program, rewrite, rule, case):
    broken = CASES[rule][case](program, rewrite)
    assert rule in problems(broken)
    with pytest.raises(VerificationError):
        verify(broken)


def test_buffers_and_atomics_that_are_whole_are_accepted(program, rewrite):
    held = buffer()
    fence = ph.Fence(id=999, target=atomic().target)
    ops = (*USES, alloc(held), write(held), read(held), atomic(), fence)
    assert problems(rewrite(program, before(ops, ph.Store))) == {}


def test_a_contraction_and_a_generic_reduce_are_accepted(program, rewrite):
    made = rewrite(program, on(ph.Load, contract))
    assert problems(rewrite(made, on(ph.Reduce, generic))) == {}


def test_a_range_within_its_bound_is_accepted(program, rewrite):
    made = rewrite(program, on(ph.Loop, lambda o: narrowed(o, "end", o.end)))
    assert problems(made) == {}


def test_the_error_names_rule_operation_and_sentence(program, rewrite):
    broken = rewrite(program, on(ph.Store, lambda o: replace(o, valid=None)))
    with pytest.raises(VerificationError) as caught:
        verify(broken)
    text = str(caught.value)
    assert caught.value.rule == "access-proof"
    assert "store target=@y" in text
    assert "kir-to-gpu-program 9: Every dynamic/indexed access is proven" in text
