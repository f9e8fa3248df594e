"""Helpers for memory barriers, named barriers, clusters, fences and register counts: Hopper's PTX.

Texts: PTX ISA, "Parallel Synchronization and Communication Instructions".
"""

from __future__ import annotations

from phobos_nb.cuda.emit.prelude import helper

BARRIER = '"r"(shared_address(b))'


def _sync(key: str, text: str, *needs: str, feature: str = "tma") -> None:
    helper(key, text, *needs, feature=feature)


_sync(
    "mbarrier_init",
    f"""
@void mbarrier_init(void* b, int count) {{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: {BARRIER}, "r"(count) : "memory");
}}""",
    "shared_address",
)
_sync(
    "mbarrier_arrive",
    f"""
@unsigned long long mbarrier_arrive(void* b) {{
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : {BARRIER} : "memory");
  return state;
}}""",
    "shared_address",
)
_sync(
    "mbarrier_arrive_no_complete",
    f"""
@unsigned long long mbarrier_arrive_no_complete(void* b, int count) {{
  unsigned long long state;
  asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state) : {BARRIER}, "r"(count) : "memory");
  return state;
}}""",
    "shared_address",
)
_sync(
    "mbarrier_arrive_expect",
    f"""
@void mbarrier_arrive_expect(void* b, int bytes) {{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: {BARRIER}, "r"(bytes) : "memory");
}}""",
    "shared_address",
)
_sync(
    "mbarrier_arrive_peer",
    f"""
@void mbarrier_arrive_peer(void* b, int rank) {{
  asm volatile("{{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; "
               "mbarrier.arrive.shared::cluster.b64 _, [there]; }}"
               :: {BARRIER}, "r"(rank) : "memory");
}}""",
    "shared_address",
    feature="cluster",
)
_sync(
    "mbarrier_test",
    f"""
@bool mbarrier_test(void* b, unsigned long long state) {{
  int done;
  asm volatile("{{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; "
               "selp.b32 %0, 1, 0, p; }}"
               : "=r"(done) : {BARRIER}, "l"(state) : "memory");
  return done;
}}""",
    "shared_address",
)
_sync(
    "mbarrier_wait",
    f"""
@void mbarrier_wait(void* b, unsigned parity, unsigned ticks) {{
  int done = 0;
  while (!done)
    asm volatile("{{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3; "
                 "selp.b32 %0, 1, 0, p; }}"
                 : "=r"(done) : {BARRIER}, "r"(parity), "r"(ticks) : "memory");
}}""",
    "shared_address",
)
helper(
    "barrier_sync",
    """
@void barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads) : "memory");
}""",
)
helper(
    "barrier_sync_all",
    '@void barrier_sync_all(int id) { asm volatile("bar.sync %0;" :: "r"(id) : "memory"); }',
)
helper(
    "barrier_arrive",
    """
@void barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" :: "r"(id), "r"(threads) : "memory");
}""",
)
for way in ("arrive.release", "arrive.relaxed", "wait.acquire"):
    for aligned in ("", ".aligned"):
        name = f"cluster_{way}{aligned}".replace(".", "_")
        _sync(
            name,
            f"""@void {name}() {{ asm volatile("barrier.cluster.{way}{aligned};" ::: "memory"); }}""",
            feature="cluster",
        )
for place in ("ctarank", *(f"{kind}.{axis}" for kind in ("ctaid", "nctaid") for axis in "xyz")):
    name = f"cluster_{place.replace('.', '_')}"
    _sync(
        name,
        f"""
@int {name}() {{
  int x;
  asm("mov.u32 %0, %%cluster_{place};" : "=r"(x));
  return x;
}}""",
        feature="cluster",
    )
for place in (f"{kind}.{axis}" for kind in ("clusterid", "nclusterid") for axis in "xyz"):
    name = place.replace(".", "_")
    _sync(
        name,
        f"""
@int {name}() {{
  int x;
  asm("mov.u32 %0, %%{place};" : "=r"(x));
  return x;
}}""",
        feature="cluster",
    )
_sync(
    "fence_mbarrier_init",
    '@void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }',
    feature="cluster",
)
FENCES = {
    "fence_proxy_alias": "fence.proxy.alias",
    "fence_proxy_async": "fence.proxy.async",
    "fence_proxy_async_global": "fence.proxy.async.global",
    "fence_proxy_async_shared_cta": "fence.proxy.async.shared::cta",
    "fence_proxy_async_shared_cluster": "fence.proxy.async.shared::cluster",
}
for name, text in FENCES.items():
    _sync(name, f'@void {name}() {{ asm volatile("{text};" ::: "memory"); }}')
for name, way in (("registers_more", "inc"), ("registers_fewer", "dec")):
    _sync(
        name,
        f"""
template <int N> @void {name}() {{
  asm volatile("setmaxnreg.{way}.sync.aligned.u32 %0;" :: "n"(N));
}}""",
        feature="setmaxnreg",
    )
