import triton
import triton.language as tl


@triton.jit
def add(x, y, out, x_stride_0, y_stride_0, out_stride_0, N, INDEX: tl.constexpr):
    pid = tl.program_id(0).to(INDEX)
    # for i in I.parallel(I.domain(0, x.shape[0])):
    i = pid * 128 + tl.arange(0, 128)
    mask = i < N
    # out[i] = x[i] + y[i]
    x_i = tl.load(x + i * x_stride_0, mask=mask, other=0.0)
    y_i = tl.load(y + i * y_stride_0, mask=mask, other=0.0)
    tl.store(out + i * out_stride_0, x_i + y_i, mask=mask)
