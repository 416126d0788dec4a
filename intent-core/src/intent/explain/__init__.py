"""What was constructed from a kernel and why: a typed report, and its renderings as text, JSON and HTML."""

from intent.explain.collect import Built, collect
from intent.explain.document import document, schema
from intent.explain.page import page
from intent.explain.report import Report
from intent.explain.text import text

__all__ = ["Built", "Report", "collect", "document", "page", "schema", "text"]
