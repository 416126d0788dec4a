"""One workload: bind and check every contender, then time those that are right, in turn."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from intent_testkit.bench.check import check
from intent_testkit.bench.contender import Call, Contender, Result, Tensors, Workload
from intent_testkit.bench.timing import interleave


def measure(
    torch: Any, workload: Workload, providers: tuple[str, ...], ceilings: Mapping[str, float]
) -> list[Result]:
    """Results of every contender; one that fails or is wrong is reported with the reason, never dropped."""
    tensors = workload.make(torch)
    reference = workload.reference(tensors)
    results: dict[str, Result] = {}
    calls: dict[str, Call] = {}
    for contender in workload.contenders(providers):
        result = Result(
            workload=workload.name, contender=contender.name, ours=contender.ours, unit=workload.unit
        )
        results[contender.name] = result
        call = _admit(torch, workload, contender, tensors, reference=reference, result=result)
        if call is not None:
            calls[contender.name] = call
    del reference
    torch.cuda.empty_cache()
    for name, timing in interleave(torch, calls).items() if calls else ():
        result = results[name]
        result.milliseconds, result.spread = timing.milliseconds, timing.spread
        result.repetitions = timing.repetitions
        result.rate = workload.rate(timing.milliseconds)
        result.share_of_ceiling = result.rate / ceilings[workload.unit]
    _compare(list(results.values()))
    return list(results.values())


def _admit(
    torch: Any, workload: Workload, contender: Contender, tensors: Tensors, *, reference: Any, result: Result
) -> Call | None:
    """Bind, call once (timed apart), check. None, with the reason in ``result``, if any of it fails."""
    begin = time.perf_counter()
    try:
        call = contender.bind(tensors)
        call()
        torch.cuda.synchronize()
        result.first_call_s = time.perf_counter() - begin
        result.error = check(torch, workload, tensors, call, reference=reference, slack=contender.slack)
    except Exception as error:  # noqa: BLE001 -- a peer may fail in any way; the table says how
        result.failure = f"{type(error).__name__}: {str(error).strip()[:500]}"
        return None
    return call


def _compare(results: list[Result]) -> None:
    peers = [result.rate for result in results if not result.ours and result.rate is not None]
    if peers:
        for result in results:
            if result.rate is not None:
                result.ratio_to_best_peer = result.rate / max(peers)
