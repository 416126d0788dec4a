"""The arguments of an emitted kernel: collected once each, in a fixed order, with the values of a launch."""

from __future__ import annotations

import pytest

from intent.physical import Buffer, Program, ScalarParam, View
from intent.provider import BoundView, Invocation
from intent.provider.emission import Arguments, Namer, Parameter, Signature, value_of
from intent.types.dtypes import F32, I32
from intent.types.extent import symbol

X = View(name="x", dtype=F32, shape=(symbol("M"), symbol("N")), mode="in")
Y = View(name="y", dtype=F32, shape=(symbol("M"),), mode="out")
COUNT = ScalarParam(name="count", dtype=I32)
HELD = Buffer(id=7, name="held", dtype=F32, shape=(symbol("N"),))
PROGRAM = Program(name="k", params=(X, COUNT, Y), segments=(), workspace=(HELD,), dims=())


@pytest.fixture
def arguments():
    made = Arguments(Namer(()), Parameter)
    made.reserve(PROGRAM)
    return made


def call(strides=(8, 1)):
    bound = {
        "x": BoundView(
            name="x", pointer=64, shape=(2, 3), strides=strides, dtype="f32", device="cpu", array=None
        ),
        "y": BoundView(
            name="y", pointer=128, shape=(2,), strides=(1,), dtype="f32", device="cpu", array=None
        ),
    }
    memory = BoundView(
        name="workspace", pointer=256, shape=(64,), strides=(1,), dtype="u8", device="cpu", array=None
    )
    return Invocation(
        views=bound, scalars={"count": 5}, extents={"M": 2, "N": 3}, length=2, workspace=memory,
        workspace_offsets={7: 16},
    )  # fmt: skip


def test_arguments_stand_in_one_order_however_they_are_asked_for(arguments):
    arguments.buffer(HELD)
    arguments.extent("N")
    arguments.stride(X, 1)
    arguments.stride(X, 0)
    arguments.extent("M")
    arguments.view(Y)
    arguments.scalar(COUNT)
    arguments.view(X)
    found = arguments.parameters(PROGRAM.params)
    names = [p.emitted for p in found]
    assert names == ["x", "y", "count", "x_stride_0", "x_stride_1", "M", "N", "held_buffer"]
    assert [value_of(p, call()) for p in found] == [64, 128, 5, 8, 1, 2, 3, 272]
    assert [p.read_only for p in found[:2]] == [True, False]


def test_an_argument_is_one_however_often_it_is_asked_for(arguments):
    assert arguments.extent("N") == arguments.extent("N") == "N"
    assert len(arguments.parameters(PROGRAM.params)) == 1


def test_the_authors_names_are_kept_for_the_author(arguments):
    assert arguments.namer.fresh("x") == "x_2"
    assert arguments.view(X) == "x"


@pytest.mark.parametrize(("strides", "small"), [((8, 1), True), ((1 << 33, 1), False), ((-8, 1), True)])
def test_index_arguments_must_fit_32_bits(arguments, strides, small):
    """An axis of one element may have any stride, which is an argument all the same."""
    arguments.stride(X, 0)
    signature = Signature(parameters=arguments.parameters(PROGRAM.params))
    launch = call(strides)
    view = launch.views["x"]
    one = BoundView(**{**vars(view), "shape": (1, 3)})
    assert signature.small(Invocation(**{**vars(launch), "views": {"x": one}})) is small
    assert signature.assumes() == frozenset()


def test_layouts_depend_on_index_arguments(arguments):
    arguments.extent("N")
    arguments.scalar(COUNT)
    assert Signature(parameters=arguments.parameters(PROGRAM.params)).assumes() == {"N"}


def test_the_last_axis_of_each_view_that_has_a_stride(arguments):
    for view, axis in ((X, 1), (Y, 0), (X, 0)):
        arguments.view(view)
        arguments.stride(view, axis)
    signature = Signature(parameters=arguments.parameters(PROGRAM.params))
    found = [signature.parameters[i].emitted for i in signature.last_strides()]
    assert found == ["x_stride_1", "y_stride_0"]


def test_layouts_depend_on_the_symbols_of_quotients():
    assert Signature(parameters=(), signs=(symbol("S") // symbol("T"),)).assumes() == {"S", "T"}
