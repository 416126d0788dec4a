import triton
import triton.language as tl


@triton.jit
def matmul(
    a, b, c, a_stride_0, a_stride_1, b_stride_0, b_stride_1, c_stride_0, c_stride_1, M, K, N,
    INDEX: tl.constexpr,
):
    pid = tl.program_id(0).to(INDEX)
    # c[...] = I.matmul(a, b)
    t = tl.cdiv(N, 32)
    i = pid // t * 32 + tl.arange(0, 32)
    j = pid % t * 32 + tl.arange(0, 32)
    in_m = i < M
    in_n = j < N
    k = tl.arange(0, 32)
    acc = tl.full((32, 32), 0.0, tl.float32)
    for begin in range(0, K, 32):
        p = begin + k
        in_k = p < K
        left = tl.load(a + i[:, None] * a_stride_0 + p[None, :] * a_stride_1, mask=in_m[:, None] & in_k[None, :], other=0.0)
        right = tl.load(b + p[None, :] * b_stride_0 + j[:, None] * b_stride_1, mask=in_k[None, :] & in_n[:, None], other=0.0)
        acc = tl.dot(left, tl.trans(right), acc)
    tl.store(c + i[:, None] * c_stride_0 + j[None, :] * c_stride_1, acc, mask=in_m[:, None] & in_n[None, :])
