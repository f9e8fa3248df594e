"""Kernels that check themselves, with one synchronisation that can be left out.

Every CTA works for some rounds; in each, values that are new in the round go through memory, and threads
count the words that they do not find as they should be. With everything in place the count is zero; what
a GPU counts without one synchronisation tells whether its absence shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.async_text import (
    BARRIER,
    CLUSTER_SYNC,
    COMMIT,
    FENCE,
    FENCE_INIT,
    RANK,
    START,
    WAIT_ALL,
    WAIT_READ,
    Kernel,
    arrive,
    barriers,
    bulk_load,
    bulk_store,
    expect,
    init,
    kernel,
    op,
    peer,
    shared_view,
    wait,
    when,
)

THREADS = 128
FENCE_GLOBAL = '"nvvm.fence.proxy"() <{kind = #nvvm.proxy_kind<async.global>}> : () -> ()\n'
CUT = "<cut>"
"""Where the synchronisation stands that may be left out."""


@dataclass(frozen=True)
class Experiment:
    """A round: values are made from `%n`, the number of its first word, and `%e1` counts what is wrong.

    sync: what stands at the marks, or `instead` of it where it is left out. words: 32-bit words that a
    CTA moves in a round. before, after: text around the rounds. counts: arrivals of its memory barriers,
    which `begin` makes. rounds: how many there are, if not many. host: whether the words that `far`
    holds in the end are to be their own numbers, too.
    """

    what: str
    sync: tuple[str, ...]
    round: str
    instead: tuple[str, ...] = ("",)
    words: int = 1024
    cluster: int = 1
    counts: tuple[int, ...] = (1,)
    before: str = ""
    after: str = ""
    begin: str = ""
    rounds: int = 0
    host: bool = False

    def make(self, *, whole: bool, ctas: int, rounds: int) -> Kernel:
        """The kernel, with or without the synchronisation."""
        total, size = ctas * rounds * self.words, 4 * self.words
        outputs = {"far": total, "out": ctas * THREADS}
        return kernel(
            _cut(self._body(rounds), self.sync if whole else self.instead),
            [("src", "i32", (total,), False), *((o, "i32", (n,), True) for o, n in outputs.items())],
            threads=THREADS,
            shared=size,
            cluster=self.cluster,
            grid=ctas,
            arguments={
                "src": np.arange(total, dtype=np.int32),
                **{o: np.full(n, -1, np.int32) for o, n in outputs.items()},
            },
        )

    def _body(self, rounds: int) -> str:
        n, size, cluster = self.words, 4 * self.words, self.cluster > 1
        return (
            START + PAIR * cluster + NUMBERS
            + f"%rounds = arith.constant {rounds} : index\n"
            + shared_view("own", "%c0", [n], "i32", size)
            + (self.begin or init(self.counts, cluster=cluster)) + self.before
            + "%errors = scf.for %i = %c0 to %rounds step %c1 iter_args(%e0 = %zero) -> (i32) {\n"
            + "%n0 = arith.muli %b, %rounds : index\n%n1 = arith.addi %n0, %i : index\n"
            + f"%n = arith.muli %n1, %c{n} : index\n"
            + "%half = arith.remui %i, %c2 : index\n%parity = arith.cmpi ne, %half, %c0 : index\n"
            + self.round + "scf.yield %e1 : i32\n}\n" + self.after
            + f"%p0 = arith.muli %b, %c{THREADS} : index\n%p = arith.addi %p0, %t : index\n"
            + "memref.store %errors, %out[%p] : memref<?xi32>\n"
        )  # fmt: skip


def _cut(text: str, pieces: tuple[str, ...]) -> str:
    """The text with the pieces at its marks, in order."""
    between = text.split(CUT)
    return between[0] + "".join(p + b for p, b in zip(pieces, between[1:], strict=True))


NUMBERS = (
    "%zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n%minus = arith.constant -1 : i32\n"
)
PAIR = RANK + (
    "%other = arith.subi %c1, %rank : index\n"
    "%b1 = arith.addi %b, %other : index\n%pal = arith.subi %b1, %rank : index\n"
)
"""The own rank in a pair of CTAs, the other's, and the other CTA's number."""


def fill(words: int, value: str = "%v32", to: str = "%own", first: str = "%n", space: str = "S") -> str:
    """Every thread writes its words: numbers from the first one on, or one value."""
    return f"""scf.for %w = %t to %c{words} step %c{THREADS} {{
  %v = arith.addi %w, {first} : index
  %v32 = arith.index_cast %v : index to i32
  memref.store {value}, {to}[%w] : memref<{words}xi32, {space}>
}}
"""


def check(words: int, load: str = "", first: str = "%n", skew: str = "%c0") -> str:
    """Every thread counts wrong ones among the words of the thread across; `load` defines %found.

    `skew` is nothing, but a value to wait for.
    """
    return f"""%e1 = scf.for %w = %t to %c{words} step %c{THREADS} iter_args(%e = %e0) -> (i32) {{
  %straight = arith.subi %c{words - 1}, %w : index
  %u = arith.addi %straight, {skew} : index
  %v = arith.addi %u, {first} : index
  {load or f"%found = memref.load %own[%u] : memref<{words}xi32, S>"}
  %v32 = arith.index_cast %v : index to i32
  %bad = arith.cmpi ne, %found, %v32 : i32
  %more = arith.select %bad, %one, %zero : i32
  %sum = arith.addi %e, %more : i32
  scf.yield %sum : i32
}}
"""


def bring(words: int, tensor: str = "src", number: int = 1) -> str:
    """The round's words of a tensor, to barrier 0."""
    return bulk_load("%own", words, f"%{tensor}", "%n", f"%c{4 * words}", "%c0", number)


def put(words: int, at: str = "%n") -> str:
    """The round's words to their place, or another one, in global memory."""
    return bulk_store("%far", at, "%own", words, f"%c{4 * words}")


LATE = """%warp = arith.divui %t, %c32 : index
%odd_warp = arith.remui %warp, %c2 : index
%comes_late = arith.cmpi eq, %odd_warp, %c1 : index
%late = scf.if %comes_late -> (index) {
  %end = scf.for %k = %c0 to %c16 step %c1 iter_args(%at = %n) -> (index) {
    %next = memref.load %src[%at] : memref<?xi32>
    %again = arith.index_cast %next : i32 to index
    scf.yield %again : index
  }
  scf.yield %end : index
} else {
  scf.yield %n : index
}
%skew = arith.subi %late, %n : index
"""
"""%late is %n, which odd warps find out by a chain of loads, and %skew is nothing."""
LATER = LATE.replace("%c16", "%c256")


def alone(words: int) -> str:
    """One thread writes all words."""
    return f"""scf.for %w = %c0 to %c{words} step %c1 {{
  %v = arith.addi %w, %n : index
  %v32 = arith.index_cast %v : index to i32
  memref.store %v32, %own[%w] : memref<{words}xi32, S>
}}
"""


N, BIG, FEW = 1024, 8192, 32
LOAD = expect("%c0", 4 * N, 1) + bring(N)
SEEN = wait("%c0", "%parity", 1)
FAR = "%found = memref.load %far[%v] : memref<?xi32>"
AWAY = f"%found = memref.load %away[%u] : memref<{N}xi32, 7 : i64>"
PEER = peer("away", "own", N, "%other")
ONE_PLACE = f"%same = arith.muli %b, %c{N} : index\n"
SAME = "%s = arith.addi %u, %same : index\n  %found = memref.load %far[%s] : memref<?xi32>"
PALS = (
    "%m0 = arith.muli %pal, %rounds : index\n%m1 = arith.addi %m0, %i : index\n"
    f"%m = arith.muli %m1, %c{N} : index\n"
)
"""The number of the other CTA's first word in this round."""
STORE = put(N) + COMMIT + WAIT_ALL
NAMED = (
    f"%count = arith.constant {THREADS} : i32\n"
    + op("nvvm.barrier", "%one, %count", "i32, i32", (1, 1, 0))
    + "\n"
)
FAR_FILL = f"""scf.for %w = %t to %c{N} step %c{THREADS} {{
  %v = arith.addi %w, %n : index
  %v32 = arith.index_cast %v : index to i32
  memref.store %v32, %far[%v] : memref<?xi32>
}}
"""
ARRIVE_THERE = op("phobos.mbarrier.arrive.peer", "%bar, %c0, %other", "G<1>, index, index") + "\n"


def _unfenced() -> str:
    """A memory barrier made by a thread, without a fence."""
    made, inits = barriers([1]).split("\n", 1)
    return made + "\n" + when("%first", inits + CUT) + BARRIER


EXPERIMENTS = {
    "mbarrier wait": Experiment(
        "a bulk load, then threads read what it brings",
        (SEEN,),
        fill(N, "%minus") + FENCE + BARRIER + when("%first", LOAD) + CUT + check(N) + SEEN + BARRIER,
    ),
    "expect_tx": Experiment(
        "a bulk load whose bytes are not expected by the phase that threads wait for, then they read",
        (expect("%c0", 4 * N, 1), expect("%c0", 0, 1)),
        fill(N, "%minus") + FENCE + BARRIER + when("%first", CUT + bring(N))
        + wait("%c0", "%even", 1) + check(N) + when("%first", CUT) + wait("%c0", "%odd", 1) + BARRIER,
        (expect("%c0", 0, 1), expect("%c0", 4 * N, 1)),
    ),
    "proxy fence before a load": Experiment(
        "threads write shared memory, a bulk load writes the same",
        (FENCE,),
        fill(N, "%minus") + CUT + BARRIER + when("%first", LOAD) + SEEN + check(N) + BARRIER,
    ),
    "proxy fence before a store": Experiment(
        "threads write shared memory, a bulk store reads it",
        (FENCE,),
        fill(N) + CUT + BARRIER + when("%first", STORE) + BARRIER + check(N, FAR),
    ),
    "barrier before a store": Experiment(
        "threads write shared memory, a bulk store that one of them starts reads it",
        (BARRIER,),
        fill(N) + FENCE + CUT + when("%first", STORE) + BARRIER + check(N, FAR),
    ),
    "proxy fence of global memory": Experiment(
        "threads write global memory, a bulk load reads it",
        (FENCE_GLOBAL,),
        FAR_FILL + CUT + BARRIER + when("%first", expect("%c0", 4 * N, 1) + bring(N, "far"))
        + SEEN + check(N) + BARRIER,
    ),
    "wait_group.read": Experiment(
        "a bulk store, then threads write anew what it reads",
        (WAIT_READ,),
        fill(BIG) + FENCE + BARRIER + when("%first", put(BIG) + COMMIT + CUT) + BARRIER
        + fill(BIG, "%minus") + when("%first", WAIT_ALL) + BARRIER + check(BIG, FAR) + BARRIER,
        words=BIG,
    ),
    "commit_group": Experiment(
        "the same, with the wait, but the store belongs to no group yet",
        (COMMIT,),
        fill(BIG) + FENCE + BARRIER + when("%first", put(BIG) + CUT + WAIT_READ) + BARRIER
        + fill(BIG, "%minus") + when("%first", COMMIT + WAIT_ALL) + BARRIER + check(BIG, FAR) + BARRIER,
        words=BIG,
    ),
    "wait_group": Experiment(
        "a bulk store, then threads read what it writes, when only its reads were waited for",
        (WAIT_ALL,),
        fill(BIG) + FENCE + BARRIER + when("%first", put(BIG) + COMMIT + CUT) + BARRIER
        + check(BIG, FAR) + when("%first", WAIT_ALL) + BARRIER,
        (WAIT_READ,),
        words=BIG,
    ),
    "cluster barrier": Experiment(
        "threads write their CTA's shared memory, the other CTA's threads read it",
        (CLUSTER_SYNC,),
        PALS + PEER + LATE + fill(N, first="%late") + CUT + check(N, AWAY, "%m") + CLUSTER_SYNC,
        cluster=2,
    ),
    "cluster barrier for an arrival": Experiment(
        "threads write the other CTA's memory and arrive at its memory barrier, it waits and reads",
        (CLUSTER_SYNC,),
        PALS + PEER + fill(N, to="%away", space="7 : i64") + CUT + ARRIVE_THERE + SEEN
        + check(N, first="%m") + CLUSTER_SYNC,
        cluster=2,
        counts=(THREADS,),
    ),
    "cluster barrier at the end": Experiment(
        "one CTA of a pair may end while the other reads its shared memory",
        (CLUSTER_SYNC,),
        "%stays = arith.cmpi eq, %rank, %c0 : index\n%e1 = scf.if %stays -> (i32) {\n"
        + check(N, AWAY, "%theirs").replace("%e1 =", "%e2 =")
        + "scf.yield %e2 : i32\n} else {\n scf.yield %e0 : i32\n}\n",
        before=PEER + f"%theirs = arith.muli %pal, %c{N} : index\n%mine = arith.muli %b, %c{N} : index\n"
        + fill(N, first="%mine") + CLUSTER_SYNC,
        after=CUT,
        cluster=2,
    ),
    "fence.mbarrier_init": Experiment(
        "a memory barrier is made, and counts the bytes of a bulk load",
        (FENCE_INIT,),
        when("%first", LOAD) + SEEN + check(N) + BARRIER,
        begin=_unfenced(),
    ),
    "mbarrier wait of threads": Experiment(
        "threads write shared memory and arrive at a memory barrier, they wait there and read",
        (SEEN,),
        LATE + fill(N, first="%late") + arrive("%c0", 1, "k") + CUT + check(N) + SEEN + BARRIER,
        counts=(THREADS,),
    ),
    "named barrier": Experiment(
        "threads write shared memory, meet at a named barrier and read it",
        (NAMED,),
        LATE + fill(N, first="%late") + CUT + check(N) + BARRIER,
    ),
    "proxy fence of one thread": Experiment(
        "a thread writes a little shared memory, its bulk store reads it at once",
        (FENCE,),
        when("%first", alone(FEW) + CUT + put(FEW) + COMMIT + WAIT_ALL) + BARRIER
        + check(FEW, FAR),
        words=FEW,
    ),
    "wait_group for a load": Experiment(
        "a bulk store, then a bulk load of what it writes, when only its reads were waited for",
        (WAIT_ALL,),
        fill(BIG) + FENCE + BARRIER
        + when(
            "%first",
            put(BIG) + COMMIT + CUT + expect("%c0", 4 * BIG, 1) + bring(BIG, "far")
        )
        + SEEN + check(BIG) + when("%first", WAIT_ALL) + BARRIER,
        (WAIT_READ,),
        words=BIG,
    ),
    "wait_group, one place": Experiment(
        "bulk stores to the same place in every round, which threads have read in the round before",
        (WAIT_ALL,),
        ONE_PLACE + fill(N) + FENCE + BARRIER + when("%first", put(N, "%same") + COMMIT + CUT)
        + BARRIER + check(N, SAME) + BARRIER + when("%first", WAIT_ALL) + BARRIER,
        (WAIT_READ,),
    ),
    "wait_group.read at the end": Experiment(
        "a thread ends while its bulk store may still read the CTA's shared memory",
        (WAIT_READ,),
        fill(BIG) + FENCE + BARRIER + when("%first", put(BIG) + COMMIT + CUT)
        + "%e1 = arith.addi %e0, %zero : i32\n",
        words=BIG,
        rounds=1,
        host=True,
    ),
    "mbarrier wait before a load": Experiment(
        "threads read what a bulk load brought and arrive at a memory barrier, then the next begins",
        (wait("%c1", "%free", 2),),
        "%free = arith.cmpi eq, %half, %c0 : index\n"
        + when("%first", CUT + expect("%c0", 4 * N, 2) + bring(N, number=2))
        + wait("%c0", "%parity", 2) + LATER + check(N, skew="%skew") + arrive("%c1", 2, "k"),
        counts=(1, THREADS),
    ),
}  # fmt: skip
"""What each is called after: the synchronisation that can be left out."""
