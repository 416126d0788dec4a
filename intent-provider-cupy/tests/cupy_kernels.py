"""Kernels that the tests of emission share, and how they are emitted and run."""

from __future__ import annotations

from dataclasses import replace

import intent
import intent.language as I


@intent.kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        row = x[i, :]
        top = I.reduce.max(row, axis=0)
        weights = I.exp(row - top)
        y[i, :] = weights / I.reduce.sum(weights, axis=0)


@intent.kernel
def layer_norm(
    x: I.In[I.bf16, ("M", "N")],
    gain: I.In[I.f32, ("N",)],
    shift: I.In[I.f32, ("N",)],
    y: I.Out[I.bf16, ("M", "N")],
    eps: I.f32,
):
    for i in I.parallel(I.domain(0, x.shape[0])):
        row = I.cast(x[i, :], I.f32)
        count = I.cast(x.shape[1], I.f32)
        mean = I.reduce.sum(row, axis=0) / count
        centred = row - mean
        variance = I.reduce.sum(centred * centred, axis=0) / count
        scale = I.rsqrt(variance + eps)
        y[i, :] = I.cast(centred * scale * gain[...] + shift[...], I.bf16)


@intent.kernel
def matmul(a: I.In[I.bf16, ("M", "K")], b: I.In[I.bf16, ("K", "N")], c: I.Out[I.bf16, ("M", "N")]):
    c[...] = I.cast(I.matmul(a[...], b[...], acc_dtype=I.f32), I.bf16)


@intent.kernel
def matmul_f32(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


@intent.kernel
def attention(
    q: I.In[I.f16, ("M", "D")],
    k: I.In[I.f16, ("N", "D")],
    v: I.In[I.f16, ("N", "D")],
    o: I.Out[I.f32, ("M", "D")],
):
    scores = I.matmul(q[...], k[...], transpose_rhs=True, acc_dtype=I.f32)
    weights = I.exp(scores - I.reduce.max(scores, axis=1)[:, None])
    total = I.reduce.sum(weights, axis=1)
    o[...] = I.matmul(I.cast(weights, I.f16), v[...], acc_dtype=I.f32) / total[:, None]


@intent.kernel
def transpose(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    y[...] = I.transpose(x[...])


@intent.kernel
def prefix(x: I.In[I.f32, ("M", "N")], up: I.Out[I.f32, ("M", "N")], down: I.Out[I.f32, ("M", "N")]):
    up[...] = I.cumsum(x[...], axis=1)
    down[...] = I.cumsum(x[...], axis=1, reverse=True)


@intent.fn
def affine(p, q):
    return I.record(a=p.a * q.a, b=q.a * p.b + q.b)


@intent.kernel
def affine_all(a: I.In[I.f32, ("M", "N")], b: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    made = I.scan(I.record(a=a[...], b=b[...]), axis=1, identity=I.record(a=1.0, b=0.0), combine=affine)
    y[...] = made.b


HEAD = 'extern "C"'


def compiled(kernel, extents, **knobs):
    """The kernel with its default plan for the extents, but these knobs of the provider."""
    from intent.construct import analyze
    from intent.planning.default import default
    from intent_provider_cupy.capabilities import CAPABILITIES

    kir = intent.compile(kernel, provider="cupy").kir
    plan = default(analyze(kir), CAPABILITIES, extents)
    together = {**dict(plan.knobs), **knobs}
    plan = replace(plan, knobs=tuple(sorted(together.items())))
    return intent.compile(kernel, provider="cupy", plan=plan)


def kernel_text(artifact):
    """The emitted kernel without the prelude, behind its layout block."""
    from intent_provider_cupy.emit.interface import LAYOUT_END

    source = artifact.source
    text = source if isinstance(source, str) else source.text
    head, rest = text.split(LAYOUT_END, 1)
    return f"{head}{LAYOUT_END}\n\n{rest[rest.index(HEAD) :]}"


def compiler_log(artifact):
    """What the compiler for Hopper says about the kernel in the layout in which everything divides."""
    from cuda.bindings import nvrtc

    from intent_provider_cupy.build import OPTIONS
    from intent_provider_cupy.emit import emit
    from intent_provider_cupy.emit.interface import default_layout, specialised

    emitted = emit(artifact.program)
    layout = default_layout(emitted.signature)
    layout = replace(layout, divisors=tuple((name, 16) for name, _ in layout.divisors))
    text = specialised(emitted.text, emitted.signature, layout)
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, [], [])
    options = [b"--gpu-architecture=sm_90a", b"--ptxas-options=-v", *(o.encode() for o in OPTIONS)]
    assert not nvrtc.nvrtcCompileProgram(program, len(options), options)[0]
    log = b" " * nvrtc.nvrtcGetProgramLogSize(program)[1]
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(program)
    return log.decode()
