"""Helpers for vector accesses, masked ones, asynchronous copies and matrix loads."""

from __future__ import annotations

from phobos_nb.cuda.emit.prelude import helper

# C elements at a time: as many as the known alignment allows.
helper(
    "load",
    """
template <int N, int C, class T> @vec<T, N> load(const T* p) {
  vec<T, N> r;
  #pragma unroll
  for (int i = 0; i < N; i += C) {
    const vec<T, C> part = *reinterpret_cast<const vec<T, C>*>(p + i);
    #pragma unroll
    for (int j = 0; j < C; ++j) r.e[i + j] = part.e[j];
  }
  return r;
}""",
)
helper(
    "store",
    """
template <int N, int C, class T> @void store(T* p, const vec<T, N>& x) {
  #pragma unroll
  for (int i = 0; i < N; i += C) {
    vec<T, C> part;
    #pragma unroll
    for (int j = 0; j < C; ++j) part.e[j] = x.e[i + j];
    *reinterpret_cast<vec<T, C>*>(p + i) = part;
  }
}""",
)
helper(
    "load_prefix",
    """
template <int N, int C, class T, class I> @vec<T, N> load_prefix(const T* p, I count, vec<T, N> other) {
  if (count >= N) return load<N, C>(p);
  #pragma unroll
  for (int i = 0; i < N; ++i) if (i < count) other.e[i] = p[i];
  return other;
}""",
    "load",
)
helper(
    "store_prefix",
    """
template <int N, int C, class T, class I> @void store_prefix(T* p, I count, const vec<T, N>& x) {
  if (count >= N) {
    store<N, C>(p, x);
    return;
  }
  #pragma unroll
  for (int i = 0; i < N; ++i) if (i < count) p[i] = x.e[i];
}""",
    "store",
)
# As C++, NVVM moves the stores of the two ways through `if` into one and no longer stores vectors:
# 1.5 to 4 times the sectors. As asm each part stays one store.
helper(
    "store_vectors",
    """
template <int N, int C, class T> @void store_vectors(T* p, const vec<T, N>& x) {
  #pragma unroll
  for (int i = 0; i < N; i += C) {
    vec<T, C> part;
    #pragma unroll
    for (int j = 0; j < C; ++j) part.e[j] = x.e[i + j];
    const size_t to = __cvta_generic_to_global(p + i);
    if constexpr (sizeof part == 16) {
      const uint4 w = *reinterpret_cast<const uint4*>(&part);
      asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                   :: "l"(to), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w) : "memory");
    } else if constexpr (sizeof part == 8) {
      const uint2 w = *reinterpret_cast<const uint2*>(&part);
      asm volatile("st.global.v2.b32 [%0], {%1, %2};" :: "l"(to), "r"(w.x), "r"(w.y) : "memory");
    } else if constexpr (sizeof part == 4 && C > 1) {
      const unsigned w = *reinterpret_cast<const unsigned*>(&part);
      asm volatile("st.global.b32 [%0], %1;" :: "l"(to), "r"(w) : "memory");
    } else {
      *reinterpret_cast<vec<T, C>*>(p + i) = part;
    }
  }
}""",
)
helper(
    "store_prefix_global",
    """
template <int N, int C, class T, class I> @void store_prefix_global(T* p, I count, const vec<T, N>& x) {
  if (count >= N) {
    store_vectors<N, C>(p, x);
    return;
  }
  #pragma unroll
  for (int i = 0; i < N; ++i) if (i < count) p[i] = x.e[i];
}""",
    "store_vectors",
)
helper(
    "load_masked",
    """
template <int N, class T> @vec<T, N> load_masked(const T* p, const vec<bool, N>& mask, vec<T, N> other) {
  #pragma unroll
  for (int i = 0; i < N; ++i) if (mask.e[i]) other.e[i] = p[i];
  return other;
}""",
)
helper(
    "store_masked",
    """
template <int N, class T> @void store_masked(T* p, const vec<bool, N>& mask, const vec<T, N>& x) {
  #pragma unroll
  for (int i = 0; i < N; ++i) if (mask.e[i]) p[i] = x.e[i];
}""",
)
helper(
    "shared_address",
    "@unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }",
)

# Without cp.async (sm_75) the copy is done at once; the waits that follow have nothing to wait for.
NOW = "*reinterpret_cast<vec<int, B / 4>*>(d) = *reinterpret_cast<const vec<int, B / 4>*>(s);"

for way in ("ca", "cg"):
    parameters = "template <int B>"
    helper(
        f"copy_async_{way}",
        f"""
{parameters} @void copy_async_{way}(void* d, const void* s) {{
  asm volatile("cp.async.{way}.shared.global [%0], [%1], %2;"
               :: "r"(shared_address(d)), "l"(s), "n"(B) : "memory");
}}""",
        "shared_address",
        feature="cp.async",
        fallback=f"{parameters} @void copy_async_{way}(void* d, const void* s) {{ {NOW} }}",
    )
    helper(
        f"copy_async_{way}_if",
        f"""
{parameters} @void copy_async_{way}_if(void* d, const void* s, bool go) {{
  asm volatile("{{ .reg .pred p; setp.ne.b32 p, %3, 0; "
               "@p cp.async.{way}.shared.global [%0], [%1], %2; }}"
               :: "r"(shared_address(d)), "l"(s), "n"(B), "r"((int)go) : "memory");
}}""",
        "shared_address",
        feature="cp.async",
        fallback=f"""
{parameters} @void copy_async_{way}_if(void* d, const void* s, bool go) {{
  if (go) {NOW}
}}""",
    )
    helper(
        f"copy_async_{way}_part",
        f"""
{parameters} @void copy_async_{way}_part(void* d, const void* s, int bytes) {{
  asm volatile("cp.async.{way}.shared.global [%0], [%1], %2, %3;"
               :: "r"(shared_address(d)), "l"(s), "n"(B), "r"(bytes) : "memory");
}}""",
        "shared_address",
        feature="cp.async",
        fallback=f"""
{parameters} @void copy_async_{way}_part(void* d, const void* s, int bytes) {{
  #pragma unroll
  for (int i = 0; i < B; ++i)
    static_cast<char*>(d)[i] = i < bytes ? static_cast<const char*>(s)[i] : 0;
}}""",
    )
    helper(
        f"copy_async_{way}_part_if",
        f"""
{parameters} @void copy_async_{way}_part_if(void* d, const void* s, int bytes, bool go) {{
  asm volatile("{{ .reg .pred p; setp.ne.b32 p, %4, 0; "
               "@p cp.async.{way}.shared.global [%0], [%1], %2, %3; }}"
               :: "r"(shared_address(d)), "l"(s), "n"(B), "r"(bytes), "r"((int)go) : "memory");
}}""",
        "shared_address",
        feature="cp.async",
        fallback=f"""
{parameters} @void copy_async_{way}_part_if(void* d, const void* s, int bytes, bool go) {{
  if (go) copy_async_{way}_part<B>(d, s, bytes);
}}""",
    )

helper(
    "copies_commit",
    '@void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }',
    feature="cp.async",
    fallback="@void copies_commit() {}",
)
helper(
    "copies_wait",
    """
template <int N> @void copies_wait() {
  asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
}""",
    feature="cp.async",
    fallback="template <int N> @void copies_wait() {}",
)
helper(
    "splat",
    """
template <class V, class T> @V splat(T x) {
  V r;
  #pragma unroll
  for (int i = 0; i < (int)(sizeof(r.e) / sizeof(r.e[0])); ++i) r.e[i] = x;
  return r;
}""",
)
