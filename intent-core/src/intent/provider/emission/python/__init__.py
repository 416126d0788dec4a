"""What texts in Python's syntax share: lines under the author's lines, expressions, control, segments."""

from intent.provider.emission.python.body import Body
from intent.provider.emission.python.segments import write_segments
from intent.provider.emission.python.value import Prec, Value, expanded, shape_text, union_dims
from intent.provider.emission.python.writer import Writer, definition

__all__ = [
    "Body", "Prec", "Value", "Writer", "definition", "expanded", "shape_text", "union_dims", "write_segments",
]  # fmt: skip
