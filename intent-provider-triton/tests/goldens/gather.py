import triton
import triton.language as tl


@triton.jit
def gather(
    table, rows, out, table_stride_0, table_stride_1, rows_stride_0, out_stride_0, out_stride_1, D,
    INDEX: tl.constexpr,
):
    pid = tl.program_id(0).to(INDEX)
    # out[i, :] = I.gather(table, index=(rows[i], d), valid=rows[i] >= 0)
    row = tl.load(rows + pid * rows_stride_0)
    d = tl.arange(0, 32)
    inside = d < D
    table_value = tl.load(table + row * table_stride_0 + d * table_stride_1, mask=(row >= 0) & inside, other=0.0)
    tl.store(out + pid * out_stride_0 + d * out_stride_1, table_value, mask=inside)
