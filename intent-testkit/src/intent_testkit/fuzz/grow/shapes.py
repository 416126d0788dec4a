"""Reshape, transpose, join, slices, subscripts and gathers."""

from __future__ import annotations

from intent_testkit.fuzz.kinds import Value
from intent_testkit.fuzz.writer import Writer, tuple_text


def transpose(w: Writer) -> None:
    """A permutation of axes."""
    a = w.numeric(least=2)
    if a.rank < 2:
        return
    perm = list(range(a.rank))
    w.rng.shuffle(perm)
    if a.rank == 2 and w.chance(0.7):
        w.let(f"I.transpose({a.text})", a.dtype, a.shape[::-1], a.bound)
        return
    w.let(
        f"I.transpose({a.text}, {tuple_text([str(p) for p in perm])})",
        a.dtype,
        [a.shape[p] for p in perm],
        a.bound,
    )


def reshape(w: Writer) -> None:
    """Flatten axes, or split or swap extents."""
    a = w.numeric()
    if a.rank >= 2:
        at = w.rng.randrange(a.rank - 1)
        joined = f"{wrapped(a.shape[at])} * {wrapped(a.shape[at + 1])}"
        if w.chance(0.6):
            shape = (*a.shape[:at], joined, *a.shape[at + 2 :])
        else:
            shape = (*a.shape[:at], a.shape[at + 1], a.shape[at], *a.shape[at + 2 :])
        w.let(f"I.reshape({a.text}, {tuple_text(shape)})", a.dtype, shape, a.bound)
        return
    shape = w.any(((*a.shape, "1"), ("1", *a.shape)))
    w.let(f"I.reshape({a.text}, {tuple_text(shape)})", a.dtype, shape, a.bound)


def wrapped(dim: str) -> str:
    """An extent as a factor."""
    return f"({dim})" if any(c in dim for c in "+-/ ") else dim


def join(w: Writer) -> None:
    """Two values side by side, perhaps interleaved by a reshape."""
    a = w.numeric()
    b = w.of(a.dtype, a.shape)
    if not w.fits((*a.shape, "2")) or a.rank >= 3:
        return
    both = w.let(f"I.join({a.text}, {b.text})", a.dtype, (*a.shape, "2"), max(a.bound, b.bound))
    if w.chance(0.5):
        shape = (*a.shape[:-1], f"{wrapped(a.shape[-1])} * 2")
        w.let(f"I.reshape({both.text}, {tuple_text(shape)})", a.dtype, shape, both.bound)


def slices(w: Writer) -> None:
    """A contiguous part of one axis."""
    a = w.numeric()
    axis = w.rng.randrange(a.rank)
    begin, end, size = _part(w, a.shape[axis])
    before = [":"] * axis
    if w.chance(0.4):
        domain = w.name("d")
        w.line(f"{domain} = I.domain(0, {a.shape[axis]})[{begin}:{end}]")
        subscript = ", ".join([*before, domain, *[":"] * (a.rank - axis - 1)])
    else:
        subscript = ", ".join([*before, f"{begin}:{end}", *[":"] * (a.rank - axis - 1)])
    w.let(f"{a.text}[{subscript}]", a.dtype, (*a.shape[:axis], size, *a.shape[axis + 1 :]), a.bound)


def _part(w: Writer, dim: str) -> tuple[str, str, str]:
    """Begin, end and extent of a part that exists at every extents."""
    options = [("0", f"{wrapped(dim)} // 2", f"{wrapped(dim)} // 2")]
    options.append((f"{wrapped(dim)} // 2", dim, f"{wrapped(dim)} - {wrapped(dim)} // 2"))
    if min(w.sizes(dim)) >= 1:
        options += [("1", dim, f"{wrapped(dim)} - 1"), ("0", f"{wrapped(dim)} - 1", f"{wrapped(dim)} - 1")]
    return w.any(options)


def pick_row(w: Writer) -> None:
    """One point of an axis, or a diagonal."""
    a = w.numeric()
    axis = w.rng.randrange(a.rank)
    dim = a.shape[axis]
    if min(w.sizes(dim)) < 1:
        return
    at = w.any(("0", f"{wrapped(dim)} - 1", f"{wrapped(dim)} // 2"))
    if a.rank == 2 and a.shape[0] == a.shape[1] and w.chance(0.4):
        name = w.name("i")
        w.line(f"{name} = I.indices(I.domain(0, {dim}))")
        w.let(f"{a.text}[{name}, {name}]", a.dtype, (dim,), a.bound)
        return
    subscript = ", ".join([*[":"] * axis, at, *[":"] * (a.rank - axis - 1)])
    w.let(f"{a.text}[{subscript}]", a.dtype, (*a.shape[:axis], *a.shape[axis + 1 :]), a.bound)


def shifted(w: Writer) -> None:
    """A gather whose neighbours may not exist."""
    a = w.numeric(rank=w.any((1, 1, 2)))
    names = []
    for dim in a.shape:
        name = w.name("i")
        w.line(f"{name} = I.indices(I.domain(0, {dim}))")
        names.append(name)
    axis = w.rng.randrange(a.rank)
    by = w.any(("- 1", "+ 1", "- 2"))
    valid = f"{names[axis]} >= {by[2]}" if by[0] == "-" else f"{names[axis]} + {by[2]} < {a.shape[axis]}"
    coordinates = [f"{n} {by}" if k == axis else n for k, n in enumerate(names)]
    if a.rank == 2:
        spread = ["{}[:, None]", "{}[None, :]"]
        coordinates = [s.format(f"({c})") for s, c in zip(spread, coordinates, strict=True)]
        valid = spread[axis].format(f"({valid})")
    fill = "2.0" if a.is_float else "2"
    w.let(
        f"I.gather({a.text}, index={tuple_text(coordinates)}, valid={valid}, fill={fill})",
        a.dtype,
        a.shape,
        max(a.bound, 2.0),
    )


def gather(w: Writer) -> None:
    """Rows or points through an index tensor."""
    a = w.numeric()
    axis = w.rng.randrange(a.rank)
    dim = a.shape[axis]
    if min(w.sizes(dim)) < 1:
        return
    shape = w.shape(w.any((1, 1, 2)))
    full = (*a.shape[:axis], *shape, *a.shape[axis + 1 :])
    if not w.fits(full):
        return
    ids = w.input(w.any(("i32", "i64")), shape, "index", dim)
    subscript = ", ".join([*[":"] * axis, ids.text, *[":"] * (a.rank - axis - 1)])
    w.let(f"{a.text}[{subscript}]", a.dtype, full, a.bound)


def reverse(w: Writer) -> None:
    """An axis from its end."""
    a = w.numeric(rank=w.any((1, 2)))
    name = w.name("i")
    w.line(f"{name} = I.indices(I.domain(0, {a.shape[0]}))")
    w.let(f"{a.text}[{wrapped(a.shape[0])} - 1 - {name}{', :' * (a.rank - 1)}]", a.dtype, a.shape, a.bound)


def new_axis(w: Writer) -> Value | None:
    """An axis of one."""
    a = w.numeric()
    if a.rank > 2:
        return None
    at = w.rng.randrange(a.rank + 1)
    subscript = ", ".join([*[":"] * at, "None", *[":"] * (a.rank - at)])
    return w.let(f"{a.text}[{subscript}]", a.dtype, (*a.shape[:at], "1", *a.shape[at:]), a.bound)


def random_bits(w: Writer) -> None:
    """Counter-based random bits."""
    dim = w.dim()
    seed = w.any((7, 12345678901234))
    counters = w.any((f"I.indices(I.domain(0, {dim}))", f"I.indices(I.domain(0, {dim})) * 3 + 1"))
    w.let(f"I.random.bits({seed}, {counters})", "u32", (dim,))
