"""Random programs of loops, branches, exits and helper calls: lowered and evaluated, they do what Python does.

The same text is a kernel and an ordinary Python function. Only integers are used, so results must be equal.
"""

from __future__ import annotations

import linecache
import random
from types import SimpleNamespace

import numpy as np
import pytest

import intent.language as I
from intent.frontend import lower
from intent.language.definitions import fn, kernel
from intent.reference.logical import evaluate

PLAIN = SimpleNamespace(
    cast=lambda value, _: int(value),
    i64=None,
    i32=None,
    bool=None,
    domain=range,
    enumerate=enumerate,
    select=lambda c, a, b: a if c else b,
    maximum=max,
    minimum=min,
)
HEADER = 'def {name}(x: I.In[I.i64, ("N",)], y: I.InOut[I.i64, ("M",)], a: I.i64, b: I.i64):\n'


class Program:
    """Writes one random program; ``names`` are the variables that every path has defined."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 -- test programs
        self.fresh = 0
        self.helpers: list[str] = []

    def text(self) -> str:
        for _ in range(self.random.randint(0, 2)):
            self.helper()
        body = self.block(["a", "b"], depth=0, loop=None, returns="kernel", size=4)
        main = HEADER.format(name="main") + "\n".join(f"    {line}" for line in body) + "\n"
        return "".join(self.helpers) + main

    def helper(self) -> None:
        name = f"helper{len(self.helpers)}"
        body = self.block(["p", "q"], depth=2, loop=None, returns="helper", size=3)
        body.append(f"return {self.expression(['p', 'q'])}")
        lines = "\n".join(f"    {line}" for line in body)
        self.helpers.append(f"def {name}(x, y, p, q):\n{lines}\n")

    def block(self, names: list[str], *, depth: int, loop: str | None, returns: str, size: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, size)):
            lines += self.statement(names, depth=depth, loop=loop, returns=returns)
        return lines

    def statement(self, names: list[str], *, depth: int, loop: str | None, returns: str) -> list[str]:
        kind = self.random.choice(
            [
                "assign",
                "assign",
                "augment",
                "store",
                "store",
                "if",
                "if",
                "for",
                "while",
                "exit",
                "exit",
                "define",
            ]
        )
        if kind == "exit":
            choices = [*(["break", "continue"] if loop else []), "return"]
            leave = self.random.choice(choices)
            if leave == "return" and returns == "helper":
                leave = f"return {self.expression(names)}"
            return [f"if {self.condition(names)}:", f"    {leave}"]
        if kind in ("if", "for", "while") and depth < 3:
            return getattr(self, f"{kind}_")(names, depth=depth, loop=loop, returns=returns)
        if kind == "define":
            self.fresh += 1
            line = f"v{self.fresh} = {self.random.choice([self.expression(names), str(self.random.randint(-3, 5))])}"
            names.append(f"v{self.fresh}")
            return [line]
        if kind == "store":
            target = f"y[{self.index(names)}]"
            if self.random.random() < 0.3:
                return [f"{target} += {self.random.randint(-9, 9)}"]
            return [f"{target} = {self.expression(names)}"]
        name = self.random.choice(names)
        if kind == "augment":
            return [
                f"{name} {self.random.choice(['+=', '-='])} {self.expression(names)}",
                f"{name} = {name} % 1009",
            ]
        return [f"{name} = {self.expression(names)}"]

    def if_(self, names, *, depth, loop, returns) -> list[str]:
        then = self.block(list(names), depth=depth + 1, loop=loop, returns=returns, size=2)
        lines = [f"if {self.condition(names)}:", *(f"    {line}" for line in then)]
        if self.random.random() < 0.5:
            other = self.block(list(names), depth=depth + 1, loop=loop, returns=returns, size=2)
            lines += ["else:", *(f"    {line}" for line in other)]
        return lines

    def for_(self, names, *, depth, loop, returns) -> list[str]:
        self.fresh += 1
        point, local = f"i{self.fresh}", f"w{self.fresh}"
        count = self.random.choice(["3", f"({names[0]} + 20) % 3", "x.shape[0] // 2", "1, 4", "0, 5, 2"])
        body = self.block([*names, local], depth=depth + 1, loop="for", returns=returns, size=3)
        lines = [f"{local} = I.cast({point}, I.i64)", *body]
        return [f"for {point} in range({count}):", *(f"    {line}" for line in lines)]

    def while_(self, names, *, depth, loop, returns) -> list[str]:
        self.fresh += 1
        # The bound stands on a counter of its own, which nothing else assigns, so that every program ends.
        counter, guard = f"c{self.fresh}", f"g{self.fresh}"
        body = self.block([*names, counter], depth=depth + 1, loop="while", returns=returns, size=2)
        test = f"{guard} < 3 and ({self.condition([*names, counter])})"
        lines = [f"{guard} = {guard} + 1", f"{counter} = ({counter} + {guard}) % 50", *body]
        return [f"{guard} = 0", f"{counter} = 0", f"while {test}:", *(f"    {line}" for line in lines)]

    def index(self, names: list[str]) -> str:
        return f"({self.random.choice(names)} + 64) % 4"

    def expression(self, names: list[str]) -> str:
        left, right = self.random.choice(names), self.random.choice([*names, "1", "2", "7"])
        forms = [
            f"({left} + {right}) % 101",
            f"({left} - 2 * {right}) % 97",
            f"{left}",
            f"x[({left} + 70) % 3]",
            f"y[{self.index(names)}] % 89",
            f"(({left} % 5) if {self.condition(names)} else x[({left} + 1) % 3])",
        ]
        if self.helpers and self.random.random() < 0.3:
            callee = f"helper{self.random.randrange(len(self.helpers))}"
            forms.append(f"{callee}(x, y, {left} % 31, q={self.random.choice(names)} % 7)")
        return self.random.choice(forms)

    def condition(self, names: list[str]) -> str:
        left, right = self.random.choice(names), self.random.choice([*names, "0", "3"])
        plain = f"{left} {self.random.choice(['<', '>', '==', '!=', '<='])} {right}"
        forms = [
            plain,
            plain,
            f"{plain} and y[{self.index(names)}] > {left}",
            f"not ({plain}) or x[0] < {right}",
            f"0 <= {left} < 60",
        ]
        return self.random.choice(forms)


def compiled(text: str, seed: int):
    """The program as plain Python and as a kernel."""
    file = f"<control {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    plain: dict[str, object] = {"I": PLAIN}
    exec(compile(_unannotated(text), file, "exec"), plain)
    scope: dict[str, object] = {"I": I}
    exec(compile(text, file, "exec"), scope)
    for name in [n for n in scope if n.startswith("helper")]:
        scope[name] = fn(scope[name])
    return plain["main"], kernel(scope["main"])


def _unannotated(text: str) -> str:
    """The text without annotations, which name dtypes that plain Python does not have."""
    lines = text.splitlines()
    return "\n".join("def main(x, y, a, b):" if line.startswith("def main(") else line for line in lines)


@pytest.mark.parametrize("seed", range(60))
def test_a_random_program_does_what_python_does(seed):
    text = Program(seed).text()
    plain, made = compiled(text, seed)
    lowered = lower(made, {})
    rng = np.random.default_rng(seed)
    for _ in range(3):
        x = rng.integers(-5, 50, 6)
        y = rng.integers(-20, 60, 4)
        a, b = (int(v) for v in rng.integers(-6, 40, 2))
        expected, found = y.astype(object), y.copy()
        plain(x.astype(object), expected, a, b)
        evaluate(lowered, [x, found, a, b])
        assert found.tolist() == [int(v) for v in expected], text
