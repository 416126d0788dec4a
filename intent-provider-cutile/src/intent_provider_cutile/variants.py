"""The texts of one source: whole tiles where arrays run forwards, element offsets for the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from intent.provider import Invocation, Source
from intent_provider_cutile.emit import Emitted, emit
from intent_provider_cutile.emit.signature import Signature
from intent_provider_cutile.emit.turns import started


@dataclass(frozen=True, kw_only=True)
class Text:
    """A text, what its kernel's arguments are, and how many blocks a multiprocessor gets (0: each instance is one)."""

    text: str
    signature: Signature
    each: int
    ctas: int

    def blocks(self, length: int, multiprocessors: int) -> int:
        """How many blocks a launch of ``length`` instances starts."""
        return started(length, multiprocessors, self.each, self.ctas) if self.each else length


class Texts:
    """Chooses the text for a launch: ``source.text`` where no tiled array has a negative stride."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.usual = replace(self._text(tiles=True), text=source.text)

    @cached_property
    def backward(self) -> Text:
        """The text for arrays that run backwards."""
        return self._text(tiles=False)

    def _text(self, *, tiles: bool) -> Text:
        made: Emitted = emit(self._source.program, tiles=tiles)
        ctas = dict(self._source.program.knobs).get("num_ctas", 1)
        return Text(text=made.text, signature=made.signature, each=made.each, ctas=ctas)

    @property
    def all(self) -> tuple[Text, ...]:
        """Every text that a launch may choose."""
        return (self.usual, self.backward) if self.usual.signature.tiled else (self.usual,)

    def of(self, invocation: Invocation) -> Text:
        """The text for this launch's arrays."""
        tiled = self.usual.signature.tiled
        if all(stride >= 0 for name in tiled for stride in invocation.views[name].strides):
            return self.usual
        return self.backward
