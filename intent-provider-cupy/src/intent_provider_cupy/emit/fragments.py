"""Results of tensor cores as rows of the next product: they lie in the registers where that wants its operand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.products import Product

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def held(body: Body, product: Product) -> bool:
    """Whether each thread has the elements of the rows' operand that tensor cores want from it."""
    table = body.placing.table_of(product.op)
    (k,) = product.op.dims
    return (
        product.fed.bits == 16
        and product.fed.is_float
        and body.home(product.rows) is table
        and product.rows.dims == (product.row_dim, k)
        and k in table.places
        and table.bits(k)[:3] == (None, 0, 1)
        and all(b is None for b in table.bits(k)[3:])
        and not table.runs.keys() & {k, product.row_dim}
    )


def rows_of(body: Body, product: Product) -> Variable | None:
    """The array, over the registers of rows and contracted lanes, of the rows' operand; None where it is elsewhere."""
    if not held(body, product) or product.rows.id in body.staged:
        return None
    table = body.placing.table_of(product.op)
    value = cast(body.use(product.rows, table), product.fed)
    whole = replace(value, dims=product.rows.dims)
    named = body.named(whole, product.rows.name or "rows", product.op.span, table)
    body.flush_keeping([named])
    return body.loops.sole(named.text)
