"""The parts of the benchmark that need no GPU: interleaving, admission, ratios, the record."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from intent.provider.registry import registry
from intent.runtime.artifact import Artifact
from intent_testkit.bench import check as checking
from intent_testkit.bench import measure as measuring
from intent_testkit.bench import record
from intent_testkit.bench.check import WrongContender
from intent_testkit.bench.contender import Contender, Result, Workload
from intent_testkit.bench.stand_in import gpu
from intent_testkit.bench.timing import LEAST_ROUNDS, Timing, interleave
from intent_testkit.bench.workloads import ALL


class Clock:
    """A device clock that calls advance, and a torch made of it."""

    def __init__(self):
        self.now, self.order = 0.0, []
        clock = self

        class Event:
            def __init__(self, *, enable_timing):
                assert enable_timing

            def record(self):
                self.at = clock.now

            def elapsed_time(self, other):
                return other.at - self.at

        flush = SimpleNamespace(zero_=lambda: self.spend("flush", 50.0))
        self.torch = SimpleNamespace(
            int8=None,
            empty=lambda *_, **__: flush,
            cuda=SimpleNamespace(Event=Event, synchronize=lambda: None, empty_cache=lambda: None),
        )

    def spend(self, name, ms):
        self.order.append(name)
        self.now += ms


def test_contenders_take_turns_behind_a_flush_and_the_flush_is_not_timed():
    clock = Clock()
    calls = {"a": lambda: clock.spend("a", 8.0), "b": lambda: clock.spend("b", 16.0)}
    times = interleave(clock.torch, calls)
    assert times["a"].milliseconds == 8.0
    assert times["b"].milliseconds == 16.0
    assert times["a"].spread == 0.0
    timed = clock.order[6:]
    assert timed[:10] == ["b", "flush", "a", "flush", "b"] * 2
    assert times["a"].repetitions == LEAST_ROUNDS


def test_the_first_contender_does_not_pay_for_the_pause_between_rounds():
    clock = Clock()
    idle = [True]

    def pause():
        idle[0] = True

    def spend(name):
        clock.spend(name, 4.0 + 2.0 * idle[0])
        idle[0] = False

    clock.torch.cuda.synchronize = pause
    times = interleave(clock.torch, {"a": lambda: spend("a"), "b": lambda: spend("b")})
    assert times["a"].milliseconds == times["b"].milliseconds == 4.0


def test_a_fast_call_is_repeated_for_a_hundred_milliseconds():
    clock = Clock()
    times = interleave(clock.torch, {"a": lambda: clock.spend("a", 0.5)})
    assert times["a"].repetitions == 200


class Tensor(np.ndarray):
    def double(self):
        return self.astype(np.float64).view(Tensor)

    def fill_(self, value):
        self[...] = value

    def is_floating_point(self):
        return self.dtype.kind == "f"

    def abs_(self):
        return abs(self)

    def abs(self):
        return abs(self)


def _tensor(values):
    return np.array(values, np.float32).view(Tensor)


TORCH = SimpleNamespace(
    cuda=SimpleNamespace(synchronize=lambda: None, empty_cache=lambda: None),
    isfinite=np.isfinite,
    finfo=np.finfo,
    linalg=SimpleNamespace(vector_norm=lambda x: np.sqrt((np.asarray(x) ** 2).sum())),
)


@pytest.mark.parametrize(
    ("dtype", "least"), [(np.float32, 12345.0), (np.float16, 12345.0), (np.int32, 12345)]
)
def test_outputs_are_poisoned_whatever_their_type(dtype, least):
    out = np.zeros(3, dtype).view(Tensor)
    seen = []

    def call():
        seen.append(np.array(out))
        out[...] = [1, 2, 3]
        return out

    workload = _workload([])
    reference = np.array([1, 2, 3], np.int64).view(Tensor)
    assert checking.check(TORCH, workload, {"out": out}, call, reference=reference) == 0.0
    assert np.all(seen[0] == np.asarray(least, dtype))


def _workload(contenders, **bounds):
    return Workload(
        name="copy",
        make=lambda _: {"x": _tensor([1, 2, 3]), "out": _tensor([0, 0, 0])},
        reference=lambda t: t["x"].double(),
        contenders=lambda _: contenders,
        work=6e6,
        unit="GB/s",
        **({"error": 1e-6, "worst": 1e-6} | bounds),
    )


def _writer(name, values, *, ours=False):
    def bind(tensors):
        def call():
            tensors["out"][: len(values)] = values
            return tensors["out"]

        return call

    return Contender(name=name, bind=bind, ours=ours)


def _measure(monkeypatch, contenders, times):
    timed = {name: Timing(milliseconds=ms, spread=0.01, repetitions=20) for name, ms in times.items()}
    monkeypatch.setattr(measuring, "interleave", lambda _, calls: {name: timed[name] for name in calls})
    return {
        r.contender: r
        for r in measuring.measure(TORCH, _workload(contenders), ("p",), {"GB/s": 12.0, "TFLOP/s": 1.0})
    }


def test_rates_shares_and_ratios(monkeypatch):
    found = _measure(
        monkeypatch,
        [_writer("ours", [1, 2, 3], ours=True), _writer("slow", [1, 2, 3]), _writer("fast", [1, 2, 3])],
        {"ours": 1.0, "slow": 4.0, "fast": 2.0},
    )
    assert found["ours"].rate == 6.0
    assert found["ours"].share_of_ceiling == 0.5
    assert found["ours"].ratio_to_best_peer == 2.0
    assert found["slow"].ratio_to_best_peer == 0.5


@pytest.mark.parametrize(
    ("values", "why"),
    [([1, 2, 4], "relative error"), ([1, 2], "relative error"), ([1, 2, np.nan], "NaN or infinity")],
)
def test_a_wrong_contender_is_reported_and_never_timed(monkeypatch, values, why):
    found = _measure(monkeypatch, [_writer("bad", values), _writer("good", [1, 2, 3])], {"good": 1.0})
    assert why in found["bad"].failure
    assert found["bad"].rate is None
    assert found["good"].ratio_to_best_peer == 1.0


def test_a_peer_that_raises_is_reported(monkeypatch):
    def bind(_):
        raise RuntimeError("no such kernel")

    found = _measure(
        monkeypatch, [Contender(name="peer", bind=bind), _writer("ours", [1, 2, 3], ours=True)], {"ours": 1.0}
    )
    assert found["peer"].failure == "RuntimeError: no such kernel"
    assert found["ours"].ratio_to_best_peer is None


def test_a_wrong_shape_is_refused():
    workload = _workload([])
    tensors = workload.make(None)
    with pytest.raises(WrongContender, match="shape"):
        checking.check(TORCH, workload, tensors, lambda: tensors["out"][:2], reference=tensors["x"].double())


def test_a_contender_that_adds_starts_from_the_initial_value():
    workload = _workload([], initial=0.0)
    tensors = workload.make(None)

    def call():
        tensors["out"][...] += tensors["x"]
        return tensors["out"]

    call()
    assert checking.check(TORCH, workload, tensors, call, reference=tensors["x"].double()) == 0.0


def test_slack_admits_a_coarse_peer_and_only_so_far():
    workload = _workload([])
    tensors = workload.make(None)
    reference = tensors["x"].double()
    coarse = reference * (1 + 5e-5)
    with pytest.raises(WrongContender, match="bound 1e-06"):
        checking.check(TORCH, workload, tensors, lambda: coarse, reference=reference)
    assert checking.check(TORCH, workload, tensors, lambda: coarse, reference=reference, slack=100.0) > 4e-5
    with pytest.raises(WrongContender, match="bound 1e-05"):
        checking.check(TORCH, workload, tensors, lambda: coarse, reference=reference, slack=10.0)


def test_the_record_holds_failures(tmp_path):
    results = [
        Result(
            workload="w",
            contender="ours",
            ours=True,
            unit="GB/s",
            milliseconds=1.5,
            rate=4000.0,
            error=1e-7,
            share_of_ceiling=0.9,
            ratio_to_best_peer=1.1,
            first_call_s=2.0,
        ),
        Result(workload="w", contender="peer", ours=False, unit="GB/s", failure="RuntimeError: a|b\nmore"),
    ]
    paths = record.save(tmp_path / "deep", results, {"device": "toy"}, {"launch": "3 us"})
    text = (tmp_path / "deep" / "bench.md").read_text()
    assert "| w | ours | 1.5000 | 4000 GB/s | 0.90 | 1.10 | 1.0e-07 | 2.00 s |" in text
    assert "FAILED: RuntimeError: a\\|b |" in text
    assert "| launch | 3 us |" in text
    saved = json.loads(paths[0].read_text())
    assert saved["facts"] == {"device": "toy"}
    assert saved["results"][1]["failure"].startswith("RuntimeError")


def test_the_record_names_its_commit(monkeypatch):
    monkeypatch.setenv("INTENT_COMMIT", " 0123abc ")
    assert record.commit() == "0123abc"
    monkeypatch.delenv("INTENT_COMMIT")
    monkeypatch.setenv("PATH", "")
    assert record.commit() == "unknown"


def test_the_lines_are_the_ones_of_the_plan():
    names = [workload.name for workload in ALL]
    assert len(names) == len(set(names)) >= 40
    for part in (
        "add", "swiglu", "transpose", "softmax", "layer norm", "rms norm", "cross entropy", "quantise", "row max",
        "argmax", "cumsum", "column sum", "sum f32", "histogram", "gather", "scatter add", "CSR", "gemv", "gemm 8191",
        "gemm bias gelu", "4096x4096x4096 float32", "float8", "batched", "even", "ragged", "conv2d", "attention",
        "paged decode", "linear attention", "gated linear attention",
    ):  # fmt: skip
        assert any(part in name for name in names), part


def test_work_is_what_the_hand_count_gives():
    work = {workload.name: workload.work for workload in ALL}
    assert work["add f32 134217728"] == 3 * 4 * 2**27
    assert work["row softmax 16384x4096 bfloat16"] == 2 * 2 * 16384 * 4096
    assert work["gemm 8192x8192x8192 bfloat16"] == 2 * 8192**3
    assert work["gemm 16x16384x8192 bfloat16"] == 2 * (16 * 8192 + 8192 * 16384 + 16 * 16384)
    assert work["conv2d 32x256x56x56 3x3 bfloat16"] == 2 * 32 * 56 * 56 * 9 * 256 * 256
    assert work["CSR matvec 32768 rows of 32 float32"] == 8 * 2**20 + 4 * (32769 + 2 * 32768)
    gemm = next(w for w in ALL if w.name == "gemm 8192x8192x8192 bfloat16")
    assert gemm.rate(2.0) == pytest.approx(2 * 8192**3 / 2e-3 / 1e12)


def _drawing(torch):
    """Give a stand-in torch what the lines draw their inputs with: shapes and dtypes, no memory."""

    def made(*shape, dtype=None, device="cuda"):
        assert device == "cuda"
        tensor = bare(*shape, dtype=dtype)
        tensor.to = lambda other: bare(*shape, dtype=other)
        tensor.reshape = lambda *other: bare(*other, dtype=dtype)
        tensor.uniform_ = lambda _low, _high: tensor
        return tensor

    bare = torch.empty
    torch.empty = torch.randn = torch.rand = made
    torch.randint = lambda _low, _high, shape, **named: made(*shape, **named)
    torch.randperm = made
    torch.tensor = lambda values, **named: made(len(values), **named)
    return torch


OURS = [
    pytest.param(line, provider, id=f"{line.name}-{provider}")
    for line in ALL
    for provider in ("triton", "cutile", "cupy")
]


@pytest.mark.parametrize(("line", "provider"), OURS)
def test_every_line_has_a_text_for_its_own_extents(line, provider, monkeypatch):
    monkeypatch.delenv("INTENT_EXECUTION", raising=False)
    monkeypatch.setattr(type(registry().get(provider)), "available", lambda _: None)
    texts = []

    def emit(artifact, *arguments):
        artifact._checked(arguments, {})
        texts.append(artifact.source)

    monkeypatch.setattr(Artifact, "__call__", emit)
    with gpu() as (torch, _):
        tensors = line.make(_drawing(torch))
        (contender,) = [c for c in line.contenders((provider,)) if c.ours]
        assert contender.bind(tensors)() is tensors["out"]
    assert len(texts) == 1
