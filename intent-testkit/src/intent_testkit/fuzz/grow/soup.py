"""Reads and writes of a few views in any order: names hold what was read, whatever is overwritten since.

Only integers, only extents ``n`` and ``n x n``: the text is about order, not about shapes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from intent_testkit.fuzz.kinds import Param, Value
from intent_testkit.fuzz.writer import Writer


@dataclass
class Soup:
    """What the statements may use: views, the extent, loop variables, and names of whole rows and matrices."""

    w: Writer
    n: str
    dtype: str
    views: list[tuple[str, int]] = field(default_factory=list)
    names: list[tuple[str, int]] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    point: str = ""
    """The parallel point, when there is one: views are written at it only."""
    left: int = 14

    # -- places ------------------------------------------------------------------------------------------------

    def index(self) -> str:
        """A point of an axis."""
        fixed = ("0", f"{self.n} - 1", f"{self.n} // 2")
        k = self.w.any((*self.loops, *self.loops, *fixed)) if self.loops else self.w.any(fixed)
        return f"{self.n} - 1 - {k}" if k in self.loops and self.w.chance(0.25) else k

    def place(self, rank: int, *, written: bool) -> tuple[str, int]:
        """A subscript of a view of this rank, and the rank of what it names."""
        w = self.w
        if self.point and (written or w.chance(0.7)):
            if rank == 1:
                return f"[{self.point}]", 0
            return w.any(((f"[{self.point}, :]", 1), (f"[{self.point}, {self.index()}]", 0)))
        if rank == 1:
            return w.any((("[...]", 1), (f"[{self.index()}]", 0)))
        row, column = (f"[{self.index()}, :]", 1), (f"[:, {self.index()}]", 1)
        return w.any((("[...]", 2), row, row, column, (f"[{self.index()}, {self.index()}]", 0)))

    # -- values ------------------------------------------------------------------------------------------------

    def atom(self, rank: int, depth: int = 0) -> str:
        """A value of this rank."""
        w = self.w
        for _ in range(12):
            if self.names and w.chance(0.6):
                name, have = w.any(self.names)
            else:
                view, have = w.any(self.views)
                subscript, have = self.place(have, written=False)
                name = f"{view}{subscript}"
            if have == rank:
                return name
            if have == rank + 1 and depth < 2:
                reduced = f"I.reduce.{w.any(('sum', 'max', 'min'))}({name}, axis={w.rng.randrange(have)})"
                return w.any(
                    (reduced, f"{name}[{self.index()}]" if have == 1 else f"{name}[{self.index()}, :]")
                )
        return (
            f"I.full(({', '.join([self.n] * rank)},), 2, I.{self.dtype})"
            if rank
            else f"I.cast(2, I.{self.dtype})"
        )

    def value(self, rank: int) -> str:
        """An expression of this rank."""
        w = self.w
        a, b = self.atom(rank), self.atom(rank)
        forms = [f"{a} + {b}", f"{a} * 3 - {b}", f"I.maximum({a}, {b})", a, f"{a} + 1"]
        if rank == 1:
            forms += [f"I.cumsum({a}, axis=0)"]
        if rank == 2:
            forms += [f"I.transpose({a})", f"{a} + {self.atom(1)}", f"{a} - {self.atom(1)}[:, None]"]
        if rank:
            forms += [f"{a} + {self.atom(0)}"]
        return w.any(forms)

    # -- statements --------------------------------------------------------------------------------------------

    def block(self, depth: int, least: int = 1) -> None:
        """A few statements; names made inside end with it."""
        kept = list(self.names)
        for _ in range(self.w.any((least, 2, 3))):
            self.statement(depth)
        self.names = kept

    def statement(self, depth: int) -> None:
        """One statement."""
        self.left -= 1
        forms = ["read", "read", "write", "write", "write"]
        if depth < 3 and self.left > 0:
            forms += ["for", "if"]
            if not self.point:
                forms += ["for", "parallel"]
        getattr(self, f"_{self.w.any(forms)}")(depth)

    def _read(self, _: int) -> None:
        view, have = self.w.any(self.views)
        subscript, rank = self.place(have, written=False)
        name = self.w.name("v")
        text = f"{view}{subscript}"
        self.w.line(f"{name} = {self.w.any((text, text, self.value(rank)))}")
        self.names.append((name, rank))

    def _write(self, _: int) -> None:
        view, have = self.w.any(self.views)
        subscript, rank = self.place(have, written=True)
        self.w.line(f"{view}{subscript} = {self.value(rank)}")

    def _for(self, depth: int) -> None:
        k = self.w.name("k")
        headers = (f"range({self.n})", f"range({self.n})", "range(2)", f"range(1, {self.n})")
        header = self.w.any(headers)
        with self.w.block(f"for {k} in {header}:"):
            inside = header != "range(2)"
            self.loops += [k] if inside else []
            self.block(depth + 1)
            self.loops = self.loops[:-1] if inside else self.loops

    def _parallel(self, depth: int) -> None:
        i = self.w.name("i")
        with self.w.block(f"for {i} in I.parallel(I.domain({self.w.any((0, 0, 1))}, {self.n})):"):
            self.point, self.loops = i, [*self.loops, i]
            self.block(depth + 1)
            self.point, self.loops = "", self.loops[:-1]

    def _if(self, depth: int) -> None:
        w = self.w
        test = (
            f"{w.any(self.loops)} > {w.any((0, 1))}"
            if self.loops and w.chance(0.6)
            else f"{self.atom(0)} > 0"
        )
        with w.block(f"if {test}:"):
            self.block(depth + 1)
        if w.chance(0.3):
            with w.block("else:"):
                self.block(depth + 1)


def soup(w: Writer) -> None:
    """The whole of it; two views of ``n`` or ``n x n``, perhaps one of them a buffer."""
    n = w.any(list(w.symbols))
    if not w.fits((n, n)) or min(w.sizes(n)) < 1:
        return
    s = Soup(w=w, n=n, dtype=w.any(("i32", "i64")))
    found: list[Param] = []
    for rank in (w.any((1, 2)), w.any((1, 2))):
        view = w.param("inout", s.dtype, (n,) * rank)
        found.append(view)
        s.views.append((view.name, rank))
    if w.chance(0.25):
        name = w.name("b")
        start = f"{found[0].name}[...]" if len(found[0].shape) == 1 else "1"
        w.line(f"{name} = I.buffer(({n},), I.{s.dtype}, init={w.any(('0', start))})")
        s.views.append((name, 1))
    s.block(0, least=2)
    for name, rank in s.names:
        w.pool.append(Value(text=name, dtype=s.dtype, shape=(n,) * rank))
    w.features.add("soup")
