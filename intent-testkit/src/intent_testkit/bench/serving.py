"""Lines of decoding from a cache in pages, and of linear attention with and without gates."""

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


def gated_linear_attention(b: int, t: int, heads: int, d: int) -> Workload:
    """Linear attention whose state fades by a number of its own in every step and head, bf16."""
    chunk = 64

    def make(torch: Any) -> Tensors:
        q, k, v = (normal(torch, b, t, heads, d, dtype="bfloat16") for _ in range(3))
        gate = empty(torch, b, t, heads, dtype="float32").uniform_(-0.1, 0)
        return {"q": q, "k": k, "v": v, "gate": gate, "out": empty(torch, b, t, heads, d, dtype="bfloat16")}

    def function(tensors: Tensors) -> Any:
        """In chunks; the states before them are a product of what fades between two chunks."""
        shape = (b, t // chunk, chunk, heads)
        q, k, v = (tensors[name].reshape(*shape, d).permute(0, 3, 1, 2, 4) for name in "qkv")
        since = tensors["gate"].reshape(shape).permute(0, 3, 1, 2).cumsum(-1)
        end = since[..., -1:]
        outer = ((k * (end - since).exp()[..., None].to(k.dtype)).transpose(-1, -2) @ v).flatten(-2)
        after = end.cumsum(2)
        between = ((after - end) - after.transpose(-1, -2)).exp().tril(-1).to(q.dtype)
        states = (between @ outer).unflatten(-1, (d, d))
        apart = since[..., :, None] - since[..., None, :]
        faded = apart.exp().tril()
        within = ((q @ k.transpose(-1, -2)) * faded).to(v.dtype) @ v
        before = (q @ states) * since.exp()[..., None]
        return (before + within).to(v.dtype).permute(0, 2, 3, 1, 4).reshape(b, t, heads, d)

    def library(tensors: Tensors) -> Call:
        from importlib import import_module

        chunked: Any = import_module("fla.ops.simple_gla").chunk_simple_gla
        q, k, v, gate = (tensors[name] for name in ("q", "k", "v", "gate"))
        return lambda: chunked(q, k, v, gate, scale=1.0)[0]

    def reference(tensors: Tensors) -> Any:
        import torch

        q, k, v = (tensors[name].double().transpose(1, 2) for name in "qkv")
        since = tensors["gate"].double().transpose(1, 2).cumsum(-1)
        each = []
        for q1, k1, v1, since1 in zip(*(x.flatten(0, 1) for x in (q, k, v, since)), strict=True):
            faded = (since1[:, None] - since1[None, :]).clamp(max=0).exp().tril()
            each.append(((q1 @ k1.t()) * faded) @ v1)
        return torch.stack(each).reshape(b, heads, t, d).transpose(1, 2)

    return Workload(
        name=f"gated linear attention {b}x{t}x{heads}x{d} bfloat16",
        make=make,
        reference=reference,
        contenders=field(
            serving.gated_linear_attention,
            ("q", "k", "v", "gate", "out"),
            eager(function, "torch eager, in chunks"),
            compiled(function),
            Contender(name="flash-linear-attention", bind=library),
        ),
        work=(4 * SIZE["bfloat16"] * d + SIZE["float32"]) * b * t * heads,
        unit="GB/s",
        # Scores, faded keys and states are rounded to bf16 before their products, and the result once more.
        error=3 * ERROR["bfloat16"],
        worst=3 * WORST["bfloat16"],
    )


ALL: tuple[Workload, ...] = (
    paged_decode(16, 32, 8, 8192, 128, 16),
    linear_attention(64, 4096, 64),
    gated_linear_attention(4, 4096, 16, 64),
)
