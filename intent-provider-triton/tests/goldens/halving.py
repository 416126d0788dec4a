import triton
import triton.language as tl


@triton.jit
def halving(x, y, x_stride_0, y_stride_0, INDEX: tl.constexpr):
    pid = tl.program_id(0).to(INDEX)
    # while n % 2 == 0 and n != 0:
    x_value = tl.load(x + pid * x_stride_0)
    n = x_value
    count = tl.full((), 0, tl.int32)
    while (n & 1 == 0) & (n != 0):
        n = n >> 1
        count = count + 1
    tl.store(y + pid * y_stride_0, count)
