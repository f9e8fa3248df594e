"""Memory barriers, named barriers, clusters and register counts: what each of them forbids is told."""

import numpy as np
import pytest

from phobos_nb.simulate.agents import Agents
from phobos_nb.simulate.machine import LaunchShape
from tests.async_kernels import (
    BARRIER,
    CLUSTER_SYNC,
    FENCE,
    FENCE_INIT,
    FIRST,
    PARITY,
    TICKS,
    arrive,
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
    return kernel(PARITY + TICKS + FIRST + body, OUT, arguments=arguments, **options).run(
        seed=seed, ctas=ctas
    )


def faults(result):
    """Kind and text of each fault."""
    return [(f.kind, f.message) for f in result.faults]


def load(bytes_="%c512", number=1):
    """A bulk copy of bytes to the start of shared memory, counted by barrier 0."""
    types = f"memref<128xi32, S>, index, memref<?xi32>, index, index, G<{number}>, index"
    operands = f"%s, %c0, %src, %c0, {bytes_}, %bar, %c0"
    return op("phobos.bulk.load", operands, types, (1, 1, 1, 1, 1, 1, 1, 0, 0)) + "\n"


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


# Clusters ----------------------------------------------------------------------------------------

RANK = (
    '%rank = "gpu.cluster_block_id"() <{dimension = #gpu<dim x>}> : () -> index\n'
    + "%other = arith.subi %c1, %rank : index\n"
    + S
    + '%p = "phobos.peer"(%s, %other) : (memref<128xi32, S>, index) -> memref<128xi32, 7 : i64>\n'
    + "%v = arith.constant 5 : i32\n"
)
PUT = "memref.store %v, %s[%t] : memref<128xi32, S>\n"
PUT_THERE = "memref.store %v, %p[%t] : memref<128xi32, 7 : i64>\n"
GET_THERE = "%g = memref.load %p[%t] : memref<128xi32, 7 : i64>\n"


def pair(body, **options):
    return run(RANK + body, cluster=2, grid=2, **options)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_peers_meet(seed):
    """Written before, read after the cluster's barrier, and nobody ends before: clean."""
    result = pair(PUT + CLUSTER_SYNC + GET_THERE + CLUSTER_SYNC, seed=seed)
    assert result.clean


@pytest.mark.parametrize("seed", [0, 1])
def test_a_barrier_of_the_cta_does_not_order_its_peer(seed):
    """The other CTA's writes are not ordered by barriers of each CTA."""
    result = pair(CLUSTER_SYNC + PUT + BARRIER + GET_THERE + CLUSTER_SYNC, seed=seed)
    assert result.races
    assert all(r.first_cta != r.second_cta for r in result.races)


def test_a_relaxed_arrival_hands_over_nothing():
    """`cluster.arrive.relaxed` lets peers go on but orders no memory."""
    relaxed = CLUSTER_SYNC.replace('arrive"', 'arrive.relaxed"')
    result = pair(CLUSTER_SYNC + PUT + relaxed + GET_THERE + CLUSTER_SYNC)
    assert result.faults == []
    assert "read after write" in {r.kind for r in result.races}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_before_the_peer_has_started(seed):
    """Shared memory of a CTA that nobody has heard of may not be there yet."""
    found = faults(pair(GET_THERE + CLUSTER_SYNC, seed=seed))
    assert ("cluster", "uses the shared memory of a CTA that may not have started yet") in found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_after_the_peer_has_ended(seed):
    """Without a barrier at the end, one CTA may be gone while the other still reads or writes there."""
    result = pair(PUT + CLUSTER_SYNC + PUT_THERE, seed=seed)
    told = ("cluster", "uses the shared memory of a CTA that has ended") in faults(result)
    assert told or "gpu.return" in {r.second.op for r in result.races}


def test_a_wait_without_an_arrival():
    """The barrier of a cluster is arrived at before it is waited for."""
    alone = '"nvvm.cluster.wait"() : () -> ()\n'
    found = faults(pair(alone))
    assert ("cluster", "waits at the barrier of the cluster without having arrived") in found


def test_two_arrivals_without_a_wait():
    """Nobody arrives twice."""
    alone = '"nvvm.cluster.arrive"() : () -> ()\n'
    found = faults(pair(alone + CLUSTER_SYNC))
    assert ("cluster", "arrives at the barrier of the cluster twice without waiting") in found


def test_one_cta_never_comes():
    """A CTA that waits while its peer waits for something else is a deadlock that says who is where."""
    one = "%zero = arith.cmpi eq, %rank, %c0 : index\n"
    body = one + init([1]) + f"scf.if %zero {{\n{CLUSTER_SYNC}}} else {{\n{wait('%c0', '%even', 1)}}}\n"
    ((kind, text),) = faults(pair(body))
    assert kind == "deadlock"
    assert "the barrier of the cluster" in text
    assert "where 4 of 8 warps are" in text


def test_who_has_ended_need_not_come():
    """Threads that have ended count as arrived."""
    one = "%zero = arith.cmpi eq, %rank, %c0 : index\n"
    assert pair(one + when("%zero", CLUSTER_SYNC)).clean


def test_a_rank_outside():
    """A cluster of two has the ranks 0 and 1."""
    text = RANK.replace('"phobos.peer"(%s, %other)', '"phobos.peer"(%s, %c5)')
    found = faults(run(text + CLUSTER_SYNC, cluster=2, grid=2))
    assert ("cluster", "a rank outside the cluster of 2 CTAs") in found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_a_remote_arrival_hands_over(seed):
    """An arrival at a peer's barrier says that reads are over, not that writes can be seen."""
    signal = op("phobos.mbarrier.arrive.peer", "%bar, %c0, %other", "G<1>, index, index") + "\n"
    begin = init([128], cluster=True)
    seen = wait("%c0", "%even", 1)
    after_reads = pair(PUT + begin + GET_THERE + signal + seen + PUT, seed=seed)
    assert after_reads.clean
    after_writes = pair(
        begin
        + PUT_THERE
        + signal
        + seen
        + "%y = memref.load %s[%t] : memref<128xi32, S>\n"
        + CLUSTER_SYNC,
        seed=seed,
    )
    assert {r.kind for r in after_writes.races} == {"read after write"}


def test_clusters_have_places():
    """Ids and extents of clusters, for the second of three clusters of two."""
    body = "".join(
        f'%i{k} = "gpu.{name}"() <{{dimension = #gpu<dim x>}}> : () -> index\n'
        f"%j{k} = arith.index_cast %i{k} : index to i32\n%p{k} = arith.addi %o, %c{k} : index\n"
        f"memref.store %j{k}, %out[%p{k}] : memref<?xi32>\n"
        for k, name in enumerate(
            ("cluster_id", "cluster_dim", "cluster_block_id", "cluster_dim_blocks", "block_id")
        )
    )
    result = run("%o = arith.muli %b, %c8 : index\n" + when("%first", body), cluster=2, grid=6)
    assert result.clean
    found = result.outputs["out"][:48].reshape(6, 8)[:, :5]
    assert found.tolist() == [[b // 2, 3, b % 2, 2, b] for b in range(6)]


def test_clusters_of_several_axes():
    """CTAs of a 2 x 2 cluster are numbered together, x fastest; linear numbers lead to them and back."""
    shape = LaunchShape(32, (4, 6, 1), (2, 2, 1), Agents(32, cluster=4))
    assert [shape.coordinates(n) for n in range(5)] == [
        (0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (2, 0, 0),
    ]  # fmt: skip
    linear = np.arange(24)
    numbers = shape.number(linear)
    assert sorted(numbers.tolist()) == linear.tolist()
    x, y, z = shape.ids(numbers)
    assert (x + 4 * (y + 6 * z)).tolist() == linear.tolist()


def test_some_ctas_bring_their_clusters():
    """Simulating one CTA of a cluster runs its peers too."""
    result = run(RANK + CLUSTER_SYNC, cluster=2, grid=6, ctas=[3])
    assert result.clean
    assert result.ctas == 2


def test_a_grid_of_no_whole_clusters():
    """Three CTAs are not clusters of two."""
    with pytest.raises(ValueError, match="not made of whole clusters"):
        run("", cluster=2, grid=3)


def test_a_multicast_outside_the_cluster():
    """A mask names CTAs of the cluster."""
    mask = "%mask = arith.constant 12 : i16\n"
    types = "memref<128xi32, S>, index, memref<?xi32>, index, index, G<1>, index, i16"
    sent = op("phobos.bulk.load", "%s, %c0, %src, %c0, %c512, %bar, %c0, %mask", types, (1,) * 8 + (0,))
    body = S + mask + init([1], cluster=True) + when("%first", sent + "\n")
    assert ("cluster", "copies to CTAs [2, 3] of a cluster of 2") in faults(run(body, cluster=2, grid=2))


# Stores and registers ----------------------------------------------------------------------------

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
