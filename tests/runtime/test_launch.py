"""Parameter buffers and the overlap guard of launch plans; no GPU is needed for either."""

import ctypes
import gc
import weakref
from dataclasses import replace
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from phobos_nb.arguments.array import ArrayDescription, describe_numpy
from phobos_nb.arguments.tensor_maps import Encoding
from phobos_nb.contract import (
    GridRule,
    LaunchContract,
    ScalarParameter,
    TensorMap,
    TensorParameter,
    Variant,
    entry_arguments,
)
from phobos_nb.cuda import launch, tensor_maps
from phobos_nb.cuda.guard import OverlapGuard
from phobos_nb.cuda.launch import Parameters, bfloat16_bits
from phobos_nb.cuda.loading import LoadedKernel

PARAMETERS = (
    TensorParameter("x", "f32", ("n", "m")),
    TensorParameter("y", "f32", ("n", "m"), writes=True),
    ScalarParameter("flag", "bool"),
    ScalarParameter("a", "f32"),
    ScalarParameter("h", "f16"),
    ScalarParameter("b", "bf16"),
    ScalarParameter("k", "i64"),
)


def contract(variant):
    arguments = entry_arguments(PARAMETERS, variant)
    return LaunchContract(
        "k", "k", PARAMETERS, arguments, GridRule(), 128, 128, 0, False, variant, "sm_80"
    )


class View:
    """Reads a parameter block as cuLaunchKernel does: through the table of addresses."""

    def __init__(self, parameters, count):
        self.table = (ctypes.c_void_p * count).from_address(parameters.address)

    def read(self, position, kind):
        address = self.table[position]
        assert address % ctypes.sizeof(kind) == 0
        return kind.from_address(address).value


@pytest.mark.parametrize(("bits", "integer"), [(32, ctypes.c_int32), (64, ctypes.c_int64)])
def test_parameters_lie_where_the_entry_reads_them(bits, integer):
    """Pointers, extents, strides in elements, then scalars, each naturally aligned, in entry order."""
    unit = Variant(True, True, bits)
    parameters = Parameters(contract(unit))
    x = ArrayDescription("f32", (3, 5), (80, 4), 4096, 4)
    parameters.write_layout({"n": 3, "m": 5}, {"x": x, "y": x})
    parameters.write_addresses(2**40 + 16, 32)
    parameters.write_scalars(True, 1.5, 0.1, 3.1, -(2**40))
    view = View(parameters, 11)
    assert [view.read(i, ctypes.c_uint64) for i in range(2)] == [2**40 + 16, 32]
    assert [view.read(i, integer) for i in range(2, 6)] == [3, 5, 20, 20]
    assert view.read(6, ctypes.c_bool) is True
    assert view.read(7, ctypes.c_float) == 1.5
    assert view.read(8, ctypes.c_uint16) == int(np.float16(0.1).view(np.uint16))
    assert view.read(9, ctypes.c_uint16) == int(np.array(3.1, ml_dtypes.bfloat16).view(np.uint16))
    assert view.read(10, ctypes.c_int64) == -(2**40)


def test_all_strides_are_passed_without_unit_stride():
    """The general variant takes every stride, negative ones too."""
    parameters = Parameters(contract(Variant(False, False, 64)))
    x = ArrayDescription("f32", (3, 5), (-4, 12), 4096, 4)
    parameters.write_layout({"n": 3, "m": 5}, {"x": x, "y": x})
    view = View(parameters, 13)
    assert [view.read(i, ctypes.c_int64) for i in range(2, 8)] == [3, 5, -1, 3, -1, 3]


def test_scalars_that_do_not_fit_are_never_wrapped():
    """Packing refuses what the checks would refuse, so the fast path can try it first."""
    parameters = Parameters(contract(Variant()))
    with pytest.raises(OverflowError):
        parameters.write_scalars(True, 1e39, 0.0, 0.0, 0)


def test_tensor_maps_are_encoded_with_the_addresses(monkeypatch):
    """Each map describes its tensor's extents, strides and box, and lies where the entry takes it."""
    seen = []

    def encode(found, address):
        seen.append((found, address))
        return bytes(range(128))

    monkeypatch.setattr(tensor_maps, "encode", encode)
    parameters_ = (TensorParameter("x", "f32", (20, 12), True), TensorParameter("y", "f32", (4,), True))
    maps = (TensorMap("m", "x", (8, 8), 32),)
    made = contract(Variant())
    made = replace(
        made, parameters=parameters_, arguments=entry_arguments(parameters_, Variant(), maps), maps=maps
    )
    parameters = Parameters(made)
    x = ArrayDescription("f32", (20, 12), (64, 4), 4096, 4)
    parameters.write_layout({}, {"x": x, "y": x})
    for address in (4096, 8192):
        parameters.write_addresses(address, 512)
    assert seen == [(Encoding(7, (12, 20), (64,), (8, 8), 1, 2), a) for a in (4096, 8192)]
    view = View(parameters, 4)
    assert view.read(0, ctypes.c_uint64) == 8192
    assert bytes((ctypes.c_uint8 * 128).from_address(view.table[3])) == bytes(range(128))


def test_a_start_keeps_what_it_launches_with(monkeypatch):
    """The parameter memory and the loaded code live as long as the function that launches with them."""
    monkeypatch.setattr(launch, "driver_api", lambda: SimpleNamespace(launchKernel=None))
    parameters, kernel = Parameters(contract(Variant())), LoadedKernel(1, 2, 32)
    start = launch.starter(kernel, contract(Variant()), (1, 1, 1), parameters)
    kept = weakref.ref(parameters), weakref.ref(kernel)
    del parameters, kernel
    gc.collect()
    assert all(ref() is not None for ref in kept)
    del start
    gc.collect()
    assert all(ref() is None for ref in kept)


def test_bfloat16_rounds_to_nearest_even():
    """The bits equal ml_dtypes' on random floats, ties, infinities and NaN."""
    rng = np.random.default_rng(0)
    floats = rng.standard_normal(2000).astype(np.float32) * np.float32(10) ** rng.integers(-30, 30, 2000)
    ties = np.arange(0x3F800000, 0x3F900000, 0x8000, dtype=np.uint32).view(np.float32)
    for value in [*floats, *ties, np.float32("inf"), np.float32("-inf"), np.float32("nan")]:
        want = int(np.array(value, np.float32).astype(ml_dtypes.bfloat16).view(np.uint16))
        assert bfloat16_bits(float(value)) == want


def test_overlap_guard_decides_by_elements_and_remembers_distances():
    """Ranges that meet are decided exactly; the same distance elsewhere needs no second proof."""
    buffer = np.zeros((8, 8), np.float32)
    left, right = describe_numpy(buffer[:, :4]), describe_numpy(buffer[:, 4:])
    guard = OverlapGuard(contract(Variant()).tensors, {"x": left, "y": right}, frozenset(), "k")
    guard.check([left.address, right.address])
    guard.check([left.address + 4096, right.address + 4096])
    guard.check([left.address, left.address + 4096])
    with pytest.raises(ValueError, match="x and y overlap"):
        guard.check([left.address, left.address + 8])
    with pytest.raises(ValueError, match="x and y overlap"):
        guard.check([left.address, left.address])
