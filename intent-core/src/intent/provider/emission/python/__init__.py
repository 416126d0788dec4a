"""What texts in Python's syntax share: lines under the author's lines, expressions, control, segments."""

from intent.provider.emission.python.body import Body
from intent.provider.emission.python.extents import ExtentWriter
from intent.provider.emission.python.segments import write_segments
from intent.provider.emission.python.value import Prec, Value, expanded, index_literal, shape_text, union_dims
from intent.provider.emission.python.writer import Writer, definition

__all__ = [
    "Body", "ExtentWriter", "Prec", "Value", "Writer", "definition", "expanded", "index_literal", "shape_text",
    "union_dims", "write_segments",
]  # fmt: skip
