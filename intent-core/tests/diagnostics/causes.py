"""One sample of every error class, as the code that raises them builds it."""

from __future__ import annotations

from collections.abc import Iterator

from intent import diagnostics as d
from intent.types import Span

FILE = "/home/author/kernels/norm.py"


def at(source: str, part: str, line: int = 12) -> Span:
    """The span of ``part`` in a line of source."""
    column = source.index(part)
    return Span(FILE, line, column, line, column + len(part), source)


def definition() -> Iterator[d.IntentError]:
    yield d.SourceUnavailable("norm", "<string>")
    yield d.KernelCalledDirectly("norm")
    yield d.IntrinsicOutsideKernel("reduce.sum")
    line = 'def norm(x: I.In[I.f32, "N"], y: I.Out[I.f32, ("N",)]):'
    yield d.AnnotationError(
        "x",
        "the shape of a view is a tuple",
        found="I.In[I.f32, 'N']",
        fix='write ("N",) for rank one and () for rank zero',
        span=at(line, 'I.In[I.f32, "N"]'),
    )
    yield d.ConstexprMissing("norm", ["CAUSAL", "GROUPS"])
    yield d.ConstexprUnknown("norm", "CASUAL", ["CAUSAL", "GROUPS"])
    yield d.ConstexprWrongType("GROUPS", "an int", 2.5)
    yield d.HelperCalledDirectly("merge")
    yield d.NotADefinition("a kernel", len, fix="decorate the function with @intent.kernel")
    yield d.UnknownDType("float32", ["f32", "f64"], foreign={"float32": "f32"})


def syntax() -> Iterator[d.IntentError]:
    with_ = at("    with open(path) as file:", "with open(path) as file:")
    yield d.UnsupportedSyntax("'with'", fix="move it to host code", span=with_)
    yield d.NotSupportedYet("I.region_scan", span=at("    y, s = I.region_scan(x, 0)", "I.region_scan(x, 0)"))
    line = "    for tile in I.partition(rows, extent=128):"
    yield d.RemovedConstruct(
        "partition", "write I.domain(...)", span=at(line, "I.partition(rows, extent=128)")
    )
    yield d.UnknownName("weigth", ["weight", "x"], span=at("    y[i] = x[i] * weigth[i]", "weigth"))
    yield d.UnknownIntrinsic(
        "reduce.maximum", ["reduce.max", "maximum"], span=at("m = I.reduce.maximum(x)", "I.reduce")
    )
    signature = "I.full(shape, fill, dtype)"
    yield d.MissingArgument("I.full", ["fill", "dtype"], signature=signature)
    yield d.TooManyArguments("I.full", given=4, accepted=3, signature=signature)
    yield d.UnknownKeyword("I.full", "dtpye", accepted=["shape", "fill", "dtype"], signature=signature)
    yield d.RepeatedArgument("I.transpose", "perm", spelling="permutation")
    yield d.UnknownAttribute("state", "a record (maximum, total)", "sum", ["maximum", "total"])
    yield d.Recursion(["walk", "step", "walk"], span=at("    return step(n - 1)", "step(n - 1)"))
    yield d.MutableCapture("TABLE", [1, 2])
    yield d.RuntimeCapture("scale", helper="merge", through="combine_operands")
    yield d.TargetQuery("torch.cuda.get_device_capability")


def typing() -> Iterator[d.IntentError]:
    line = "    y[row] = x[row] + scale"
    call = Span(FILE, 40, 8, 40, 22, "        shift(x, y, scale)")
    operands = {"x[row]": "f16[N]", "scale": "f32"}
    yield d.MixedDTypes("+", operands, span=at(line, "x[row] + scale"), chain=[call])
    yield d.WrongDType("/", expected="a float", found={"n": "i32"}, span=at("    k = n / 2", "n / 2"))
    yield d.WrongRank("a subscript of 'x'", expected=2, found=3, value="the number of entries")
    yield d.ShapeMismatch("*", {"x": ["M", "N"], "w": ["K"]})
    yield d.ReshapeCount(["M", 4], [8, "M"])
    yield d.LiteralNotRepresentable(300, "u8", given_by="x")
    yield d.InvalidAxis("I.reduce.sum", 2, rank=2)
    yield d.InvalidPermutation([0, 0], rank=2)
    yield d.WrongKind("I.exp", expected="a scalar or a tensor", found="a domain", argument="rows")
    yield d.SchemaMismatch("the result of 'merge'", expected="(f32, f32)", found="(f32, i32)")
    yield d.NotConstexpr("an axis", found="n, an i32 parameter")
    yield d.IndexOutOfRange("x", 4, axis=0, extent=4)
    yield d.ConditionNotScalar("if", found="bool[N]", span=at("    if x[row] > 0.0:", "x[row] > 0.0"))


def control() -> Iterator[d.IntentError]:
    loop = at("    for i in I.parallel(rows):", "for i in I.parallel(rows):")
    yield d.CarryTypeChanged("total", before="i64", after="f32", span=loop)
    yield d.CarryInParallel("total", span=loop)
    yield d.BreakInParallel(span=at("        break", "break"))
    yield d.ReturnInParallel(span=at("        return", "return"))
    yield d.NameMayBeUndefined("best", assigned="in one branch of the 'if' on line 8")
    yield d.BranchTypesDiffer("z", then="f32[N]", otherwise="f32")
    yield d.InvalidStep(-1)
    yield d.ReturnTypesDiffer("pick", first="f32", other="(f32, i32)")
    yield d.ReturnsTensor("norm", span=at("    return y", "return y"))


def effects() -> Iterator[d.IntentError]:
    yield d.WriteToReadOnly("x", span=at("    x[i] = 0.0", "x[i] = 0.0"))
    yield d.ReadBeforeWrite("y")
    yield d.NonInjectiveAssignment("y", index="slots, an i32[N]")
    yield d.ImpureHelper("merge", role="combine of I.reduce", effect="a write to 'y'")
    yield d.CollidingWrites("y", witness="row 0 and row 1 both write y[0]")
    yield d.ImmutableValue("state", kind="f32[N]")
    yield d.SliceExtentObserved("summarize", use="keys.shape[0] as a number")
    yield d.InvalidOrder("load", "release", ["relaxed", "acquire"])
    yield d.ConflictingAccess("y", witness="row 1 reads y[0], which row 0 writes")


def call() -> Iterator[d.IntentError]:
    yield d.WrongArgumentCount("norm", expected=["x", "y"], given=1)
    yield d.ArgumentDType("x", expected="f32", found="f16")
    yield d.ArgumentRank("x", expected=["M", "N"], found=[4])
    yield d.ExtentMismatch("N", {"x.shape[1]": 128, "w.shape[0]": 64})
    yield d.StrideMismatch("x", axis=1, expected=1, found=128)
    yield d.ReadOnlyArgument("y", mode="I.Out")
    yield d.ZeroStrideWritable("y", shape=[4, 8], strides=[0, 1])
    yield d.DeviceMismatch({"x": "cuda:0", "y": "cuda:1"})
    yield d.OverlappingViews("y", "x", ranges={"y": "elements 0 to 99", "x": "elements 50 to 149"})
    yield d.UndeterminedOut("y", shape=["M", "K"], unknown=["K"])
    yield d.SubregionOutOfBounds(source=(0, 10), found=(4, 12), values={"N": 10})
    yield d.GridLimit("norm", length=2**31, limit=2**31 - 1, provider="triton")
    yield d.ArgumentKind("x", expected="an array", found=[1.0])
    yield d.ScalarArgument("eps", dtype="f32", found="1e-5", reason="is not a number")
    yield d.LaunchCondition("M == N or M == 1 or N == 1", values={"M": 3, "N": 4}, needed_by="line 12: x + w")
    yield d.UnknownArgument("norm", "z", ["x", "y"])


def provider() -> Iterator[d.IntentError]:
    yield d.MissingProvider("trition", ["reference", "triton"])
    yield d.BrokenProvider(
        "fast", entry_point="fast.plugin:plugin", cause=ImportError("no module named 'fast'")
    )
    yield d.DuplicateProvider("triton", ["intent-provider-triton 1.0", "other 2.0"])
    yield d.MissingToolkit(
        "triton", needs="triton 3.6 or later", install="pip install intent-provider-triton[triton]"
    )
    yield d.NoDevice("triton", reason="no CUDA driver")
    yield d.CapabilityError(
        "triton", capability="atomics on this dtype", needed="atomic.max on bf16", offered="f32, i32"
    )
    yield d.BuildFailure("triton", target="sm_90", log="line 3: expected ')'\nline 4: stopped\n")


def compiler() -> Iterator[d.IntentError]:
    yield d.PlanError("axis N is resident in 4 lanes but has 8 members", plan="instance(M) resident(N, 4)")
    yield d.VerificationError("mask-covers-tail", "a store is not guarded", subject="%7 = store y")
    yield d.TextError("line 3: a value is used before it is defined", expected="a value", found="%9")
    yield d.ArtifactError("build/norm", "it was saved by version 9")
    yield d.OptionError("numerics", "fast", allowed="source, relaxed_normalization")
    yield d.CompilerFault("two owners of one lane", stage="construct")


def violations() -> Iterator[d.IntentError]:
    line = "        y[i] = x[i + 1]"
    read, write = at(line, "x[i + 1]"), at(line, "y[i] = x[i + 1]")
    yield d.OutOfBounds("x", index="x[8]", axis=0, extent=8, writes=False, point="i = 7", span=read)
    yield d.OutOfBounds("y", index="y[-1]", axis=0, extent=8, writes=True)
    yield d.UnwrittenRead("y", element="y[3]", kind="an Out view", point="i = 3", span=read)
    yield d.UnwrittenRead("state", element="state[0]", kind="a buffer without init=")
    yield d.CollidingStore("y", element="y[4]", lanes=["[0]", "[7]"], promised=True, span=write)
    yield d.DataRace(
        "y",
        element="y[1]",
        this="the point i = 1 reads it",
        other="the point i = 0 writes it",
        other_span=write,
        span=read,
    )
    yield d.BrokenLaw(
        "I.reduce",
        law="combine(a, b) == combine(b, a)",
        sides={"combine(a, b)": "1", "combine(b, a)": "-1"},
        values={"a": "2", "b": "1"},
        point="row = 0",
    )
    yield d.InvalidCast("nan at [3]", source="f32", target="i32")
    yield d.ShiftOutOfRange("32", dtype="u32", bits=32)
    yield d.DivisionByZero("7 at [0, 1]", operator="%")
    yield d.HistogramOutOfRange("16 at [5]", bins=16)
    yield d.HistogramOutOfRange("0 at [0]", bins=0)
    yield d.EmptyArgReduce([4, 0], axes=[1])
    yield d.FalseBoundsPromise("table", index="9 at [2]", axis=0, extent=8)
    yield d.FalseNoaliasPromise("x", "y", element="x[0]")
    yield d.InvalidSubregion(begin=5, end=3, source=(0, 8), point="g = 1")
    yield d.InvalidSubregion(begin=5, end=9, source=(0, 8))
    yield d.InvalidStepValue(0, point="i = 2")
    yield d.ExtentsDiffer("an assignment", shapes={"values": (3,), "the destination": (4,)})
    yield d.MetadataOutOfRange("4 at [0] and 1 at [0]", group=4)
    yield d.NoProgress(steps=257, point="i = 1", span=at("    while flag[0] == 0:", "while flag[0] == 0:"))
    yield d.CheckFailed("shift", "kernel 'shift': 2 violations", count=2)


SAMPLES = {
    stage.__name__: tuple(stage())
    for stage in (definition, syntax, typing, control, effects, call, provider, compiler, violations)
}
