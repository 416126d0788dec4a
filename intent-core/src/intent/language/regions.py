"""Homomorphisms over contiguous slices of an ordered axis (spec: logical-program 5)."""

from __future__ import annotations

from intent.language.intrinsic import intrinsic
from intent.language.kinds import Axes, Helper, Value

__all__ = ["region_fold", "region_scan"]


@intrinsic("region_fold")
def region_fold(
    source: Value,
    axis: Axes,
    summarize: Helper,
    combine: Helper,
    identity: Value,
    operands: tuple[Value, ...] = (),
) -> Value:
    """Cut ``source`` along ``axis`` into slices anywhere, summarize each, and combine the summaries in order.

    The author declares ``summarize(A ++ B) == combine(summarize(A), summarize(B))`` for adjacent slices and
    that ``identity`` is neutral. The extent of a slice cannot be observed.

    Args:
        source: a tensor, or a tuple or record of tensors with one extent along ``axis``.
        axis: one axis of every component.
        summarize: a pure helper of one slice (its components, then the operands) giving a summary.
        combine: a pure helper of two summaries giving one of the same type.
        identity: the summary of an empty slice.
        operands: run-time values that ``summarize`` takes whole.

    Raises:
        ImpureHelper, SchemaMismatch, SliceExtentObserved, RuntimeCapture, InvalidAxis.

    spec: logical-program 5
    """


@intrinsic("region_scan")
def region_scan(
    source: Value,
    axis: Axes,
    summarize: Helper,
    combine: Helper,
    identity: Value,
    initial_state: Value,
    apply: Helper,
    emit: Helper,
    operands: tuple[Value, ...] = (),
) -> Value:
    """``(outputs, final_state)``: a region fold whose slices emit outputs from their incoming states.

    The state before a slice is ``apply(summary of all before, initial_state)``; ``emit(slice, state,
    operands)`` gives one output for each member of the slice. The author declares that emitting ``A ++ B``
    equals emitting A, then B from ``apply(summarize(A), state)``.

    Args:
        source: a tensor, or a tuple or record of tensors with one extent along ``axis``.
        axis: one axis of every component; the outputs keep it.
        summarize: a pure helper of one slice (and the operands) giving a summary.
        combine: a pure helper of two summaries.
        identity: the summary of an empty slice.
        initial_state: the state before the first member.
        apply: a pure helper of a summary and a state, giving a state.
        emit: a pure helper of a slice, its incoming state and the operands, giving the slice's outputs.
        operands: run-time values that ``summarize`` and ``emit`` take whole.

    Raises:
        ImpureHelper, SchemaMismatch, SliceExtentObserved, RuntimeCapture, InvalidAxis.

    spec: logical-program 5
    """
