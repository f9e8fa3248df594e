"""Built-ins over lanes, threads, bits and global memory."""

from __future__ import annotations

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.builtins import table
from phobos_nb.dtypes import ALL
from phobos_nb.language.meaning.memory import Memory
from phobos_nb.language.types import Uniformity, VoidType
from tests.builtins.calls import Threads, checked, evaluated, number, of, refused, tensor

CTA = Threads(threads=64)
IDS = np.arange(64)


def per_thread(name: str, values: np.ndarray, *others: int) -> np.ndarray:
    kind = {"float32": "f32", "float16": "f16", "int64": "i64"}[values.dtype.name]
    call = checked(name, of(kind, uniformity=Uniformity.LANE), *(number(o) for o in others))
    return table()[name].reference(CTA, call, values, *map(np.asarray, others))


def test_shuffles_read_other_lanes_of_the_warp() -> None:
    """Shuffle takes the lane modulo 32, xor flips bits, down stops at the warp's end."""
    assert per_thread("shuffle", IDS, 35).tolist() == [3] * 32 + [35] * 32
    assert per_thread("shuffle_xor", IDS, 5).tolist() == (IDS ^ 5).tolist()
    down = per_thread("shuffle_down", IDS, 30)
    assert down[:4].tolist() == [30, 31, 2, 3]
    assert down[32:36].tolist() == [62, 63, 34, 35]


def test_warp_and_cta_reductions() -> None:
    """Sums, maxima and minima over 32 lanes and over 64 threads; f16 sums in f32; NaN spreads."""
    assert per_thread("lane_sum", IDS).tolist() == [496] * 32 + [1520] * 32
    assert per_thread("lane_max", IDS)[40] == 63
    assert per_thread("block_sum", IDS) == 2016
    assert per_thread("block_min", IDS) == 0
    assert per_thread("block_sum", np.full(64, 2048, np.float16)) == 64 * 2048
    values = np.arange(64, dtype=np.float32)
    values[7] = np.nan
    assert np.isnan(per_thread("block_max", values))
    assert np.isnan(per_thread("lane_min", values)).tolist() == [True] * 32 + [False] * 32


def test_who_shares_a_collective_s_result() -> None:
    """A warp's sum is warp-uniform, a CTA's is CTA-uniform, a shuffle is per lane."""
    lane = of("f32", uniformity=Uniformity.LANE)
    assert checked("lane_sum", lane).uniformity is Uniformity.WARP
    assert checked("block_sum", lane).uniformity is Uniformity.CTA
    assert checked("shuffle_xor", of("f32"), number(1)).uniformity is Uniformity.LANE


def memory(values: list[float], kind: str = "f32") -> Memory:
    return Memory("A", ALL[kind], np.array(values, ALL[kind].numpy))


def atomic(name: str, target: Memory, index: np.ndarray, *values: np.ndarray | float) -> np.ndarray:
    dtype = target.dtype.name
    kinds = [of(dtype) if np.shape(v) in ((), IDS.shape) else of(dtype, *np.shape(v)) for v in values]
    call = checked(name, tensor(dtype, "N"), of("i64"), *kinds)
    given = [np.asarray(v, target.array.dtype) for v in values]
    return table()[name].reference(CTA, call, target, index, *given)


def test_atomics_run_once_per_thread_and_return_the_old_value() -> None:
    """64 additions of one leave 64; thread t saw t; indices outside do nothing."""
    target = memory([0.0, 5.0])
    old = atomic("atomic_add", target, np.zeros(64, int), 1.0)
    assert old.tolist() == list(range(64))
    atomic("atomic_add", target, IDS + 1, 1.0)
    assert target.array.tolist() == [64.0, 6.0]


def test_atomic_maximum_keeps_nan() -> None:
    """NaN, once there or added, stays."""
    target = memory([1.0, np.nan, 3.0])
    atomic("atomic_max", target, IDS % 3, np.where(IDS == 0, np.nan, 9.0))
    assert np.isnan(target.array).tolist() == [True, True, False]
    assert target.array[2] == 9.0


def test_a_tile_is_added_from_its_first_element_and_clipped() -> None:
    """Elements before and past the tensor are skipped; the call yields nothing."""
    target = memory([0.0] * 5)
    assert atomic("atomic_add", target, np.asarray(-1), np.array([1, 2, 3.0])) is None
    atomic("atomic_add", target, np.asarray(3), np.array([10, 20, 30.0]))
    assert target.array.tolist() == [2, 3, 0, 10, 20]
    call = checked("atomic_add", tensor("f32", "N"), of("i32"), of("f32", 3))
    assert isinstance(call.type, VoidType)


def test_compare_and_swap_takes_the_first_thread() -> None:
    """Only thread 0 finds the expected value."""
    target = memory([0], "i32")
    old = atomic("atomic_cas", target, np.zeros(64, int), 0, IDS + 100)
    assert old.tolist() == [0] + [100] * 63
    assert target.array.tolist() == [100]


def test_atomics_want_a_tensor_of_a_type_that_has_them() -> None:
    """i8 tensors, values in the place of a tensor, and missing indices are refused."""
    assert refused("atomic_add", tensor("i8", "N"), of("i32"), of("i8")).code == "PH104"
    assert refused("atomic_add", of("f32"), of("i32"), of("f32")).code == "PH104"
    assert refused("atomic_add", tensor("f32", "M", "N"), of("i32"), of("f32")).code == "PH107"
    assert refused("atomic_cas", tensor("f32", "N"), of("i32"), of("f32"), of("f32")).code == "PH104"


def test_gather_reads_zero_outside_its_table() -> None:
    """Indices before and past the table give zero, never an element from the end."""
    call = checked("gather", tensor("f32", "N"), of("i32", 1, 4))
    out = table()["gather"].reference(CTA, call, memory([1, 2, 3]), np.array([[2, -1, 3, 0]]))
    assert out.tolist() == [[3, 0, 0, 1]]


def test_popcount_counts_two_s_complement_bits() -> None:
    """-1 in i8 and i32, the largest i64."""
    assert evaluated("popcount", np.array([-1, 5, 0], np.int8)).tolist() == [8, 2, 0]
    assert evaluated("popcount", np.int32(-1)) == 32
    assert evaluated("popcount", np.int64(2**63 - 1)) == 63


def test_byteperm_picks_bytes_of_two_words() -> None:
    """Nibble k of the selector picks byte k; 0-3 from the first word, 4-7 from the second."""
    low, high = np.int32(0x33221100), np.int32(0x77665544)
    for selector, expected in ((0x3210, 0x33221100), (0x0123, 0x00112233), (0x7531, 0x77553311)):
        assert evaluated("byteperm", low, high, np.int32(selector)) == expected


@pytest.mark.parametrize(("floats", "integers"), [(np.float32, np.int32), (np.float64, np.int64)])
def test_bit_patterns_go_both_ways(floats: type, integers: type) -> None:
    """Bits and from_bits are each other's inverse, for NaN and -0 too."""
    x = np.array([1.0, -0.0, np.inf, np.nan, 3e-42], floats)
    out = evaluated("bits", x)
    assert out.dtype == integers
    assert np.array_equal(out, x.view(integers))
    assert np.array_equal(evaluated("from_bits", out).view(integers), out)


def test_a_shared_array_in_the_place_of_a_tensor() -> None:
    """The error stands at the call, not where the array is declared."""
    text = "kernel k(H: tensor<i32>[B]) {\n  var c: shared<i32>[16]\n  atomic_add(c, ctx.lane, 1)\n}\n"
    with pytest.raises(ph.PhobosError) as caught:
        ph.compile(text)
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert (found.code, found.span.start) == ("PH104", text.index("atomic_add"))
    assert found.help.startswith("atomics work on tensors only: give each thread an element")


def test_what_is_no_array_in_the_place_of_a_tensor() -> None:
    """The help shows how a tensor is named."""
    found = refused("atomic_add", of("f32"), of("i32"), of("f32"))
    assert found.help == "name a tensor: `atomic_add(A, ...)`"
