"""One small kernel for each construct of docs/language.md, by the construct's spelling in its row there."""

import intent
import intent.language as I

CONSTRUCTS = {}


def of(*spellings):
    """Register the kernel that uses these constructs."""

    def add(kernel):
        CONSTRUCTS.update(dict.fromkeys(spellings, kernel))
        return kernel

    return add


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def total(part):
    return I.reduce.sum(part, axis=0)


@intent.fn
def act(summary, state):
    return state + summary


@intent.fn
def shifted(part, state):
    return I.cumsum(part, axis=0) + state


@of("I.reduce(")
@intent.kernel
def generic_reduce(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce(x[...], axis=0, identity=0.0, combine=plus)


@of("I.arg_reduce.max/min(v, axis=)")
@intent.kernel
def arg_max(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    v, i = I.arg_reduce.max(x[...], axis=0)
    y[()] = v


@of("I.scan")
@intent.kernel
def scan(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.scan(x[...], axis=0, identity=0.0, combine=plus)


@of("I.cumsum", "I.cumprod")
@intent.kernel
def cumsum(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.cumsum(x[...], axis=0)


@of("I.cummax", "I.cummin")
@intent.kernel
def cummax(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.cummax(x[...], axis=0)


@of("I.region_fold")
@intent.kernel
def region_fold(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(source=x[...], axis=0, summarize=total, combine=plus, identity=0.0)


@of("I.region_scan")
@intent.kernel
def region_scan(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ()]):
    out, last = I.region_scan(
        source=x[...],
        axis=0,
        summarize=total,
        combine=plus,
        identity=0.0,
        initial_state=I.cast(0.0, I.f32),
        apply=act,
        emit=shifted,
    )
    y[...] = out
    z[()] = last


@of("I.contract")
@intent.kernel
def contract(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.contract(a[...], b[...], reduce=((1, 0),))


@of("I.outer")
@intent.kernel
def outer(a: I.In[I.f32, ("M",)], b: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.outer(a[...], b[...])


@of("I.scaled_contract", "I.scaled_matmul")
@intent.kernel
def scaled(
    a: I.In[I.f8e4m3fn, ("M", "G", "C")],
    sa: I.In[I.u8, ("M", "G")],
    b: I.In[I.f8e4m3fn, ("G", "C", "N")],
    sb: I.In[I.u8, ("N", "G")],
    y: I.Out[I.f32, ("M", "N")],
):
    y[...] = I.scaled_contract(
        a[...],
        sa[...],
        b[...],
        sb[...],
        lhs_format=I.e4m3,
        rhs_format=I.e4m3,
        lhs_group_size=32,
        rhs_group_size=32,
        acc_dtype=I.f32,
    )


@of("I.sparse_contract", "I.sparse_matmul")
@intent.kernel
def sparse(
    a: I.In[I.f16, ("M", "KC")], p: I.In[I.i8, ("M", "G")], q: I.In[I.i8, ("M", "G")],
    b: I.In[I.f16, ("K", "N")], y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    y[...] = I.sparse_contract(
        a,
        I.record(first=I.cast(p, I.index), second=I.cast(q, I.index)),
        b,
        format=I.sparse.two_of_four(compression_axis=1, logical_extent=b.shape[0]),
        reduce=((1, 0),),
        acc_dtype=I.f32,
    )


@of("I.histogram")
@intent.kernel
def histogram(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, (16,)]):
    y[...] = I.histogram(x[...], bins=16)


@of("while")
@intent.kernel
def while_loop(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    total = I.cast(0.0, I.f32)
    i = I.cast(0, I.index)
    while i < x.shape[0]:
        total = total + x[i]
        i = i + 1
    y[()] = total


@of("break")
@intent.kernel
def break_loop(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    total = I.cast(0.0, I.f32)
    for i in range(x.shape[0]):
        if x[i] < 0.0:
            break
        total = total + x[i]
    y[()] = total


@of("continue")
@intent.kernel
def continue_loop(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    total = I.cast(0.0, I.f32)
    for i in range(x.shape[0]):
        if x[i] < 0.0:
            continue
        total = total + x[i]
    y[()] = total


@of("return")
@intent.kernel
def early_return(n: I.i32, x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    if n < 0:
        return
    y[...] = x[...]


@of("I.gather")
@intent.kernel
def gather(x: I.In[I.f32, ("N",)], k: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("M",)]):
    y[...] = I.gather(x, index=(k[...],))


@of("I.scatter_unique")
@intent.kernel
def scatter_unique(x: I.In[I.f32, ("M",)], k: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("N",)]):
    I.scatter_unique(y, index=(k[...],), value=x[...])


@of("I.scatter_reduce")
@intent.kernel
def scatter_reduce(x: I.In[I.f32, ("M",)], k: I.In[I.i32, ("M",)], y: I.InOut[I.f32, ("N",)]):
    I.scatter_reduce(y, index=(k[...],), value=x[...], combine=I.add)


@of("I.store")
@intent.kernel
def store(x: I.In[I.f32, ()], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, y.shape[0])):
        I.store(y, index=(i,), value=x[()])


@of("I.mutable_load")
@intent.kernel
def mutable_load(x: I.InOut[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, y.shape[0])):
        y[i] = I.mutable_load(x, index=(i,))


@of("I.buffer")
@intent.kernel
def buffer(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    b = I.buffer((4,), I.f32, init=0.0)
    b[0] = 1.0
    y[...] = x[...] + b[0]


@of("I.assume_in_bounds")
@intent.kernel
def assume(x: I.In[I.f32, ("N",)], k: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("M",)]):
    for i in I.parallel(I.domain(0, y.shape[0])):
        j = k[i]
        I.assume_in_bounds(j, x, 0)
        y[i] = x[j]


@of("I.atomic.add")
@intent.kernel
def atomic(k: I.In[I.i32, ("M",)], y: I.InOut[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, k.shape[0])):
        I.atomic.add(y[k[i]], 1)


@of("I.random.bits")
@intent.kernel
def bits(seed: I.u64, y: I.Out[I.u32, ("N",)]):
    y[...] = I.random.bits(seed, I.indices(I.domain(0, y.shape[0])))


@of("I.random.uniform")
@intent.kernel
def uniform(seed: I.u64, y: I.Out[I.f32, ("N",)]):
    y[...] = I.random.uniform(seed, I.indices(I.domain(0, y.shape[0])))


@of("I.ragged", "I.members")
@intent.kernel
def ragged(x: I.In[I.f32, ("N",)], o: I.In[I.i32, ("G1",)], y: I.Out[I.f32, ("G",)]):
    groups = I.ragged(outer=I.domain(0, y.shape[0]), members=I.domain(0, x.shape[0]), offsets=o)
    for g in I.parallel(groups.outer):
        y[g] = I.reduce.sum(x[groups[g]], axis=0)


@of("I.enumerate")
@intent.kernel
def enumerated(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    for k, i in I.enumerate(I.domain(2, 6)):
        y[k] = x[i]
