"""Every rule of the verifier: a right kernel passes; made wrong, it breaks exactly that rule."""

from dataclasses import replace

import pytest

from intent.diagnostics import VerificationError
from intent.kir import (
    AssumeInBounds,
    Atomic,
    Bitcast,
    Broadcast,
    Buffer,
    BufferAlloc,
    Cast,
    Condition,
    Constant,
    Contract,
    DomainInfo,
    For,
    Gather,
    Histogram,
    If,
    Join,
    Load,
    Pointwise,
    RandomBits,
    Reduce,
    RegionFold,
    RegionScan,
    Relation,
    Reshape,
    ScaledContract,
    Scan,
    ScatterReduce,
    SparseContract,
    Store,
    Transpose,
    While,
)
from intent.kir.verify import RULES, verify
from intent.types.dtypes import BOOL, F16, F32, F64, I32, I64, INDEX, U8, U32
from intent.types.extent import const, dyn, symbol
from intent.types.span import Span

M, N = symbol("M"), symbol("N")

CASES = {}


def case(rule):
    """Register ``build(kit) -> (right kernel, wrong kernel)`` for a rule; a rule may have several."""

    def register(build):
        CASES[f"{rule}: {build.__name__}"] = (rule, build)
        return build

    return register


def spoil(kernel, node, **fields):
    """The kernel with fields of its last operation of a class replaced."""
    ops = list(kernel.body.ops)
    place = max(k for k, op in enumerate(ops) if isinstance(op, node))
    ops[place] = replace(ops[place], **fields)
    return replace(kernel, body=replace(kernel.body, ops=tuple(ops)))


def tensor(kit, dtype, *shape):
    """A value of any dtype and shape, read from a fresh view."""
    view = kit.view(f"v{kit.fresh()}", dtype, *shape)
    coordinates = [kit.iota(extent) for extent in view.shape]
    return kit.op(Load, kit.value(dtype, *shape), source=view, relation=kit.relation(*coordinates))


def add(kit, a, b):
    return kit.op(Pointwise, kit.value(a.dtype, *a.shape), fn="add", operands=(a, b))


def combine(kit, dtype, *shape):
    return kit.region(kit.value(dtype, *shape), kit.value(dtype, *shape), body=lambda a, b: (add(kit, a, b),))


# -- structure


@case("unique-ids")
def one_value_defined_twice(kit):
    a = kit.constant(F32, 1.0)
    kit.constant(F32, 2.0)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Constant, results=(a,))


@case("unique-ids")
def one_operation_id_twice(kit):
    kit.constant(F32, 1.0)
    kit.constant(F32, 2.0)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Constant, id=kernel.body.ops[0].id)


@case("dominance")
def used_before_defined(kit):
    a = tensor(kit, F32, M)
    add(kit, a, a)
    kernel = kit.kernel()
    ops = kernel.body.ops
    return kernel, replace(kernel, body=replace(kernel.body, ops=(*ops[:-2], ops[-1], ops[-2])))


@case("dominance")
def a_combine_region_sees_the_kernel(kit):
    x, zero = tensor(kit, F32, M), kit.constant(F32, 0.0)
    kit.op(Reduce, kit.value(F32), operands=(x,), axes=(0,), identity=(zero,), combine=combine(kit, F32))
    kernel = kit.kernel()
    region = kernel.body.ops[-1].combine
    return kernel, spoil(kernel, Reduce, combine=replace(region, yields=(zero,)))


@case("value-types-agree")
def used_with_another_dtype(kit):
    a = kit.constant(F32, 1.0)
    kit.op(Cast, kit.value(F64), value=a)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Cast, value=replace(a, dtype=F16))


@case("dyn-atoms")
def a_shape_of_an_undefined_value(kit):
    n = kit.constant(INDEX, 4)
    kit.op(Broadcast, kit.value(F32, dyn(n.id)), value=kit.constant(F32, 0.0), axes=())
    kernel = kit.kernel()
    result = kernel.body.ops[-1].result
    return kernel, spoil(kernel, Broadcast, results=(replace(result, shape=(dyn(999),)),))


@case("dyn-atoms")
def a_shape_of_a_float(kit):
    f, n = kit.constant(F32, 4.0), kit.constant(INDEX, 4)
    kit.op(Broadcast, kit.value(F32, dyn(n.id)), value=f, axes=())
    kernel = kit.kernel()
    result = kernel.body.ops[-1].result
    return kernel, spoil(kernel, Broadcast, results=(replace(result, shape=(dyn(f.id),)),))


def fold(kit, extent=None):
    x, zero = tensor(kit, F32, M), kit.constant(F32, 0.0)
    cut = dyn(kit.fresh()) if extent is None else extent

    def total(part):
        return (kit.op(Reduce, kit.value(F32), operands=(part,), axes=(0,), kind="sum"),)

    kit.op(
        RegionFold, kit.value(F32), source=(x,), axis=0, slice_extent=cut, identity=(zero,),
        summarize=kit.region(kit.value(F32, cut), body=total), combine=combine(kit, F32),
    )  # fmt: skip
    return kit.kernel()


@case("slice-extents-fresh")
def a_slice_extent_that_a_symbol_names(kit):
    return fold(kit), fold(type(kit)(), M)


# -- interface


@case("parameters-are-body-arguments")
def a_scalar_that_is_no_argument(kit):
    kit.scalar("n", F32)
    kernel = kit.kernel()
    return kernel, replace(kernel, body=replace(kernel.body, args=()))


@case("parameters-are-body-arguments")
def two_parameters_of_one_name(kit):
    kit.view("x", F32, M)
    kit.view("y", F32, M)
    kernel = kit.kernel()
    return kernel, replace(kernel, params=tuple(replace(p, name="x") for p in kernel.params))


@case("symbols-are-bound")
def a_symbol_of_no_view(kit):
    kit.view("x", F32, M)
    kit.extent(M)
    kernel = kit.kernel()
    return kernel, spoil(kernel, type(kernel.body.ops[0]), extent=N)


@case("conditions-are-launch-visible")
def a_condition_on_device_data(kit):
    kit.view("x", F32, M)
    n = kit.constant(INDEX, 4)
    right = kit.kernel(conditions=(Condition(kind="equal", lhs=M, rhs=const(4), reason=""),))
    return right, replace(right, conditions=(Condition(kind="equal", lhs=M, rhs=dyn(n.id), reason=""),))


@case("domains-are-declared")
def a_domain_whose_parent_is_unknown(kit):
    right = kit.kernel(domains=(DomainInfo(id=0, name="a"), DomainInfo(id=1, name="b", parent=0)))
    return right, replace(right, domains=right.domains[1:])


@case("domains-are-declared")
def coordinates_of_no_domain(kit):
    kit.iota(const(4))
    kernel = kit.kernel()
    return kernel, replace(kernel, domains=())


@case("views-are-parameters")
def a_read_of_something_else(kit):
    tensor(kit, F32, M)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Load, source=replace(kernel.params[0], name="other"))


@case("buffers-are-allocated")
def a_buffer_used_without_allocation(kit):
    buffer = Buffer(id=0, name="b", dtype=F32, shape=(M,))
    kit.view("x", F32, M)
    kit.op(BufferAlloc, buffer=buffer)
    kit.op(Load, kit.value(F32, M), source=buffer, relation=kit.relation(kit.iota(M)))
    kernel = kit.kernel()
    kept = tuple(op for op in kernel.body.ops if not isinstance(op, BufferAlloc))
    return kernel, replace(kernel, body=replace(kernel.body, ops=kept))


# -- values


@case("constant-type")
def an_int_for_a_float(kit):
    kit.constant(F32, 1.0)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Constant, value=1)


@case("constant-type")
def an_int_out_of_range(kit):
    kit.constant(U8, 255)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Constant, value=256)


@case("extent-value-type")
def an_extent_as_i64(kit):
    kit.extent(const(3))
    kernel = kit.kernel()
    op = kernel.body.ops[-1]
    return kernel, spoil(kernel, type(op), results=(replace(op.result, dtype=I64),))


@case("iota-type")
def coordinates_as_i32(kit):
    kit.iota(const(3))
    kernel = kit.kernel()
    op = kernel.body.ops[-1]
    return kernel, spoil(kernel, type(op), results=(replace(op.result, dtype=I32),))


@case("pointwise-known")
def a_function_that_is_none(kit):
    add(kit, kit.constant(F32, 1.0), kit.constant(F32, 2.0))
    kernel = kit.kernel()
    return kernel, spoil(kernel, Pointwise, fn="softmax")


@case("pointwise-known")
def too_few_operands(kit):
    a = kit.constant(F32, 1.0)
    add(kit, a, a)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Pointwise, operands=(a,))


@case("pointwise-shapes")
def an_implicit_broadcast(kit):
    a, scalar = tensor(kit, F32, M), kit.constant(F32, 1.0)
    add(kit, a, a)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Pointwise, operands=(a, scalar))


@case("pointwise-dtypes")
def mixed_dtypes(kit):
    a, b = kit.constant(F32, 1.0), kit.constant(F16, 1.0)
    add(kit, a, a)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Pointwise, operands=(a, b))


@case("pointwise-dtypes")
def division_of_integers(kit):
    a = kit.constant(I32, 1)
    kit.op(Pointwise, kit.value(I32), fn="floordiv", operands=(a, a))
    kernel = kit.kernel()
    return kernel, spoil(kernel, Pointwise, fn="div")


@case("pointwise-dtypes")
def a_comparison_that_keeps_its_dtype(kit):
    a = kit.constant(I32, 1)
    kit.op(Pointwise, kit.value(BOOL), fn="lt", operands=(a, a))
    kernel = kit.kernel()
    result = kernel.body.ops[-1].result
    return kernel, spoil(kernel, Pointwise, results=(replace(result, dtype=I32),))


@case("pointwise-permissions")
def an_approximate_sum(kit):
    a = kit.constant(F32, 1.0)
    kit.op(Pointwise, kit.value(F32), fn="div", operands=(a, a), approximate=True, flush_to_zero=True)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Pointwise, fn="add", flush_to_zero=False)


@case("pointwise-permissions")
def flushing_without_approximation(kit):
    a = kit.constant(F32, 1.0)
    kit.op(Pointwise, kit.value(F32), fn="exp2", operands=(a,), approximate=True, flush_to_zero=True)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Pointwise, approximate=False)


@case("cast-shape")
def a_cast_that_broadcasts(kit):
    kit.op(Cast, kit.value(F32, M), value=tensor(kit, F16, M))
    kernel = kit.kernel()
    return kernel, spoil(kernel, Cast, results=(replace(kernel.body.ops[-1].result, shape=()),))


@case("bitcast-width")
def bits_of_another_width(kit):
    kit.op(Bitcast, kit.value(U32), value=kit.constant(F32, 1.0))
    kernel = kit.kernel()
    return kernel, spoil(kernel, Bitcast, results=(replace(kernel.body.ops[-1].result, dtype=I64),))


@case("random-bits-type")
def signed_random_words(kit):
    seed = kit.constant(I64, 1)
    kit.op(RandomBits, kit.value(U32), seed=seed, counter=seed)
    kernel = kit.kernel()
    return kernel, spoil(kernel, RandomBits, results=(replace(kernel.body.ops[-1].result, dtype=I32),))


# -- layout


@case("layout-keeps-dtype")
def a_transpose_that_casts(kit):
    kit.op(Transpose, kit.value(F32, N, M), value=tensor(kit, F32, M, N), permutation=(1, 0))
    kernel = kit.kernel()
    return kernel, spoil(kernel, Transpose, results=(replace(kernel.body.ops[-1].result, dtype=F16),))


@case("broadcast-axes")
def a_map_out_of_order(kit):
    kit.op(Broadcast, kit.value(F32, M, M), value=tensor(kit, F32, M, M), axes=(0, 1))
    kernel = kit.kernel()
    return kernel, spoil(kernel, Broadcast, axes=(1, 0))


@case("broadcast-axes")
def extents_that_nothing_relates(kit):
    kit.op(Broadcast, kit.value(F32, N), value=tensor(kit, F32, M), axes=(0,))
    kit.view("y", F32, N)
    right = kit.kernel(conditions=(Condition(kind="equal_or_one", lhs=M, rhs=N, reason=""),))
    return right, replace(right, conditions=())


@case("reshape-count")
def a_slice_that_is_taken_for_another_extent(kit):
    def kernel(kit, extent):
        x, zero, cut = tensor(kit, F32, M), kit.constant(F32, 0.0), dyn(kit.fresh())

        def total(part):
            flat = kit.op(Reshape, kit.value(F32, extent(cut)), value=part)
            return (kit.op(Reduce, kit.value(F32), operands=(flat,), axes=(0,), kind="sum"),)

        region = kit.region(kit.value(F32, cut), body=total)
        kit.op(
            RegionFold,
            kit.value(F32),
            source=(x,),
            axis=0,
            slice_extent=cut,
            identity=(zero,),
            summarize=region,
            combine=combine(kit, F32),
        )
        return kit.kernel()

    return kernel(kit, lambda cut: cut), kernel(type(kit)(), lambda _: M)


@case("reshape-count")
def a_reshape_that_loses_elements(kit):
    kit.op(Reshape, kit.value(F32, M * 4), value=tensor(kit, F32, M, 4))
    kernel = kit.kernel()
    result = kernel.body.ops[-1].result
    return kernel, spoil(kernel, Reshape, results=(replace(result, shape=(M * 2,)),))


@case("transpose-permutation")
def an_axis_named_twice(kit):
    kit.op(Transpose, kit.value(F32, M, M), value=tensor(kit, F32, M, M), permutation=(1, 0))
    kernel = kit.kernel()
    return kernel, spoil(kernel, Transpose, permutation=(1, 1))


@case("join-shape")
def a_join_that_concatenates(kit):
    a = tensor(kit, F32, M)
    kit.op(Join, kit.value(F32, M, 2), lhs=a, rhs=a)
    kernel = kit.kernel()
    result = kernel.body.ops[-1].result
    return kernel, spoil(kernel, Join, results=(replace(result, shape=(const(2), M)),))


# -- memory


@case("relation-coordinates")
def a_coordinate_too_few(kit):
    tensor(kit, F32, M, N)
    kernel = kit.kernel()
    relation = kernel.body.ops[-1].relation
    short = Relation(coordinates=relation.coordinates[:1], axes=relation.axes[:1])
    return kernel, spoil(kernel, Load, relation=short)


@case("relation-coordinates")
def a_coordinate_as_i32(kit):
    i32 = kit.op(Cast, kit.value(I32, M), value=kit.iota(M))
    tensor(kit, F32, M)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Load, relation=kit.relation(i32))


@case("relation-coordinates")
def a_vector_spread_over_nothing(kit):
    tensor(kit, F32, M)
    kernel = kit.kernel()
    coordinates = kernel.body.ops[-1].relation.coordinates
    return kernel, spoil(kernel, Load, relation=Relation(coordinates=coordinates, axes=((),)))


@case("relation-extents")
def a_coordinate_of_another_extent(kit):
    tensor(kit, F32, M)
    kit.view("y", F32, N)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Load, results=(replace(kernel.body.ops[-1].result, shape=(N,)),))


@case("access-validity")
def validity_of_another_shape(kit):
    view, yes = kit.view("x", F32, M), kit.constant(BOOL, True)
    valid = kit.op(Broadcast, kit.value(BOOL, M), value=yes, axes=())
    kit.op(Load, kit.value(F32, M), source=view, relation=kit.relation(kit.iota(M)), valid=valid)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Load, valid=yes)


@case("access-validity")
def a_gather_with_validity_and_no_fill(kit):
    x, yes = tensor(kit, F32, M), kit.constant(BOOL, True)
    zero, point = kit.constant(F32, 0.0), kit.constant(INDEX, 0)
    kit.op(Gather, kit.value(F32), source=x, relation=kit.relation(point), valid=yes, fill=zero)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Gather, fill=None)


@case("access-dtypes")
def a_read_that_casts(kit):
    tensor(kit, F32, M)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Load, results=(replace(kernel.body.ops[-1].result, dtype=F16),))


def store(kit, mode="out"):
    value = tensor(kit, F32, M)
    y = kit.view("y", F32, M, mode=mode)
    kit.op(Store, target=y, relation=kit.relation(kit.iota(M)), value=value)
    return kit.kernel()


@case("writes-are-allowed")
def a_write_to_an_input(kit):
    return store(kit), store(type(kit)(), "in")


@case("assumed-flags")
def a_flag_too_many(kit):
    kernel = store(kit)
    return kernel, spoil(kernel, Store, assumed=(True, False))


@case("store-uniqueness")
def a_tensor_stored_as_a_point(kit):
    kernel = store(kit)
    return kernel, spoil(kernel, Store, uniqueness="point")


def scatter(kit):
    value = tensor(kit, F32, M)
    y = kit.view("y", F32, M, mode="inout")
    kit.op(
        ScatterReduce, target=y, relation=kit.relation(kit.iota(M)), value=value, combine=combine(kit, F32)
    )
    return kit.kernel()


@case("scatter-reduce-combine")
def a_kind_beside_a_combine(kit):
    kernel = scatter(kit)
    return kernel, spoil(kernel, ScatterReduce, kind="sum")


@case("buffer-init")
def an_initial_value_of_another_dtype(kit):
    wrong = kit.constant(F16, 0.0)
    kit.op(
        BufferAlloc, buffer=Buffer(id=0, name="b", dtype=F32, shape=(const(4),)), init=kit.constant(F32, 0.0)
    )
    kernel = kit.kernel()
    return kernel, spoil(kernel, BufferAlloc, init=wrong)


@case("assume-in-bounds-axis")
def a_promise_about_an_axis_that_is_none(kit):
    kit.op(AssumeInBounds, index=kit.constant(INDEX, 0), target=kit.view("x", F32, M), axis=0)
    kernel = kit.kernel()
    return kernel, spoil(kernel, AssumeInBounds, axis=1)


def atomic(kit, kind="add", order="relaxed"):
    one, y = kit.constant(I32, 1), kit.view("y", I32, M, mode="inout")
    relation = kit.relation(kit.constant(INDEX, 0))
    kit.op(Atomic, kit.value(I32), target=y, relation=relation, kind=kind, operands=(one,), order=order)
    return kit.kernel()


@case("atomic-schema")
def an_exchange_without_an_operand(kit):
    kernel = atomic(kit)
    return kernel, spoil(kernel, Atomic, operands=())


@case("atomic-schema")
def a_store_that_acquires(kit):
    kernel = spoil(atomic(kit), Atomic, kind="store", results=(), order="release")
    return kernel, spoil(kernel, Atomic, order="acquire")


# -- structured operations


def reduction(kit):
    x = tensor(kit, F32, M, N)
    kit.op(Reduce, kit.value(F32, M), operands=(x,), axes=(1,), kind="sum")
    return kit.kernel()


@case("reduce-axes")
def the_other_axis_removed(kit):
    kernel = reduction(kit)
    return kernel, spoil(kernel, Reduce, axes=(0,))


@case("reduce-axes")
def one_axis_twice(kit):
    kernel = reduction(kit)
    return kernel, spoil(kernel, Reduce, axes=(1, 1))


@case("reduce-builtin")
def a_hidden_accumulator_dtype(kit):
    kernel = reduction(kit)
    return kernel, spoil(kernel, Reduce, results=(replace(kernel.body.ops[-1].result, dtype=F64),))


@case("reduce-builtin")
def any_of_floats(kit):
    kernel = reduction(kit)
    return kernel, spoil(kernel, Reduce, kind="any")


def scanned(kit):
    x = tensor(kit, F32, M, N)
    kit.op(Scan, kit.value(F32, M, N), operands=(x,), axis=1, kind="sum")
    return kit.kernel()


@case("scan-axis")
def an_axis_outside(kit):
    kernel = scanned(kit)
    return kernel, spoil(kernel, Scan, axis=2)


@case("scan-builtin")
def a_builtin_with_an_identity(kit):
    zero = kit.constant(F32, 0.0)
    kernel = scanned(kit)
    return kernel, spoil(kernel, Scan, identity=(zero,))


def generic(kit):
    x, zero = tensor(kit, F32, M), kit.constant(F32, 0.0)
    kit.constant(F16, 0.0)
    kit.op(Reduce, kit.value(F32), operands=(x,), axes=(0,), identity=(zero,), combine=combine(kit, F32))
    return kit.kernel()


@case("accumulator-schema")
def no_identity(kit):
    kernel = generic(kit)
    return kernel, spoil(kernel, Reduce, identity=())


@case("accumulator-schema")
def an_identity_of_another_dtype(kit):
    kernel = generic(kit)
    half = next(op.result for op in kernel.body.ops if isinstance(op, Constant) and op.result.dtype == F16)
    return kernel, spoil(kernel, Reduce, identity=(half,))


def product(kit):
    a, b = tensor(kit, F32, M, 8), tensor(kit, F32, 8, N)
    kit.op(Contract, kit.value(F32, M, N), lhs=a, rhs=b, reduce=((1, 0),))
    return kit.kernel()


@case("contract-pairs")
def a_pair_of_different_extents(kit):
    kernel = product(kit)
    return kernel, spoil(
        kernel,
        Contract,
        reduce=((0, 0),),
        results=(replace(kernel.body.ops[-1].result, shape=(const(8), N)),),
    )


@case("contract-pairs")
def nothing_summed(kit):
    kernel = product(kit)
    return kernel, spoil(kernel, Contract, reduce=())


@case("contract-result")
def the_result_transposed(kit):
    kernel = product(kit)
    return kernel, spoil(kernel, Contract, results=(replace(kernel.body.ops[-1].result, shape=(N, M)),))


@case("contract-result")
def floats_accumulated_in_integers(kit):
    kernel = product(kit)
    return kernel, spoil(kernel, Contract, results=(replace(kernel.body.ops[-1].result, dtype=I32),))


@case("sparse-metadata")
def one_position_for_two(kit):
    a, b = tensor(kit, F16, M, 8), tensor(kit, F16, 16, N)
    first = tensor(kit, INDEX, M, 4)
    kit.op(
        SparseContract,
        kit.value(F32, M, N),
        compressed=a,
        metadata=(first, first),
        dense=b,
        format="two_of_four",
        reduce=((1, 0),),
    )
    kernel = kit.kernel()
    return kernel, spoil(kernel, SparseContract, metadata=(first,))


@case("scaled-contract-schema")
def group_sizes_that_differ(kit):
    lhs, rhs = tensor(kit, U8, M, 4, 16), tensor(kit, U8, 4, 16, N)
    scales = tensor(kit, U8, M, 4), tensor(kit, U8, N, 4)
    kit.op(
        ScaledContract, kit.value(F32, M, N), lhs=lhs, lhs_scale=scales[0], rhs=rhs, rhs_scale=scales[1],
        lhs_format="e2m1", rhs_format="e2m1", lhs_group=32, rhs_group=32,
    )  # fmt: skip
    kernel = kit.kernel()
    return kernel, spoil(kernel, ScaledContract, rhs_group=16)


@case("histogram-type")
def counting_floats(kit):
    values = tensor(kit, I32, M)
    floats = tensor(kit, F32, M)
    kit.op(Histogram, kit.value(I32, 16), values=values)
    kernel = kit.kernel()
    return kernel, spoil(kernel, Histogram, values=floats)


@case("region-source")
def a_source_without_the_axis(kit):
    kernel = fold(kit)
    return kernel, spoil(kernel, RegionFold, axis=1)


def region_scan(kit):
    x, zero = tensor(kit, F32, M), kit.constant(F32, 0.0)
    cut = dyn(kit.fresh())

    def total(part):
        return (kit.op(Reduce, kit.value(F32), operands=(part,), axes=(0,), kind="sum"),)

    def emit(part, state):
        return (add(kit, part, kit.op(Broadcast, kit.value(F32, cut), value=state, axes=())),)

    kit.op(
        RegionScan,
        kit.value(F32, M),
        kit.value(F32),
        source=(x,),
        axis=0,
        slice_extent=cut,
        identity=(zero,),
        initial=(zero,),
        outputs=1,
        output_axis=0,
        summarize=kit.region(kit.value(F32, cut), body=total),
        combine=combine(kit, F32),
        apply=combine(kit, F32),
        emit=kit.region(kit.value(F32, cut), kit.value(F32), body=emit),
    )
    return kit.kernel()


@case("region-scan-results")
def a_final_state_of_another_dtype(kit):
    kernel = region_scan(kit)
    outputs, state = kernel.body.ops[-1].results
    return kernel, spoil(kernel, RegionScan, results=(outputs, replace(state, dtype=F64)))


@case("region-scan-schema")
def an_emitter_of_one_element(kit):
    kernel = region_scan(kit)
    emit = kernel.body.ops[-1].emit
    return kernel, spoil(kernel, RegionScan, emit=replace(emit, yields=emit.args[1:]))


@case("fold-schema")
def a_summary_of_another_dtype(kit):
    half = kit.constant(F16, 0.0)
    kernel = fold(kit)
    return kernel, spoil(kernel, RegionFold, identity=(half,))


# -- regions


@case("pure-regions")
def a_combine_that_draws_random_numbers(kit):
    def impure(a, b):
        seed = kit.constant(I64, 1)
        kit.op(RandomBits, kit.value(U32), seed=seed, counter=seed)
        return (add(kit, a, b),)

    kernel = generic(kit)
    region = kit.region(kit.value(F32), kit.value(F32), body=impure)
    return kernel, spoil(kernel, Reduce, combine=region)


@case("combine-schema")
def a_combine_of_another_dtype(kit):
    kernel = generic(kit)
    return kernel, spoil(kernel, Reduce, combine=combine(kit, F16))


@case("combine-schema")
def a_capture_of_another_shape(kit):
    other = tensor(kit, F32, N)
    x, zero = tensor(kit, F32, M), kit.constant(F32, 0.0)
    region = kit.region(
        kit.value(F32), kit.value(F32), kit.value(F32), body=lambda a, b, _: (add(kit, a, b),)
    )
    kit.op(
        Reduce, kit.value(F32), operands=(x,), axes=(0,), identity=(zero,), captures=(zero,), combine=region
    )
    kernel = kit.kernel()
    return kernel, spoil(kernel, Reduce, captures=(other,))


@case("scatter-combine-schema")
def a_scatter_combine_of_another_dtype(kit):
    kernel = scatter(kit)
    return kernel, spoil(kernel, ScatterReduce, combine=combine(kit, F16))


# -- control


def loop(kit):
    init = kit.constant(F32, 0.0)
    bounds = {"begin": kit.constant(INDEX, 0), "end": kit.constant(INDEX, 8), "step": kit.constant(INDEX, 1)}
    kit.domains.append(DomainInfo(id=0, name="i"))
    body = kit.region(kit.value(INDEX), kit.value(F32), body=lambda _, c: (add(kit, c, c),))
    kit.op(For, kit.value(F32), **bounds, inits=(init,), body=body, domain=0)
    return kit.kernel()


@case("for-bounds")
def an_end_as_i32(kit):
    wrong = kit.constant(I32, 8)
    kernel = loop(kit)
    return kernel, spoil(kernel, For, end=wrong)


@case("for-carries")
def a_carry_that_is_dropped(kit):
    kernel = loop(kit)
    return kernel, spoil(kernel, For, inits=())


@case("for-carries")
def a_parallel_loop_with_a_carry(kit):
    kernel = loop(kit)
    return kernel, spoil(kernel, For, parallel=True)


@case("if-branches")
def a_branch_that_yields_nothing(kit):
    cond, one = kit.constant(BOOL, True), kit.constant(F32, 1.0)
    then, orelse = (kit.region(body=lambda: (one,)) for _ in range(2))
    kit.op(If, kit.value(F32), condition=cond, then=then, orelse=orelse)
    kernel = kit.kernel()
    return kernel, spoil(kernel, If, orelse=replace(orelse, yields=()))


@case("if-branches")
def a_condition_with_axes(kit):
    cond, many = kit.constant(BOOL, True), tensor(kit, BOOL, M)
    kit.op(If, condition=cond, then=kit.region(), orelse=kit.region())
    kernel = kit.kernel()
    return kernel, spoil(kernel, If, condition=many)


@case("while-carries")
def a_condition_that_is_no_bool(kit):
    init = kit.constant(I32, 0)

    def less(carry):
        return (kit.op(Pointwise, kit.value(BOOL), fn="lt", operands=(carry, kit.constant(I32, 9))),)

    condition = kit.region(kit.value(I32), body=less)
    body = kit.region(kit.value(I32), body=lambda c: (add(kit, c, c),))
    kit.op(While, kit.value(I32), inits=(init,), condition=condition, body=body)
    kernel = kit.kernel()
    return kernel, spoil(kernel, While, condition=replace(condition, yields=condition.args))


@pytest.mark.parametrize(("rule", "build"), CASES.values(), ids=CASES)
def test_rule(kit, rule, build):
    right, wrong = build(kit)
    verify(right)
    with pytest.raises(VerificationError) as error:
        verify(wrong)
    assert error.value.rule == rule


def test_extents_of_device_data_are_left_to_guards(kit):
    n = kit.constant(INDEX, 4)
    x = kit.op(Broadcast, kit.value(F32, dyn(n.id)), value=kit.constant(F32, 0.0), axes=())
    kit.op(Reshape, kit.value(F32, 4), value=x)
    verify(kit.kernel())


def test_every_rule_has_a_case():
    assert {rule for rule, _ in CASES.values()} == set(RULES)


def test_the_error_names_the_place(kit):
    kernel = reduction(kit)
    span = Span("k.py", 7, 4, 7, 10, "    y = I.reduce.sum(x, axis=3)")
    with pytest.raises(VerificationError) as error:
        verify(spoil(kernel, Reduce, axes=(3,), span=span))
    assert error.value.span == span
    assert error.value.rule == "reduce-axes"
    assert "Reduce #" in error.value.seen["the subject"]
