"""What providers that write text share: the integer type of an index, the bounds of values, the uses of fragments."""

from intent.provider.emission.bounds import INT32_MAX, INT32_MIN, Bounds, Interval, never_negative
from intent.provider.emission.usage import Usage
from intent.provider.emission.width import Width

__all__ = ["INT32_MAX", "INT32_MIN", "Bounds", "Interval", "Usage", "Width", "never_negative"]
