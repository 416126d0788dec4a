import triton
import triton.language as tl


@triton.jit
def row_sum(x, y, x_stride_0, x_stride_1, y_stride_0, N, INDEX: tl.constexpr):
    pid = tl.program_id(0).to(INDEX)
    n = tl.arange(0, 64)
    # y[i] = I.reduce.sum(x[i, :], axis=0)
    partial = tl.full((64,), 0.0, tl.float32)
    for begin in range(0, N, 64):
        column = begin + n
        piece = tl.load(x + pid * x_stride_0 + column * x_stride_1, mask=column < N, other=0.0)
        partial = partial + piece
    t = tl.sum(partial, axis=0)
    tl.store(y + pid * y_stride_0, t)
