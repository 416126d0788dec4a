import triton
import triton.language as tl


@triton.jit
def reverse(x, y, x_stride_0, x_stride_1, y_stride_0, y_stride_1, N, held_buffer, INDEX: tl.constexpr):
    pid = tl.program_id(0).to(INDEX)
    n = tl.arange(0, 32)
    mask = n < N
    x_value = tl.load(x + pid * x_stride_0 + n * x_stride_1, mask=mask, other=0.0)
    tl.store(held_buffer + pid.to(tl.int64) * 32 + n, x_value)
    tl.debug_barrier()
    held_value = tl.load(held_buffer + pid.to(tl.int64) * 32 + (N - 1 - n), mask=mask, other=0.0)
    tl.store(y + pid * y_stride_0 + n * y_stride_1, held_value, mask=mask)
