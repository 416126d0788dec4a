import triton
import triton.language as tl


@triton.jit
def both(x, y, w, s, x_stride_0, y_stride_0, w_stride_0, w_stride_1, s_stride_0, N, K, INDEX: tl.constexpr):
    pid = tl.program_id(0).to(INDEX)
    if pid < tl.cdiv(N, 64):
        # y[...] = x + x
        i = pid * 64 + tl.arange(0, 64)
        mask = i < N
        x_value = tl.load(x + i * x_stride_0, mask=mask, other=0.0)
        tl.store(y + i * y_stride_0, x_value + x_value, mask=mask)
    else:
        pid_2 = pid - tl.cdiv(N, 64)
        # s[...] = I.reduce.sum(w, axis=1)
        k = tl.arange(0, 64)
        acc = tl.full((), 0.0, tl.float32)
        for begin in range(0, K, 64):
            t = begin + k
            w_value = tl.load(w + pid_2 * w_stride_0 + t * w_stride_1, mask=t < K, other=0.0)
            t_2 = tl.sum(w_value, axis=0)
            acc = acc + t_2
        tl.store(s + pid_2 * s_stride_0, acc)
