import triton
import triton.language as tl


@triton.jit
def _exp_f32(x):
    # exp(x) = 2**n * 2**r with n the nearest integer to x * log2(e), clamped so that 2**n is normal.
    n = tl.minimum(tl.maximum(tl.floor(x * 1.4426950408889634 + 0.5), -126.0), 127.0)
    r = tl.fma(x, 1.44269502162933349609375, n * -1.0)
    r = tl.fma(x, 1.925963033500011079e-8, r)
    scale = ((n.to(tl.int32) + 127) << 23).to(tl.float32, bitcast=True)
    return tl.exp2(r) * scale


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def softmax(x, y, x_stride_0, x_stride_1, y_stride_0, y_stride_1, N, INDEX: tl.constexpr):
    pid = tl.program_id(0).to(INDEX)
    # row = I.cast(x[i, :], I.f32)
    n = tl.arange(0, 1024)
    valid = n < N
    row = tl.load(x + pid * x_stride_0 + n * x_stride_1, mask=valid, other=-float("inf"))
    # top = I.reduce.max(row, axis=0)
    top = tl.reduce(row, 0, _nan_max)
    # weights = I.exp(row - top)
    weights = _exp_f32(row - top)
    # y[i, :] = I.cast(weights / I.reduce.sum(weights, axis=0), y.dtype)
    total = tl.sum(tl.where(valid, weights, 0.0), axis=0)
    tl.store(y + pid * y_stride_0 + n * y_stride_1, tl.div_rn(weights, total), mask=valid)
