"""Lines of decoding from a cache in pages, and of linear attention."""

from __future__ import annotations

from typing import Any

from intent_testkit.bench.contender import Call, Contender, Tensors, Workload
from intent_testkit.bench.contenders import compiled, eager, field
from intent_testkit.bench.inputs import ERROR, SIZE, WORST, empty, listed, normal
from intent_testkit.kernels import serving


def paged_decode(b: int, heads: int, groups: int, s: int, d: int, page: int) -> Workload:
    """One new token of ``b`` sequences against f16 caches of ``s`` tokens; heads share keys in groups."""
    pages, shared = b * s // page, heads // groups

    def make(torch: Any) -> Tensors:
        cache = [normal(torch, pages, page, groups, d, dtype="float16") for _ in range(2)]
        order = torch.randperm(pages, device="cuda", dtype=torch.int32)
        return {
            "q": normal(torch, b, groups, shared, d, dtype="float16"),
            "k": cache[0],
            "v": cache[1],
            "table": order.reshape(b, s // page),
            "lengths": listed(torch, [s] * b),
            "out": empty(torch, b, groups, shared, d, dtype="float16"),
        }

    def gathered(t: Tensors, name: str) -> Any:
        found = t[name][t["table"]]
        return found.reshape(b, s, groups, d).transpose(1, 2)

    def attended(q: Any, k: Any, v: Any) -> Any:
        import torch

        # The heads that share keys stand in the place of a sequence of queries.
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    def function(t: Tensors) -> Any:
        return attended(t["q"], gathered(t, "k"), gathered(t, "v"))

    def contiguous(t: Tensors) -> Call:
        k, v = (gathered(t, name).contiguous() for name in "kv")
        return lambda: attended(t["q"], k, v)

    def reference(t: Tensors) -> Any:
        k, v = (gathered(t, name).double() for name in "kv")
        return (t["q"].double() @ k.transpose(2, 3) * d**-0.5).softmax(-1) @ v

    return Workload(
        name=f"paged decode B{b} QH{heads} KVH{groups} S{s} D{d} page {page} float16",
        make=make,
        reference=reference,
        contenders=field(
            serving.paged_decode,
            ("q", "k", "v", "table", "lengths", "out"),
            eager(function, "torch (gather, SDPA)"),
            compiled(function),
            Contender(name="SDPA without pages", bind=contiguous),
        ),
        work=4 * b * s * groups * d + 4 * b * heads * d + 4 * (pages + b),
        unit="GB/s",
        # Weights are rounded to f16 before the second product, and the result once more.
        error=2 * ERROR["float16"],
        worst=2 * WORST["float16"],
    )


def linear_attention(heads: int, t: int, d: int) -> Workload:
    """Causal attention without a softmax, f32: the sum of outer products of keys and values is the state."""
    chunk = 64

    def make(torch: Any) -> Tensors:
        q, k, v = (normal(torch, heads, t, d, dtype="float32") for _ in range(3))
        return {"q": q, "k": k, "v": v, "out": empty(torch, heads, t, d, dtype="float32")}

    def function(tensors: Tensors) -> Any:
        q, k, v = (tensors[name].reshape(heads, t // chunk, chunk, d) for name in "qkv")
        outer = k.transpose(2, 3) @ v
        state = outer.cumsum(1) - outer
        return (q @ state + (q @ k.transpose(2, 3)).tril() @ v).reshape(heads, t, d)

    def library(tensors: Tensors) -> Call:
        from importlib import import_module

        chunked: Any = import_module("fla.ops.linear_attn").chunk_linear_attn
        q, k, v = (tensors[name][:, :, None, :] for name in "qkv")
        return lambda: chunked(q, k, v, scale=1.0, normalize=False)[0][:, :, 0, :]

    def reference(tensors: Tensors) -> Any:
        import torch

        each = zip(*(tensors[name] for name in "qkv"), strict=True)
        return torch.stack([(q.double() @ k.double().t()).tril() @ v.double() for q, k, v in each])

    return Workload(
        name=f"linear attention {heads}x{t}x{d} float32",
        make=make,
        reference=reference,
        contenders=field(
            serving.linear_attention_heads,
            ("q", "k", "v", "out"),
            eager(function, "torch eager, in chunks"),
            compiled(function),
            # Its products are tf32.
            Contender(name="flash-linear-attention", bind=library, slack=1e3),
        ),
        work=4 * SIZE["float32"] * heads * t * d,
        unit="GB/s",
        error=ERROR["float32"],
        worst=WORST["float32"],
    )


ALL: tuple[Workload, ...] = (
    paged_decode(16, 32, 8, 8192, 128, 16),
    linear_attention(64, 4096, 64),
)
