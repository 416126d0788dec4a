"""A few hundred random kernels in every test run, and the fuzzer's own promises."""

from __future__ import annotations

import numpy as np
import pytest

from intent.provider.registry import registry
from intent_testkit.fuzz.campaign import Tally, campaign
from intent_testkit.fuzz.eager import Invalid
from intent_testkit.fuzz.generate import generate
from intent_testkit.fuzz.judge import Options, judge
from intent_testkit.fuzz.kinds import draw
from intent_testkit.fuzz.reading import read
from intent_testkit.fuzz.report import report
from intent_testkit.fuzz.shrink import shrink

BATCHES = 6
IN_BATCH = 50
EVERY = 10


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_kernels_agree(batch):
    names = tuple(n for n in registry().names() if registry().get(n).capabilities.needs_gpu)
    options = Options(random_plans=3, adversaries=1, providers=names, provider_plans=1)
    tally = Tally()
    first = batch * IN_BATCH
    found = [report(f) for f in campaign(range(first, first + IN_BATCH), options, tally, EVERY)]
    assert not found, "\n".join(found)
    assert tally.invalid < IN_BATCH // 5


def test_a_seed_is_one_kernel():
    assert generate(17) == generate(17)
    assert generate(17).source != generate(18).source


def test_kernels_cover_the_language():
    features = {name for seed in range(400) for name in generate(seed).features}
    assert features >= {
        "atomic", "buffer", "fold", "if", "in place", "loop", "parallel", "paths", "ragged", "region scan",
        "rows in place", "scatter", "through memory", "triangle", "while",
    }  # fmt: skip


WRONG = """
@intent.kernel
def wrong(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)], z: I.Out[I.i32, ("M", "N")]):
    M, N = x.shape
    twice = x[...] + x[...]
    z[...] = twice * 3
    total = I.reduce.sum(twice, axis=1)
    for k in range(N):
        total = total + x[:, k]
    y[...] = total
"""


def test_a_wrong_evaluator_is_found_and_the_kernel_shrinks(monkeypatch):
    """With sums of the program evaluator off by one, only a sum has to be left."""
    from intent.reference.physical import collective

    right = collective._builtin
    monkeypatch.setattr(collective, "_builtin", lambda kind, *rest: right(kind, *rest) + (kind == "sum"))
    options = Options()
    failure = judge(read(WRONG, {"M": 4, "N": 3}), options)
    assert failure is not None
    assert failure.stage.startswith("physical")
    small = shrink(failure, options, seconds=20)
    assert small.signature == failure.signature
    assert "reduce.sum" in small.program.source
    assert "for k" not in small.program.source
    assert "z[...]" not in small.program.source
    assert max(small.extents.values()) <= 2
    assert "plan (" in report(small)
    assert small.program.source in report(small) + "\n"


def test_programs_without_meaning_are_not_judged():
    racing = read(
        """
@intent.kernel
def racing(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, (1,)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[0] = x[i]
""",
        {"N": 3},
    )
    with pytest.raises(Invalid, match="parallel points conflict"):
        judge(racing)


IN_TURN = """
@intent.kernel
def in_turn(x: I.In[I.i32, ("N",)], t: I.Out[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        t[i] = x[i]
    for i in I.parallel(I.domain(0, N)):
        y[i] = t[N - 1 - i]
"""


def test_a_program_without_meaning_says_nothing_of_the_next_one():
    """It ends inside a point, of which the next program's loops know nothing."""
    test_programs_without_meaning_are_not_judged()
    assert judge(read(IN_TURN, {"N": 4})) is None


@pytest.mark.parametrize("extent", [1, 4])
def test_refused_points_meet_at_larger_extents_or_on_other_data(extent):
    """The branch is taken on no data that is drawn at these extents, or the loop has one point."""
    meeting = read(
        """
@intent.kernel
def meeting(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    N = x.shape[0]
    if x[0] > 4:
        for i in I.parallel(I.domain(0, N)):
            y[i] = y[0] + x[i]
""",
        {"N": extent},
    )
    with pytest.raises(Invalid, match="other extents or on other data"):
        judge(meeting)


def test_a_false_refusal_is_found(monkeypatch):
    from intent.diagnostics import ConflictingAccess
    from intent.frontend import conflicts

    def refuse(points, store, *_):
        raise ConflictingAccess(store.resource, witness="none", span=store.op.span)

    monkeypatch.setattr(conflicts, "_compare", refuse)
    failure = judge(read(IN_TURN, {"N": 4}))
    assert failure is not None
    assert failure.signature[0] == "front"
    assert failure.kind.startswith("ConflictingAccess")


def test_extents_and_arguments_are_reproducible():
    program = generate(5)
    first, second = (draw(program, program.extents[0], np.random.default_rng(3)) for _ in range(2))
    for name in first:
        assert np.array_equal(first[name], second[name])
