"""Writes of parallel points and of flattened indices: proven distinct, promised, or refused with numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent.language as I
from intent import fn, kernel
from intent.diagnostics import CollidingWrites, NonInjectiveAssignment
from intent.frontend import lower
from intent.frontend.uniqueness import promised_points


@kernel
def overlapping_rows(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("P",)], S: I.i64):
    for i in I.parallel(I.domain(0, x.shape[0])):
        for j in I.parallel(I.domain(0, S + 1)):
            y[i * I.cast(S, I.index) + j] = x[i]


@kernel
def diagonals(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("P",)]):
    M, N = x.shape
    for i in I.parallel(range(M)):
        for j in I.parallel(range(N)):
            y[i + j] = x[i, j]


@fn
def place(i, j, width):
    return i * width + j


@kernel
def overlapping_through_a_helper(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("P",)]):
    M, N = x.shape
    for i, j in I.parallel((I.domain(0, M), I.domain(0, N))):
        y[place(i, j, N - 1)] = x[i, j]


@kernel
def inner_loop(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("P",)]):
    M, N = x.shape
    for i in I.parallel(range(M)):
        for j in range(N + 1):
            y[i * N + j] = x[i, 0]


@kernel
def blocks(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("P",)]):
    for i in I.parallel(range(x.shape[0])):
        axis = I.domain(0, y.shape[0])
        y[I.indices(axis[i * 4 : i * 4 + 5])] = I.full((5,), x[i], I.f32)


COLLIDING = {
    overlapping_rows: (
        "y[i * I.cast(S, I.index) + j]",
        "i = 1, j = 0 and i = 0, j = 5 both write y[5] when S = 5",
    ),
    diagonals: ("y[i + j]", "i=0 and i=1 both write y[1]"),
    overlapping_through_a_helper: ("y[place", "i = 1, j = 0 and i = 0, j = 4 both write y[4] when N = 5"),
    inner_loop: ("y[i * N + j]", "i = 1, j = 0 and i = 0, j = 5 both write y[5] when N = 5"),
    blocks: ("y[I.indices", "i=0 and i=1 both write y[4]"),
}


@pytest.mark.parametrize("definition", COLLIDING, ids=lambda d: d.name)
def test_points_that_meet_at_every_launch_are_refused_with_numbers(definition):
    line, witness = COLLIDING[definition]
    with pytest.raises(CollidingWrites) as caught:
        lower(definition)
    text = str(caught.value)
    assert line in text
    assert witness in text


@kernel
def rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("P",)]):
    M, N = x.shape
    for i, j in I.parallel((I.domain(0, M), I.domain(0, N))):
        y[i * N + j] = x[i, j]


@kernel
def padded_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("P",)], S: I.i64):
    M, N = x.shape
    used = I.domain(0, S)[0:N]
    for i in I.parallel(range(M)):
        for j in I.parallel(used):
            y[i * I.cast(S, I.index) + j] = x[i, j]


@kernel
def backwards(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("M",)]):
    for i in I.parallel(range(x.shape[0])):
        y[x.shape[0] - 1 - i] = x[i]


@kernel
def digits(x: I.In[I.f32, ("P",)], y: I.Out[I.f32, ("M", "N")]):
    M, N = y.shape
    for p in I.parallel(range(x.shape[0])):
        y[p // N, p % N] = x[p]


@kernel
def strided(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0], 4)):
        y[i] = x[i]


@kernel
def groups(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("N",)]):
    members = I.ragged(
        outer=I.domain(0, offsets.shape[0] - 1), members=I.domain(0, x.shape[0]), offsets=offsets
    )
    for g in I.parallel(members.outer):
        y[members[g]] = x[members[g]] * 2.0


@pytest.mark.parametrize(
    "definition", [rows, padded_rows, backwards, digits, strided, groups], ids=lambda d: d.name
)
def test_distinct_points_promise_nothing(definition):
    assert not promised_points(lower(definition))


def test_a_proof_by_a_launch_condition_needs_it():
    found = lower(padded_rows)
    assert not promised_points(found)
    (promise,) = promised_points(replace(found, conditions=()))
    assert "different i, j write different elements of 'y'; not so: " in promise.detail


def test_rows_of_a_ragged_relation_are_apart_because_they_are_subregions():
    found = lower(groups)
    assert not promised_points(found)
    apart = tuple(replace(d, parent=None) for d in found.domains)
    (promise,) = promised_points(replace(found, domains=apart))
    assert promise.detail == "different g write different elements of 'y'"


@kernel
def chosen_width(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("P",)], S: I.i64):
    M, N = x.shape
    for i, j in I.parallel((I.domain(0, M), I.domain(0, N))):
        y[i * I.cast(S, I.index) + j] = x[i, j]


@kernel
def by_data(x: I.In[I.f32, ("M",)], rows_of: I.In[I.i64, ("M",)], y: I.Out[I.f32, ("P",)]):
    for i in I.parallel(range(x.shape[0])):
        y[rows_of[i]] = x[i]


@kernel
def guarded(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("P",)]):
    for i in I.parallel(range(x.shape[0])):
        if x[i] > 0.0:
            y[i // 2] = x[i]


def test_what_holds_at_some_launches_or_by_data_is_a_promise():
    details = {d.name: [a.detail for a in lower(d).assumptions] for d in (chosen_width, by_data, guarded)}
    meeting = "i = 1, j = 0 and i = 0, j = 5 both write y[5] when S = 5"
    assert details == {
        "chosen_width": [f"different i, j write different elements of 'y'; not so: {meeting}"],
        "by_data": ["different i write different elements of 'y'"],
        "guarded": ["different i write different elements of 'y'; not so: i = 1 and i = 0 both write y[0]"],
    }


@kernel
def flattened(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("P",)], S: I.i64):
    M, N = x.shape
    i, j = I.indices((I.domain(0, M), I.domain(0, N)))
    y[i[:, None] * I.cast(S, I.index) + j[None, :]] = x[...]


@kernel
def flattened_and_padded(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("P",)], S: I.i64):
    M, N = x.shape
    i = I.indices(I.domain(0, M))
    j = I.indices(I.domain(0, S)[0:N])
    y[i[:, None] * I.cast(S, I.index) + j[None, :]] = x[...]


def test_a_flattened_index_needs_a_width_that_no_row_exceeds():
    with pytest.raises(NonInjectiveAssignment) as caught:
        lower(flattened)
    assert "i = 1, j = 0 and i = 0, j = 5 both write y[5] when S = 5" in str(caught.value)
    assert "use I.scatter_reduce, or I.scatter_unique(y, ...) if no call is like that" in str(caught.value)
    (store,) = [op for op in lower(flattened_and_padded).body.ops if type(op).__name__ == "Store"]
    assert store.uniqueness == "proven"


@kernel
def narrow(x: I.In[I.f32, (512,)], y: I.Out[I.f32, (512,)]):
    i = I.cast(I.indices(I.domain(0, 512)), I.u8)
    y[I.cast(i, I.index)] = x[...]


def test_a_narrow_coordinate_wraps():
    with pytest.raises(NonInjectiveAssignment):
        lower(narrow)


def test_races_that_the_sanitizer_shall_show_are_left_in():
    assert lower(overlapping_rows, races=True).assumptions == ()


# -- promises that no call can keep


@kernel
def scattered_to_one_place(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    I.scatter_unique(y, index=I.full((3,), 0, I.i32), value=x[0:3])


@kernel
def scattered_in_pairs(x: I.In[I.f32, ("R", "N")], y: I.Out[I.f32, ("R", "M")]):
    half = I.indices(I.domain(0, x.shape[1])) // 2
    for r in I.parallel(I.domain(0, x.shape[0])):
        I.scatter_unique(y, index=(r, half), value=x[r, :])


@pytest.mark.parametrize("made", [scattered_to_one_place, scattered_in_pairs], ids=lambda made: made.name)
def test_a_promise_that_every_call_breaks_is_refused(made):
    with pytest.raises(NonInjectiveAssignment) as caught:
        lower(made)
    assert caught.value.span is not None
    assert caught.value.span.source.strip().startswith("I.scatter_unique")
    assert "both write y[" in caught.value.seen["one collision"]
    assert "I.scatter_reduce" in str(caught.value.fix)


@kernel
def scattered_where_valid(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    I.scatter_unique(y, index=i // 2, value=x[...], valid=i % 2 == 0)


@kernel
def scattered_in_a_branch(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    if x.shape[0] < 2:
        I.scatter_unique(y, index=I.zeros(x.shape, I.i32), value=x[...])


@kernel
def scattered_around(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    I.scatter_unique(y, index=i % 4, value=x[...])


@pytest.mark.parametrize(
    "made", [scattered_where_valid, scattered_in_a_branch, scattered_around], ids=lambda made: made.name
)
def test_a_promise_that_some_call_keeps_is_taken(made):
    assert any(a.kind == "unique" for a in lower(made).assumptions)


@kernel
def computed_index(rows: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("M",)]):
    y[rows[...] % 4] = 1.0


def test_the_index_is_shown_as_written():
    with pytest.raises(NonInjectiveAssignment) as caught:
        lower(computed_index)
    assert caught.value.seen["the index"] == "rows[...] % 4"
