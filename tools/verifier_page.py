"""Write docs/verifier.md from the rules of ``intent.physical.verify``; ``--check`` only compares.

One section for each sentence of the specification's construction verifier, one row for each rule that cites it: what
the rule looks at, and what it demands, taken from the docstrings of its checks. A sentence without a rule and a rule
without words are errors. Exit status 1 when ``--check`` finds the page out of date.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from intent.physical.verify import RULES, SENTENCES, Rule

PAGE = Path(__file__).resolve().parents[1] / "docs" / "verifier.md"
HEAD = """\
# The verifier

`intent.physical.verify.verify(program)` checks a GPU program by itself; `verify(program, kernel)` also checks it
against the frozen logical kernel that it was made from. `intent.compile` does the second for every program before a
provider sees it, and the differential tests do it after construction and after every pass. A violation is a
`VerificationError` (INT094): a fault of the compiler, never of the kernel. `problems` gives all of them by rule.

Each rule below cites one sentence of the specification (`kir-to-gpu-program` 9). It looks at the *program* alone, at
the program *beside* its kernel, operation by operation through origins, or at a *trial*. The stages run in this
order, and each only if the one before it found nothing, so a program that is wrong in one way breaks one rule.

## Trials

A trial executes the kernel as it stands, on whole tensors, and the program instance by instance, on small inputs, and
compares every write: as many, to the same elements, of the same values. It shares no code with construction; the
kernel's index relations are composed by evaluating them.

Numbers are not floating point there. Floats are elements of the ring Z/2^64, in which sums and products may be taken
in any order and wrap; `exp2(x)` is 5^x, so `exp2(a + b) == exp2(a) * exp2(b)`; minus infinity is the least element,
and its exponential is zero; division and other functions are scrambled, each in a way of its own. Whatever the language
lets a program do to the order of evaluation makes no difference: reductions by lanes or by loops, softmax in one pass
or two, a factor inside or outside of a contraction, a causal range that ends at the diagonal. Whatever it does not let
a program do gives other numbers, but for one case in about 2^60. So the comparison is exact, without a tolerance.
Integers, indices and booleans are computed as they are.

Extents are chosen from the program and the launch conditions: one more than a block along every axis, or along one
axis at a time where everything at once would be too much work, so that the last block has one member, the one that the
smallest mistake of a bound leaves out, and two blocks and one member along axes that instances share parts of; then
few of everything with other data, in which some numbers are equal and index data follows several patterns. What is
looked up or counted also takes the greatest and the least values that it may, so that masks let it through. Inputs
that break a promise of the author are passed over. Padding lanes are alike, so two of them are computed. Estimated
work is bounded (`trial/effort.py`); the usual kernel takes a few milliseconds.

A trial is a test, not a proof, and it may stay undecided, in which case it says nothing:

"""
UNSEEN = {
    "no small extents satisfy the conditions and guards, or they ask for too much work": "the trial is not begun",
    "microscaled contractions (`scaled_contract`)": "packed formats are no numbers of the ring: what is read and "
    "written is compared, the values are not",
    "a combine of the author's whose law holds for numbers, but not in the ring": "the kernel is evaluated in several "
    "legal orders; where they disagree, nothing follows",
    "functions that a pass has spelled with others (`erf`, `sigmoid`, ...)": "`intent.compile` compares before it "
    "spells them",
    "what an atomic found, where a loop around compare-and-swap finds it": "its value depends on the order",
    "NaN, rounding, ties of +0 and -0, `while` loops that end by convergence": "numbers of the ring have none of "
    "these; loops are cut after 40 passes on both sides",
}
"""What a trial does not see, and why."""


def page() -> str:
    """Return the text of docs/verifier.md. Raises ValueError for a sentence without rules or a rule without words."""
    cited = {rule.sentence for rule in RULES.values()}
    bare = [sentence for sentence in SENTENCES if sentence not in cited]
    if bare:
        raise ValueError(f"no rule cites: {bare[0]}")
    unseen = [
        "| Undecided or unseen | Why |",
        "|---|---|",
        *(f"| {what} | {why} |" for what, why in UNSEEN.items()),
    ]
    rules = [_section(sentence) for sentence in SENTENCES]
    return "\n".join([HEAD.rstrip(), "", *unseen, "", "## Rules", "", *rules])


def _section(sentence: str) -> str:
    lines = [f"### {sentence}", "", "| Rule | Looks at | Demands |", "|---|---|---|"]
    lines += [row for rule in RULES.values() if rule.sentence == sentence for row in _rows(rule)]
    return "\n".join([*lines, ""])


def _rows(rule: Rule) -> list[str]:
    found = []
    if not rule.needs_kernel:
        found.append(("program", _words(rule.name, rule.check)))
    if rule.compares:
        found.append(("beside", _words(rule.name, rule.compare)))
    if rule.trial:
        found.append(("trial", f"Broken where {rule.trial}."))
    if not found:
        raise ValueError(f"rule {rule.name} demands nothing")
    return [f"| `{rule.name}` | {where} | {words} |" for where, words in found]


def _words(name: str, check: Callable[..., Any]) -> str:
    text = inspect.cleandoc(check.__doc__ or "")
    if not text:
        raise ValueError(f"a check of rule {name} has no docstring")
    return " ".join(text.split("\n\n", 1)[0].split()).replace("``", "`").replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the page, or with ``--check`` say whether it is up to date."""
    text = page()
    if arguments == ["--check"]:
        current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text
        if not current:
            print("docs/verifier.md is out of date; run python tools/verifier_page.py")
        return 0 if current else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
