"""What every room may know: dtypes, source spans and extents."""

from intent.types.dtypes import DType
from intent.types.extent import Extent
from intent.types.span import Span

__all__ = ["DType", "Extent", "Span"]
