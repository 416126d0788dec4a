"""What providers that write text share: names, arguments, the integer type of an index, bounds and uses of values."""

from intent.provider.emission.arguments import Arguments, Kind, Parameter, value_of
from intent.provider.emission.bounds import INT32_MAX, INT32_MIN, Bounds, Interval, never_negative
from intent.provider.emission.folding import folded
from intent.provider.emission.names import Namer
from intent.provider.emission.signature import Signature
from intent.provider.emission.usage import Usage
from intent.provider.emission.width import Width

__all__ = [
    "INT32_MAX", "INT32_MIN", "Arguments", "Bounds", "Interval", "Kind", "Namer", "Parameter", "Signature", "Usage",
    "Width", "folded", "never_negative", "value_of",
]  # fmt: skip
