"""The equations that authors declare by choosing an operation (spec: logical-program 5 and 6).

They are tested on the values of the call: elements, partial results, and slices of the actual source. A law that
only roundings break is not broken: the equations are evaluated in double precision wherever the helpers allow it.
"""

from __future__ import annotations

from typing import Final

from intent import kir
from intent.reference.sanitizer.context import Check
from intent.reference.sanitizer.laws.elements import reduce_laws, scan_laws, scatter_laws
from intent.reference.sanitizer.laws.slices import fold_laws, region_scan_laws

__all__ = ["BEFORE"]

BEFORE: Final[dict[type[kir.Op], Check]] = {
    kir.Reduce: reduce_laws,
    kir.Scan: scan_laws,
    kir.ScatterReduce: scatter_laws,
    kir.RegionFold: fold_laws,
    kir.RegionScan: region_scan_laws,
}
