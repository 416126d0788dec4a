import triton
import triton.language as tl


@triton.jit
def branches(x, y, flip, x_stride_0, y_stride_0, INDEX: tl.constexpr):
    pid = tl.program_id(0).to(INDEX)
    # v = x[i]
    v = tl.load(x + pid * x_stride_0)
    # if flip:
    if flip:
        v_2 = v * -1.0
    else:
        v_2 = v * v
    # if v > 0:
    if v_2 > 0.0:
        tl.store(y + pid * y_stride_0, v_2)
