"""Names that the language does not have: what was removed, and what was misspelt."""

import pytest

import intent
import intent.language as I
from intent.diagnostics import RemovedConstruct, UnknownIntrinsic, UnknownKeyword


@intent.kernel
def partition(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for part in I.parallel(I.partition(I.domain(0, x.shape[0]), extent=4)):
        y[part] = x[part]


@intent.kernel
def program_id(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[I.program_id(0)] = x[0]


@intent.kernel
def state_stream(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    stream = I.state_stream(I.domain(0, x.shape[0]), extent=1, init=(0.0,))
    y[()] = stream.result


@intent.kernel
def atomic_add(y: I.InOut[I.f32, ("N",)]):
    I.atomic_add(y, index=0, value=1.0)


@intent.kernel
def atomic_cas(y: I.InOut[I.i32, ("N",)]):
    I.atomic.cas(y[0], 0, 1)


@intent.kernel
def misspelt(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.sigmiod(x)


@intent.kernel
def misspelt_member(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce.summ(x, axis=0)


@intent.kernel
def misspelt_keyword(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce.sum(x, axes=0)


@pytest.mark.parametrize(
    ("kernel", "advice"),
    [
        (partition, "I.domain"),
        (program_id, "I.parallel"),
        (state_stream, "I.region_fold"),
        (atomic_add, "I.atomic.add(view[i], value)"),
        (atomic_cas, "I.atomic.compare_exchange"),
    ],
    ids=lambda p: getattr(p, "name", None),
)
def test_removed_constructs_say_what_to_write_instead(refused, kernel, advice):
    error = refused(kernel, RemovedConstruct)
    assert advice in error.fix
    assert "I." in error.span.source


@pytest.mark.parametrize(
    ("kernel", "suggestion"),
    [(misspelt, "I.sigmoid"), (misspelt_member, "I.reduce.sum")],
    ids=lambda p: getattr(p, "name", None),
)
def test_misspelt_names_are_corrected(refused, kernel, suggestion):
    assert suggestion in refused(kernel, UnknownIntrinsic).fix


def test_misspelt_keywords_are_corrected(refused):
    assert "axis" in refused(misspelt_keyword, UnknownKeyword).fix
