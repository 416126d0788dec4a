"""The texts of one source: whole tiles where arrays run forwards, element offsets for the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from intent.provider import Invocation, Source
from intent_provider_cutile.emit import Emitted, emit
from intent_provider_cutile.emit.signature import Signature


@dataclass(frozen=True, kw_only=True)
class Text:
    """A text and what its kernel's arguments are."""

    text: str
    signature: Signature


class Texts:
    """Chooses the text for a launch: ``source.text`` where no tiled array has a negative stride."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.usual = Text(text=source.text, signature=emit(source.program).signature)

    @cached_property
    def backward(self) -> Text:
        """The text for arrays that run backwards."""
        made: Emitted = emit(self._source.program, tiles=False)
        return Text(text=made.text, signature=made.signature)

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
