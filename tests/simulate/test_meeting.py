"""Memory barriers, named barriers, clusters and register counts: what each of them forbids is told."""

import numpy as np
import pytest

from tests.async_text import (
    BARRIER,
    FENCE,
    FENCE_INIT,
    START,
    arrive,
    bulk_load,
    expect,
    init,
    kernel,
    op,
    registers_per_thread,
    shared_view,
    wait,
    when,
)

OUT = [("src", "i32", (256,), False), ("out", "i32", (256,), True)]


def run(body, *, seed=0, ctas=None, **options):
    """Simulate a body over 256 words in and out."""
    arguments = {"src": np.arange(256, dtype=np.int32), "out": np.zeros(256, np.int32)}
    options = {"shared": 1024, "threads": 128, **options}
    return kernel(START + body, OUT, arguments=arguments, **options).run(seed=seed, ctas=ctas)


def faults(result):
    """Kind and text of each fault."""
    return [(f.kind, f.message) for f in result.faults]


def load(bytes_="%c512", number=1):
    """A bulk copy of bytes to the start of shared memory, counted by barrier 0."""
    return bulk_load("%s", 128, "%src", "%c0", bytes_, "%c0", number)


S = shared_view("s", "%c0", [128], "i32", 1024)
READ = "%x = memref.load %s[%t] : memref<128xi32, S>\nmemref.store %x, %out[%t] : memref<?xi32>\n"

# Bytes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_right_number_of_bytes(seed):
    """A phase ends when its arrivals and its bytes have come."""
    result = run(
        S + init([1]) + when("%first", expect("%c0", 512, 1) + load()) + wait("%c0", "%even", 1) + READ,
        seed=seed,
    )
    assert result.clean
    assert (result.outputs["out"][:128] == np.arange(128)).all()


def test_expected_later_than_copied():
    """Bytes may come before they are expected, as long as an arrival is missing."""
    result = run(
        S + init([1]) + when("%first", load() + expect("%c0", 512, 1)) + wait("%c0", "%even", 1) + READ,
        seed=3,
    )
    assert result.clean


@pytest.mark.parametrize(
    ("expected", "missing"), [(528, "16 bytes are missing"), (496, "16 bytes have")]
)
def test_the_wrong_number_of_bytes(expected, missing):
    """Too many or too few bytes leave the phase open: the report counts them."""
    result = run(
        S
        + init([1])
        + when("%first", expect("%c0", expected, 1) + load())
        + wait("%c0", "%even", 1)
        + READ
    )
    (fault,) = result.faults
    assert fault.kind == "deadlock"
    assert missing in fault.message


def test_no_bytes_expected():
    """Without expect_tx the phase ends by the arrival alone, and the copy is still in flight."""
    plain = when("%first", load() + arrive("%c0", 1, "k"))
    result = run(S + init([1]) + plain + wait("%c0", "%even", 1) + READ)
    assert "copy in flight" in {r.kind for r in result.races}


def test_more_bytes_than_a_phase_can_count():
    """The hardware counts up to 2^20 - 1 bytes."""
    result = run(S + init([1]) + when("%first", expect("%c0", 1 << 20, 1)))
    assert ("mbarrier", "makes memory barrier 0 wait for more than 1048575 bytes") in faults(result)


def test_more_bytes_than_can_be_owed():
    """Copies whose bytes nothing expects run the count below its range."""
    words = 57344
    body = S + init([1]) + when("%first", load(f"%c{4 * words}") * 5) + wait("%c0", "%even", 1)
    body = body.replace("memref<1024xi8", f"memref<{4 * words}xi8").replace("<128xi32", f"<{words}xi32")
    tensors = [("src", "i32", (words,), False), ("out", "i32", (256,), True)]
    arguments = {"src": np.zeros(words, np.int32), "out": np.zeros(256, np.int32)}
    made = kernel(START + body, tensors, shared=4 * words, arguments=arguments)
    text = "brings memory barrier 0 more than 1048575 bytes that nothing expects"
    assert ("mbarrier", text) in faults(made.run())


def test_every_thread_copies():
    """A copy that nobody elected a thread for is made by each of them: a race and too many bytes."""
    result = run(
        S + init([1]) + when("%first", expect("%c0", 512, 1)) + load() + wait("%c0", "%even", 1)
    )
    assert "copy in flight" in {r.kind for r in result.races}


@pytest.mark.parametrize(("bytes_", "shift"), [(500, 0), (512, 4)])
def test_what_bulk_copies_cannot_move(bytes_, shift):
    """Addresses and sizes are multiples of 16 bytes."""
    moved = load(f"%c{bytes_}").replace("%s, %c0,", f"%s, %c{shift // 4},")
    result = run(S + init([1]) + when("%first", moved))
    assert {k for k, _ in faults(result)} == {"misaligned"}
    assert "both must be multiples of 16" in result.faults[0].message


def test_past_the_end():
    """A copy from outside the tensor is not made."""
    result = run(S + init([1]) + when("%first", load("%c2048")))
    assert {k for k, _ in faults(result)} == {"out_of_bounds"}
    assert "which reach outside it" in result.faults[0].message


# Phases ------------------------------------------------------------------------------------------


def test_a_barrier_whose_init_no_fence_has_handed_on():
    """The engine may not see a barrier that no fence followed, though the threads do."""
    text = (
        S + init([1]) + when("%first", expect("%c0", 512, 1) + load()) + wait("%c0", "%even", 1) + READ
    )
    (race,) = run(text.replace(FENCE_INIT, "")).races
    assert (race.kind, race.tensor, race.element) == ("missing proxy fence", "mbarrier", (0,))


def test_the_wrong_parity_at_first():
    """The phase before the first one counts as complete with parity 1: the wait lets through at once."""
    body = S + init([1]) + when("%first", expect("%c0", 512, 1) + load()) + wait("%c0", "%odd", 1) + READ
    result = run(body)
    assert "copy in flight" in {r.kind for r in result.races}


def test_a_parity_that_never_comes():
    """Waiting for the second phase where there is one only is a deadlock that counts the phases."""
    body = init([1]) + when("%first", arrive("%c0", 1, "k")) + wait("%c0", "%even", 1)
    ((kind, text),) = faults(run(body + wait("%c0", "%odd", 1)))
    assert kind == "deadlock"
    assert "it has completed 1 phases, this warp has passed 1" in text


def test_a_missed_phase():
    """A phase that a warp never waited for is told when a later one of that parity lets it pass."""
    go_on = "".join(arrive("%c0", 1, f"k{i}") for i in range(3))
    result = run(init([1]) + when("%first", go_on) + BARRIER + wait("%c0", "%even", 1))
    (fault,) = result.faults
    assert fault.message == "passes memory barrier 0, 3 phases after the last that this warp waited for"


def test_arrivals_that_must_not_complete():
    """`arrive.nocomplete` with as many arrivals as are missing is misuse."""
    many = '%k = "nvgpu.mbarrier.arrive.nocomplete"(%bar, %c0, %c2) : (G<1>, index, index) -> !nvgpu.mbarrier.token\n'  # noqa: E501
    assert run(init([3]) + when("%first", many + arrive("%c0", 1, "l")) + wait("%c0", "%even", 1)).clean
    result = run(init([2]) + when("%first", many))
    assert (
        "mbarrier",
        "completes the phase of a memory barrier, which this arrival must not",
    ) in faults(result)


def test_a_barrier_of_no_group():
    """An index outside the group is told."""
    result = run(init([1]) + when("%first", arrive("%c7", 1, "k")))
    assert faults(result) == [("mbarrier", "memory barrier 7 of a group of 1")]


def test_a_poll_that_never_ends():
    """Asking for a phase that cannot complete is a deadlock, not an endless simulation."""
    ask = """
  %token = "nvgpu.mbarrier.arrive"(%bar, %c0) : (G<1>, index) -> !nvgpu.mbarrier.token
  %tries = "scf.while"(%c0) ({
  ^bb0(%i: index):
    %done = "nvgpu.mbarrier.test.wait"(%bar, %token, %c0)
      : (G<1>, !nvgpu.mbarrier.token, index) -> i1
    %more = arith.xori %done, %odd : i1
    "scf.condition"(%more, %i) : (i1, index) -> ()
  }, {
  ^bb0(%j: index):
    %k = arith.addi %j, %c1 : index
    "scf.yield"(%k) : (index) -> ()
  }) : (index) -> index
"""
    ((kind, text),) = faults(run(init([129]) + ask))
    assert kind == "deadlock"
    assert "a memory barrier that it asks again and again" in text


# Named barriers ----------------------------------------------------------------------------------

NUMBERS = "%n1 = arith.constant 1 : i32\n%n20 = arith.constant 20 : i32\n" + "".join(
    f"%w{k} = arith.constant {k} : i32\n" for k in (32, 48, 64, 96, 128, 256)
)


def sync(number, threads):
    return op("nvvm.barrier", f"%n{number}, %w{threads}", "i32, i32", (1, 1, 0)) + "\n"


def come(number, threads):
    return op("nvvm.barrier.arrive", f"%n{number}, %w{threads}", "i32, i32") + "\n"


LOW = "%low = arith.cmpi ult, %t, %c64 : index\n"


def branches(yes, no):
    """Two warps do one thing, two the other."""
    return NUMBERS + LOW + f"scf.if %low {{\n{yes}}} else {{\n{no}}}\n"


NAMED = {
    "of two counts": (branches(sync(1, 128), sync(1, 96)), "barrier 1 for 96 threads, but 128"),
    "of no number": (branches(sync(20, 64), ""), "barrier 20: a CTA has 16"),
    "of no whole warps": (branches(sync(1, 48), ""), "barrier 1 for 48 threads, which are not whole"),
    "of more threads than there are": (branches(sync(1, 256), ""), "but the CTA has 128"),
    "arrived at twice": (
        branches(come(1, 128) + come(1, 128), ""),
        "warp 0 arrives at barrier 1 twice in one phase",
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_barriers(name):
    """What the hardware leaves undefined about a named barrier is told by its numbers."""
    body, message = NAMED[name]
    assert any(k == "named_barrier" and message in text for k, text in faults(run(body)))


def test_a_named_barrier_that_nobody_else_comes_to():
    """Half of the warps wait for all: a deadlock that counts those who are there."""
    ((kind, text),) = faults(run(branches(sync(1, 128), "")))
    assert kind == "deadlock"
    assert "named barrier 1" in text
    assert "where 64 of 128 threads are" in text


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_named_barrier_orders(seed):
    """What was written before arriving may be read after waiting."""
    put = "memref.store %v, %s[%t] : memref<128xi32, S>\n"
    take = "%q = arith.subi %t, %c64 : index\n%x = memref.load %s[%q] : memref<128xi32, S>\n"
    value = "%v = arith.constant 5 : i32\n"
    with_ = S + value + branches(put + come(1, 128), sync(1, 128) + take)
    assert run(with_, seed=seed).clean
    assert run(S + value + branches(put, take), seed=seed).races


# Stores and registers ----------------------------------------------------------------------------

PUT = "memref.store %v, %s[%t] : memref<128xi32, S>\n"
STORE = (
    op("phobos.bulk.store", "%out, %c0, %s, %c0, %c512",
       "memref<?xi32>, index, memref<128xi32, S>, index, index", (1, 1, 1, 1, 1, 0))
    + "\n"
)  # fmt: skip
COMMIT = '"nvvm.cp.async.bulk.commit.group"() : () -> ()\n'


def groups(number, *, read):
    """Wait for all but the latest groups."""
    return (
        f'"nvvm.cp.async.bulk.wait_group"() <{{group = {number} : i32{", read" if read else ""}}}> '
        ": () -> ()\n"
    )


def stored(rest, **options):
    value = "%v = arith.constant 5 : i32\n"
    return run(S + value + PUT + FENCE + BARRIER + when("%first", STORE + rest), **options)


@pytest.mark.parametrize("read", [False, True])
def test_a_store_that_is_waited_for(read):
    """The tensor holds what was stored, at the latest when the kernel has ended."""
    result = stored(COMMIT + groups(0, read=read))
    assert result.clean
    assert (result.outputs["out"][:128] == 5).all()


@pytest.mark.parametrize("rest", ["", COMMIT, COMMIT + groups(1, read=True), groups(0, read=True)])
def test_a_thread_that_ends_too_early(rest):
    """Shared memory may be gone while the store still reads it."""
    text = "the thread ends while its bulk store may still read shared memory"
    assert ("bulk_copy", text) in faults(stored(rest))


def test_reading_back_what_was_stored():
    """`wait_group.read` frees shared memory; only `wait_group` says that the tensor was written."""
    again = "%z = memref.load %out[%c0] : memref<?xi32>\n"
    assert stored(COMMIT + groups(0, read=False) + again).clean
    (race,) = stored(COMMIT + groups(0, read=True) + again).races
    assert (race.kind, race.tensor) == ("copy in flight", "out")


def half(first, second):
    """Warpgroup 0 does one thing, warpgroup 1 the other."""
    return f"%low = arith.cmpi ult, %t, %c128 : index\nscf.if %low {{\n{first}}} else {{\n{second}}}\n"


LESS, MORE = registers_per_thread("decrease", 40), registers_per_thread("increase", 256)
REGISTERS = {
    "more than anybody gives back": (half("", MORE), "deadlock", "of which 0 are free"),
    "in the wrong direction": (
        half(registers_per_thread("increase", 24), ""),
        "registers",
        "fewer than",
    ),
    "keeping more than there are": (
        half(registers_per_thread("decrease", 256), ""),
        "registers",
        "more",
    ),
    "by one warp": (
        "%one = arith.cmpi ult, %t, %c32 : index\n" + when("%one", LESS),
        "registers",
        "only a part of a warpgroup changes its registers",
    ),
}


@pytest.mark.parametrize("name", REGISTERS)
def test_registers(name):
    """What `setmaxnreg` forbids, and asking for what nobody gives."""
    body, kind, message = REGISTERS[name]
    assert any(k == kind and message in text for k, text in faults(run(body, threads=256)))


@pytest.mark.parametrize("seed", range(4))
def test_registers_change_hands(seed):
    """384 threads start with 168; what two warpgroups get is what the third gives back."""
    group = "%g = arith.divui %t, %c128 : index\n%low = arith.cmpi eq, %g, %c0 : index\n"
    more = registers_per_thread("increase", 232)
    body = group + f"scf.if %low {{\n{LESS}}} else {{\n{more}}}\n"
    assert run(body, threads=384, seed=seed).clean
    tight = body.replace("regCount = 232", "regCount = 240")
    assert "deadlock" in {k for k, _ in faults(run(tight, threads=384, seed=seed))}
