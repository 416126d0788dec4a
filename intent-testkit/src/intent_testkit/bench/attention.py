"""Attention forward: this project's region fold against torch's scaled dot product attention (flash and cuDNN)."""

from __future__ import annotations

from typing import Any

from intent_testkit.bench.contender import Contender, Tensors, Workload
from intent_testkit.bench.contenders import RELAXED, eager, field
from intent_testkit.bench.inputs import empty, normal
from intent_testkit.kernels import attention


def forward(b: int, h: int, n: int, d: int, *, causal: bool) -> Workload:
    """``softmax(Q K^T / sqrt(D)) V`` in bf16; a causal one does half of the operations."""

    def make(torch: Any) -> Tensors:
        q, k, v = (normal(torch, b, h, n, d, dtype="bfloat16") for _ in range(3))
        return {"q": q, "k": k, "v": v, "out": empty(torch, b, h, n, d, dtype="bfloat16")}

    def peer(name: str) -> Contender:
        def function(t: Tensors) -> Any:
            import torch
            from torch.nn.attention import SDPBackend, sdpa_kernel

            with sdpa_kernel(getattr(SDPBackend, name)):
                return torch.nn.functional.scaled_dot_product_attention(
                    t["q"], t["k"], t["v"], is_causal=causal
                )

        return eager(function, f"torch ({name.split('_', maxsplit=1)[0].lower()})")

    return Workload(
        name=f"attention B{b} H{h} S{n} D{d} {'causal' if causal else 'full'} bfloat16",
        make=make,
        reference=lambda t: _reference(t, causal=causal),
        contenders=field(
            attention.attention_forward,
            ("q", "k", "v", "out"),
            peer("FLASH_ATTENTION"),
            peer("CUDNN_ATTENTION"),
            constexprs={"CAUSAL": causal},
            options=RELAXED,
        ),
        work=4 * b * h * n * n * d // (2 if causal else 1),
        unit="TFLOP/s",
        # Weights are rounded to bf16 before the second product, and the result once more.
        error=6e-3,
        worst=1.2e-2,
    )


def _reference(t: Tensors, *, causal: bool) -> Any:
    """In float64, one head at a time: the logits of all heads together would not fit."""
    import torch

    q, k, v = (t[name] for name in ("q", "k", "v"))
    found = torch.empty(q.shape, dtype=torch.float64, device=q.device)
    n = q.shape[2]
    hidden = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1) if causal else None
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            logits = q[b, h].double() @ k[b, h].double().t() * q.shape[3] ** -0.5
            if hidden is not None:
                logits.masked_fill_(hidden, -torch.inf)
            found[b, h] = logits.softmax(-1) @ v[b, h].double()
    return found


ALL: tuple[Workload, ...] = (
    forward(4, 32, 4096, 128, causal=False),
    forward(4, 32, 4096, 128, causal=True),
    forward(4, 32, 4096, 64, causal=True),
    forward(1, 16, 16384, 128, causal=True),
)
