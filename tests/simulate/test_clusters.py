"""Clusters: their barrier, each other's shared memory while a CTA lives, and their numbering."""

import numpy as np
import pytest

from phobos_nb.simulate.agents import Agents
from phobos_nb.simulate.machine import LaunchShape
from tests.async_text import (
    BARRIER,
    CLUSTER_SYNC,
    init,
    op,
    wait,
    when,
)
from tests.simulate.test_meeting import PUT, S, faults, run

RANK = (
    '%rank = "gpu.cluster_block_id"() <{dimension = #gpu<dim x>}> : () -> index\n'
    + "%other = arith.subi %c1, %rank : index\n"
    + S
    + '%p = "phobos.peer"(%s, %other) : (memref<128xi32, S>, index) -> memref<128xi32, 7 : i64>\n'
    + "%v = arith.constant 5 : i32\n"
)
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
