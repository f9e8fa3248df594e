"""Helpers for bulk copies: PTX ISA, `cp.async.bulk` and `cp.async.bulk.tensor`."""

from __future__ import annotations

from phobos_nb.cuda.emit.prelude import helper

MOST_AXES = 5


def _bulk(key: str, text: str, *needs: str, feature: str = "tma") -> None:
    helper(key, text, *needs, feature=feature)


def _axes(start: int, axes: int) -> str:
    return ", ".join(f"%{start + k}" for k in range(axes))


for axes in range(1, MOST_AXES + 1):
    names = ", ".join(f"int x{k}" for k in range(axes))
    given = ", ".join(f'"r"(x{k})' for k in range(axes))
    load = f"cp.async.bulk.tensor.{axes}d.shared::cluster.global.mbarrier::complete_tx::bytes"
    _bulk(
        f"tensor_load_{axes}d",
        f"""
@void tensor_load_{axes}d(void* d, const void* map, void* b, {names}) {{
  asm volatile("{load} [%0], [%1, {{{_axes(3, axes)}}}], [%2];"
               :: "r"(shared_address(d)), "l"(map), "r"(shared_address(b)), {given} : "memory");
}}""",
        "shared_address",
    )
    _bulk(
        f"tensor_load_{axes}d_multicast",
        f"""
@void tensor_load_{axes}d_multicast(void* d, const void* map, void* b, short ctas, {names}) {{
  asm volatile("{load}.multicast::cluster [%0], [%1, {{{_axes(4, axes)}}}], [%2], %3;"
               :: "r"(shared_address(d)), "l"(map), "r"(shared_address(b)), "h"(ctas), {given} :
               "memory");
}}""",
        "shared_address",
        feature="cluster",
    )
    _bulk(
        f"tensor_store_{axes}d",
        f"""
@void tensor_store_{axes}d(const void* s, const void* map, {names}) {{
  asm volatile("cp.async.bulk.tensor.{axes}d.global.shared::cta.bulk_group "
               "[%1, {{{_axes(2, axes)}}}], [%0];"
               :: "r"(shared_address(s)), "l"(map), {given} : "memory");
}}""",
        "shared_address",
    )
    _bulk(
        f"tensor_prefetch_{axes}d",
        f"""
@void tensor_prefetch_{axes}d(const void* map, {names}) {{
  asm volatile("cp.async.bulk.prefetch.tensor.{axes}d.L2.global.tile [%0, {{{_axes(1, axes)}}}];"
               :: "l"(map), {given} : "memory");
}}""",
    )
_bulk(
    "tensor_map_prefetch",
    """
@void tensor_map_prefetch(const void* map) {
  asm volatile("prefetch.tensormap [%0];" :: "l"(map));
}""",
)
_bulk(
    "bulk_load",
    """
@void bulk_load(void* d, const void* s, int bytes, void* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(shared_address(d)), "l"(s), "r"(bytes), "r"(shared_address(b)) : "memory");
}""",
    "shared_address",
)
_bulk(
    "bulk_load_multicast",
    """
@void bulk_load_multicast(void* d, const void* s, int bytes, void* b, short ctas) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%0], [%1], %2, [%3], %4;" :: "r"(shared_address(d)), "l"(s), "r"(bytes),
               "r"(shared_address(b)), "h"(ctas) : "memory");
}""",
    "shared_address",
    feature="cluster",
)
_bulk(
    "bulk_store",
    """
@void bulk_store(void* d, const void* s, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :: "l"(d), "r"(shared_address(s)), "r"(bytes) : "memory");
}""",
    "shared_address",
)
_bulk(
    "bulk_send",
    """
@void bulk_send(void* d, const void* s, int bytes, void* b, int rank) {
  asm volatile("{ .reg .b64 to; .reg .b32 there, counter; cvta.to.shared::cluster.u64 to, %0; "
               "cvt.u32.u64 there, to; mapa.shared::cluster.u32 counter, %3, %4; "
               "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
               "[there], [%1], %2, [counter]; }"
               :: "l"(d), "r"(shared_address(s)), "r"(bytes), "r"(shared_address(b)), "r"(rank)
               : "memory");
}""",
    "shared_address",
    feature="cluster",
)
_bulk(
    "bulk_prefetch",
    """
@void bulk_prefetch(const void* s, int bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" :: "l"(s), "r"(bytes) : "memory");
}""",
)
_bulk(
    "bulk_commit",
    '@void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }',
)
for name, way in (("bulk_wait", ""), ("bulk_wait_read", ".read")):
    _bulk(
        name,
        f"""
template <int N> @void {name}() {{
  asm volatile("cp.async.bulk.wait_group{way} %0;" :: "n"(N) : "memory");
}}""",
    )
_bulk(
    "peer",
    """
template <class T> @T* peer(T* p, int rank) {
  T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(rank));
  return there;
}""",
    feature="cluster",
)
