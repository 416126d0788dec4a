from __future__ import annotations

import pytest

import intent
import intent.language as I
from intent.construct.plan import GroupPlan, Plan, serial
from intent.physical import Atomic, Load, Store


@intent.kernel
def three(
    a: I.In[I.f32, ("M", "N")],
    b: I.In[I.f32, ("K",)],
    y: I.Out[I.f32, ("M",)],
    z: I.Out[I.f32, ("K",)],
    t: I.Out[I.f32, ()],
):
    y[...] = I.reduce.sum(a[...], axis=1)
    z[...] = b[...] * b[...]
    t[...] = I.reduce.sum(b[...], axis=0)


@intent.kernel
def matmul(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


@intent.kernel
def sorted_rows(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        row = I.buffer((N,), I.i32)
        for j in range(N):
            value = x[i, j]
            k = j
            while k > 0 and row[k - 1] > value:
                row[k] = row[k - 1]
                k = k - 1
            row[k] = value
        y[i, :] = row[...]


@intent.kernel
def claimed(x: I.In[I.i32, ("N",)], slots: I.InOut[I.i32, ("K",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.atomic.max(slots[I.cast(x[i], I.index)], x[i], order="relaxed")


CASES = [
    (three, {"M": 33, "N": 70, "K": 5}),
    (matmul, {"M": 70, "N": 130, "K": 40}),
    (sorted_rows, {"M": 3, "N": 9}),
    (claimed, {"N": 300, "K": 7}),
]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(("kernel", "extents"), CASES)
def test_lengths_are_those_of_the_program(explained, kernel, extents, known):
    artifact, report = explained(kernel, extents if known else None)
    program = artifact.program if not known else _current(artifact, extents)
    env = {atom: extents[str(atom)] for s in program.segments for atom in _symbols(s.length, extents)}
    assert [s.length.text for s in report.segments] == [str(s.length) for s in program.segments]
    assert [s.offset.text for s in report.segments] == [str(s.offset) for s in program.segments]
    assert report.length.text == str(program.length)
    if known:
        values = [s.length.value for s in report.segments]
        assert values == [s.length.evaluate(env) for s in program.segments]
        assert report.length.value == sum(values)
        assert [s.offset.value for s in report.segments] == [sum(values[:k]) for k in range(len(values))]
    for segment, made in zip(report.segments, program.segments, strict=True):
        assert [(a.label, a.block) for a in segment.axes] == [(a.label, a.block) for a in made.axes]


def _symbols(extent, extents):
    return [atom for atom in extent.atoms() if str(atom) in extents]


def _current(artifact, extents):
    """The program that a launch with these extents runs."""
    from intent.runtime.explaining import bound_extents

    return artifact._variants.select(bound_extents(artifact.kir, extents)).program


@pytest.mark.parametrize(("kernel", "extents"), CASES)
def test_every_access_of_the_program_is_there(explained, operations, kernel, extents):
    artifact, report = explained(kernel)
    wanted = operations(artifact.program, Load, Store, Atomic)
    found = [access for segment in report.segments for access in segment.accesses]
    assert [access.id for access in found] == [op.id for op in wanted]
    listed = [o.id for s in report.segments for o in s.operations if o.kind in ("read", "write", "atomic")]
    assert listed == [op.id for op in wanted]
    for access, op in zip(found, wanted, strict=True):
        resource = op.source if isinstance(op, Load) else op.target
        assert access.verb == {Load: "read", Store: "write", Atomic: "atomic"}[type(op)]
        assert (access.resource, access.dtype) == (resource.name, resource.dtype.name)
        assert [c.proof for c in access.coordinates] == [str(proof) for proof in op.proofs]
        assert [c.extent.text for c in access.coordinates] == [str(e) for e in resource.shape]
        assert (access.guard is None) == (op.valid is None)
        assert access.place is not None
        assert access.place.line == op.span.line


def test_an_atomic_says_its_order_and_who_shares_it(explained):
    _, report = explained(claimed)
    (atomic,) = [a for s in report.segments for a in s.accesses if a.verb == "atomic"]
    assert atomic.detail == "max, relaxed, shared by the invocation"
    assert atomic.coordinates[0].expression == "x[axis]"
    assert "x[axis] < K" in atomic.guard


def test_loops_and_branches_nest(explained):
    _, report = explained(sorted_rows)
    depths = [(o.kind, o.depth) for o in report.segments[0].operations]
    kinds = [kind for kind, _ in depths]
    assert ("loop", 0) in depths
    assert ("while", 1) in depths
    assert depths[kinds.index("while") + 1][1] == 2
    assert depths[-3:] == [("loop", 0), ("read", 1), ("write", 1)], (
        "rows of many points are written block by block"
    )
    (buffer,) = report.buffers
    assert (buffer.name, buffer.role, buffer.scope) == ("row", "declared", "program")
    assert [extent.text for extent in buffer.shape] == ["128", "N"], "a row for each point of an instance"
    assert buffer.place.text.startswith("row = I.buffer")


@intent.kernel
def batched(x: I.In[I.f32, ("B", "G", "N")], y: I.Out[I.f32, ("B", "G", "N")]):
    for b, g in I.parallel((I.domain(0, x.shape[0]), I.domain(0, x.shape[1]))):
        y[b, g, :] = x[b, g, :] - I.reduce.max(x[b, g, :], axis=0)


def test_what_the_id_is_decoded_into_has_names():
    inner = (("axis_N", serial(8)),)
    plan = Plan(groups=(GroupPlan(instance=(("axis", 1), ("axis_2", 4)), inner=inner),))
    artifact = intent.compile(batched, "reference", plan=plan)
    (segment,) = artifact.report().segments
    definitions = {d.name: d.text for d in segment.definitions}
    assert definitions["axis"] == "program // ceildiv(G, 4)"
    assert definitions["axis_2_start"] == "program % ceildiv(G, 4) * 4"
    assert definitions["axis_2"] == "axis_2_start + [0..3]"
    (write,) = [a for a in segment.accesses if a.verb == "write"]
    assert [c.expression for c in write.coordinates][:2] == ["axis", "axis_2"]


@intent.kernel
def stacked(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    row = I.reduce.max(x[...], axis=1)
    e = I.exp(x[...] - row[:, None])
    column = I.reduce.sum(e, axis=0)
    y[...] = e / column[None, :]


def test_what_is_held_and_what_is_computed_again(explained, operations):
    artifact, report = explained(stacked)
    for repeated in report.repeated:
        name = repeated.text.removeprefix("read of ")
        if repeated.text.startswith("read of "):
            reads = [op for op in operations(artifact.program, Load) if op.source.name == name]
            assert len(reads) >= repeated.times > 1
    assert [b.name for b in report.buffers if b.role == "held"] == [b.name for b in report.buffers], (
        "the kernel declares no buffer"
    )
    assert any(r.text.startswith("read of x") for r in report.repeated)
