"""Small programs with one planted fault each, by what a CUDA programmer gets wrong.

Written from the documents before the simulator's checks were read; `small_programs` has the notation.
"""

from tests.simulate.small_programs import Small

RAW, WAR, WAW = "read after write", "write after read", "write after write"

RACES = [
    Small("store, read by another warp", RAW, """
shared s f32 64
s[t] = f !
x = s[o] !
out[t] = x
"""),
    Small("read, overwritten by another warp", WAR, """
shared s f32 64
s[t] = f
barrier
x = s[o] !
s[t] = x !
barrier
"""),
    Small("two warps write one element", WAW, """
shared s f32 64
s[t] = f !
s[o] = f !
barrier
x = s[t]
out[t] = x
"""),
    Small("neighbour in the warp reads without a warp barrier", RAW, """
shared s f32 33
s[t] = f !
i = t ^ 1
x = s[i] !
out[t] = x
""", threads=32),
    Small("shift in place within a warp", WAR, """
shared s f32 64
s[t] = f
barrier
i = lane ^ 3
x = s[i] !
s[lane] = x !
barrier
y = s[lane]
out[t] = y
""", threads=32),
    Small("all lanes write different values to one element", WAW, """
shared s f32 64
zero_i = t % 1
s[zero_i] = f !
barrier
x = s[0]
out[t] = x
"""),
    Small("tree reduction without barriers inside", RAW, """
shared s f32 64
s[t] = f
barrier
p = t < 32
if p
  i = t + 32
  x = s[t]
  y = s[i]
  z = x + y
  s[t] = z !
end
q = t < 16
if q
  j = t + 16
  u = s[j] !
  s[t] = u
end
""", threads=64),
    Small("no barrier at the loop's end", WAR, """
shared s f32 64
for k = 0 4 1
  s[t] = f !
  barrier
  x = s[o] !
  out[t] = x
end
"""),
    Small("barrier stands before the store", RAW, """
shared s f32 64
barrier
s[t] = f !
x = s[o] !
out[t] = x
"""),
    Small("double buffer that reads the stage being written", RAW, """
shared s f32 2x64
s[0, t] = f
barrier
for k = 0 4 1
  k1 = k + 1
  w = k1 % 2
  s[w, t] = f !
  x = s[w, o] !
  out[t] = x
  barrier
end
"""),
    Small("single buffer taken for double", WAR, """
shared s f32 64
s[t] = f
barrier
for k = 0 4 1
  x = s[o] !
  s[t] = x !
  barrier
end
"""),
    Small("reduction's result overwritten by the next round", WAR, """
shared s f32 1
for k = 0 3 1
  p = t == 0
  if p
    kf = int k
    v = float kf
    s[0] = v !
  end
  barrier
  x = s[0] !
  out[t] = x
end
"""),
    Small("vector store, one element read by another warp", RAW, """
shared s f32 256
v = f32x4 1.0
vec s[t4] = v !
i = o * 4
j = i + 3
x = s[j] !
out[t] = x
"""),
    Small("vector stores overlap by half", WAW, """
shared s f32 512
v = vec4 a[t4]
vec s[t4] = v !
w = vec2 a[t4]
i = o * 4
j = i + 2
vec s[j] = w !
"""),
    Small("unaligned vector load takes in a neighbour's element", RAW, """
shared s f32 256
v = f32x4 1.0
vec s[t4] = v
barrier
vec s[t4] = v !
p = t < 63
if p
  i = t4 + 1
  w = vec4/4 s[i] !
end
"""),
    Small("two threads write one byte", WAW, """
shared s i8 64
y = byte ti
s[t] = y !
s[o] = y !
"""),
    Small("a pair of halves over a single half", WAW, """
shared s f16 128
h = half f
v = f16x2 7.0
i = t * 2
vec s[i] = v !
j = o * 2
k = j + 1
s[k] = h !
"""),
    Small("an f32 store over another thread's bytes", RAW, """
shared s f32 64
shared c i8 256 at 0
y = byte ti
s[t] = f !
j = o * 4
z = c[j] !
i = t + 64
out[i] = f
"""),
    Small("shared atomic, plain read at once", RAW, """
shared s f32 64
s[t] = zero
barrier
y = add s[0] one !
x = s[0] !
out[t] = x
"""),
    Small("shared atomic after a plain store", WAW, """
shared s f32 64
s[t] = f !
y = add s[o] one !
barrier
"""),
    Small("plain store over an atomic", WAW, """
shared s i32 64
s[t] = ti
barrier
y = max s[o] ti !
s[t] = ti !
"""),
    Small("exchanged by one thread, read by others", RAW, """
shared s i32 64
s[t] = ti
barrier
y = assign s[0] ti !
z = s[0] !
n[t] = z
"""),
    Small("a warp barrier is taken for a barrier of the CTA", RAW, """
shared s f32 64
s[t] = f !
warp
x = s[o] !
out[t] = x
"""),
    Small("half a warp meets, the other half is read", RAW, """
shared s f32 64
s[t] = f !
p = t < 16
if p
  warp 65535
  i = t ^ 16
  x = s[i] !
  out[t] = x
end
""", threads=32),
]

GLOBAL_RACES = [
    Small("two CTAs write one element", WAW, """
out[t] = fb !
""", grid=2),
    Small("a halo that another CTA writes", "read after write|write after read", """
i = g ^ 64
x = out[i] !
out[g] = x !
""", grid=2),
    Small("an atomic counter read plainly", "read after write|write after read", """
y = add out[0] one !
x = out[0] !
z = x + y
""", grid=2),
    Small("an atomic counter cleared by a store", "write after write", """
p = t == 0
if p
  out[0] = zero !
  y = add out[0] one !
end
""", grid=2),
    Small("a tensor used within a CTA without a barrier", RAW, """
out[t] = f !
x = out[o] !
y = x + x
n[t] = ti
"""),
    Small("a flag by atomic, the data by plain stores", "read after write|write after read", """
q = i32 1
p = b == 0
if p
  out[t] = f !
  barrier
  y = add n[0] q
else
  z = add n[0] q
  x = out[t] !
  i = t + 128
  out[i] = x
end
""", grid=2),
    Small("one array passed twice", "read after write|write after read", """
x = a[o] !
out[t] = x !
""", alias=("a", "out")),
    Small("neighbouring CTAs' vectors overlap by one element", WAW, """
i = b * 3
p = t == 0
if p
  v = f32x4 1.0
  c = f32x4 2.0
  q = b == 0
  if q
    vec/4 out[i] = v !
  else
    vec/4 out[i] = c !
  end
end
""", grid=2),
    Small("a warp of the CTA overwrites what another reads", WAR, """
x = out[o] !
out[t] = x !
"""),
    Small("cp.async reads a tensor that another warp just wrote", RAW, """
shared s f32 64
out[t] = f !
copy s[t] out[o] 1 !
commit
wait 0
"""),
]

MEETING = [
    Small("barrier for some lanes", "barrier_divergence", """
p = t < 40
if p
  barrier !
end
"""),
    Small("barrier for one warp", "barrier_divergence", """
p = t < 32
if p
  barrier !
end
"""),
    Small("barrier in a loop of as many rounds as the warp's number", "barrier_divergence", """
for k = 0 warpid 1
  barrier !
end
"""),
    Small("barrier in a loop of as many rounds as the lane's number", "barrier_divergence", """
for k = 0 lane 1
  barrier !
end
"""),
    Small("threads that are done early", "barrier_divergence", """
p = t < 50
if p
  out[t] = f
  barrier !
  out[t] = zero
end
"""),
    Small("each branch has its own barrier", "barrier_divergence", """
p = lane < 16
if p
  barrier !
else
  barrier !
end
"""),
    Small("a named barrier's count is no multiple of the warp", "named_barrier", """
named 1 40 !
"""),
    Small("two counts for one named barrier", "named_barrier", """
p = t < 32
if p
  named 1 64 !
else
  named 1 96 !
end
"""),
    Small("a named barrier waits for a warp that never comes", "deadlock", """
p = t < 32
if p
  named 1 64 !
end
"""),
    Small("a named barrier waits for more threads than there are", "deadlock", """
named 1 128 !
"""),
    Small("there is no barrier 16", "named_barrier", """
named 16 64 !
"""),
    Small("barrier 0 by name meets the barrier of the CTA", "named_barrier|barrier_divergence|deadlock", """
p = t < 32
if p
  named 0 32
end
q = t >= 64
if q
  named 0 64 !
else
  barrier !
end
""", threads=128),
    Small("the pairs meet, the data crosses", RAW, """
shared s f32 128
s[t] = f !
p = t < 64
if p
  named 1 64
else
  named 2 64
end
i = t ^ 64
x = s[i] !
out[t] = x
""", threads=128),
    Small("overwritten before the reader has arrived", "read after write|write after read", """
shared s f32 64
s[t] = f
barrier
p = t < 32
if p
  s[t] = zero !
  named 1 64
else
  i = t ^ 32
  x = s[i] !
  arrived 1 64
  out[t] = x
end
"""),
    Small("who only arrives does not wait", "write after read|read after write", """
shared s f32 64
p = t < 32
if p
  arrived 1 64
  i = t ^ 32
  x = s[i] !
  out[t] = x
else
  s[t] = f !
  named 1 64
end
"""),
    Small("two named barriers in opposite order", "deadlock", """
p = t < 32
if p
  named 1 64 !
  named 2 64
else
  named 2 64 !
  named 1 64
end
"""),
    Small("warp barrier without the executing lane", "barrier_divergence", """
warp 15 !
"""),
    Small("warp barrier for lanes that went another way", "barrier_divergence|deadlock", """
p = lane < 16
if p
  warp !
end
"""),
    Small("memory barrier that nobody completes", "deadlock", """
%bar = "nvgpu.mbarrier.create"() : () -> G<1>
p = t == 0
if p
  "nvgpu.mbarrier.init"(%bar, %c65, %c0) : (G<1>, index, index) -> ()
end
barrier
%tok = "nvgpu.mbarrier.arrive"(%bar, %c0) : (G<1>, index) -> !nvgpu.mbarrier.token
%no = arith.constant 0 : i1
"nvgpu.mbarrier.try_wait.parity"(%bar, %no, %c1, %c0) : (G<1>, i1, index, index) -> () !
"""),
]

ASYNC = [
    Small("no wait", "copy in flight", """
shared s f32 64
copy s[t] a[t] 1 !
commit
x = s[t] !
out[t] = x
"""),
    Small("wait leaves one group too many", "copy in flight", """
shared s f32 64
copy s[t] a[t] 1 !
commit
wait 1
barrier
x = s[o] !
out[t] = x
"""),
    Small("wait without a commit", "copy in flight", """
shared s f32 64
copy s[t] a[t] 1 !
wait 0
barrier
x = s[o] !
out[t] = x
"""),
    Small("wait without a barrier for others", RAW, """
shared s f32 64
copy s[t] a[t] 1 !
commit
wait 0
x = s[o] !
out[t] = x
"""),
    Small("one warp waits for all", "copy in flight", """
shared s f32 64
copy s[t] a[t] 1 !
commit
p = t < 32
if p
  wait 0
end
barrier
x = s[o] !
out[t] = x
"""),
    Small("barrier before the wait", "copy in flight|read after write", """
shared s f32 64
copy s[t] a[t] 1 !
commit
barrier
wait 0
x = s[o] !
out[t] = x
"""),
    Small("the next copy overwrites what is still read", "write after read", """
shared s f32 64
copy s[t] a[t] 1
commit
wait 0
barrier
x = s[o] !
copy s[t] a[t] 1 !
commit
wait 0
out[t] = x
"""),
    Small("stored over a copy in flight", "copy in flight", """
shared s f32 64
copy s[t] a[t] 1 !
commit
s[t] = zero !
wait 0
"""),
    Small("two threads copy to one place", "copy in flight|write after write", """
shared s f32 64
copy s[t] a[t] 1 !
copy s[o] a[t] 1 !
commit
wait 0
"""),
    Small("ring of two read one round early", "copy in flight", """
shared s f32 2x64
copy s[0, t] a[t] 1 !
commit
for k = 0 3 1
  r = k % 2
  k1 = k + 1
  w = k1 % 2
  copy s[w, t] a[t] 1 !
  commit
  wait 2
  barrier
  x = s[r, o] !
  out[t] = x
  barrier
end
"""),
    Small("ring of two reads the stage that arrives", "copy in flight", """
shared s f32 2x64
copy s[0, t] a[t] 1
commit
for k = 0 3 1
  k1 = k + 1
  w = k1 % 2
  copy s[w, t] a[t] 1 !
  commit
  wait 1
  barrier
  x = s[w, o] !
  out[t] = x
  barrier
end
"""),
    Small("ring without the barrier that frees a stage", WAR, """
shared s f32 2x64
copy s[0, t] a[t] 1
commit
for k = 0 3 1
  r = k % 2
  k1 = k + 1
  w = k1 % 2
  copy s[w, t] a[t] 1 !
  commit
  wait 1
  barrier
  x = s[r, o] !
  out[t] = x
end
"""),
    Small("atomic on a copy in flight", "copy in flight", """
shared s f32 64
copy s[t] a[t] 1 !
commit
y = add s[t] one !
wait 0
"""),
    Small("16 bytes in flight, one element read", "copy in flight", """
shared s f32 256
copy s[t4] a[t4] 4 !
commit
i = t4 + 2
x = s[i] !
wait 0
out[t] = x
"""),
    Small("ldmatrix without a barrier after the store", RAW, """
shared s f16 16x16
i = t / 4
j = t % 4
k = j * 4
v = f16x4 1.0
vec s[i, k] = v !
r = lane % 16
m = ldmatrix2 s[r, 0] !
"""),
    Small("ldmatrix of a copy in flight", "copy in flight", """
tensor h f16 256
shared s f16 16x16
i = t / 2
j = t % 2
k = j * 8
e = t * 8
copy s[i, k] h[e] 8 !
commit
r = lane % 16
m = ldmatrix2 s[r, 0] !
wait 0
""", threads=32),
    Small("stored over what ldmatrix of the other warp reads", WAR, """
shared s f16 16x16
i = t / 4
j = t % 4
k = j * 4
v = f16x4 1.0
vec s[i, k] = v
barrier
r = lane % 16
m = ldmatrix2 s[r, 0] !
vec s[i, k] = v !
"""),
]

MEMORY = [
    Small("shared memory that nobody wrote", "uninitialised", """
shared s f32 64
x = s[t] !
out[t] = x
"""),
    Small("half of a vector was written", "uninitialised", """
shared s f32 128
i = t * 2
s[i] = f
v = vec2 s[i] !
vec out[i] = v
"""),
    Small("a counter that nobody cleared", "uninitialised", """
shared s i32 1
k = i32 1
y = add s[0] k !
barrier
x = s[0]
n[t] = x
"""),
    Small("a branch on unwritten memory", "uninitialised", """
shared s i32 64
x = s[t] !
k = i32 5
p = x == k
if p
  n[t] = k
else
  n[t] = ti
end
"""),
    Small("an index from unwritten memory", "uninitialised|out_of_bounds", """
shared s i32 64
x = s[t] !
i = index x
k = i & 63
y = a[k]
out[t] = y
"""),
    Small("the stage that no copy filled", "uninitialised", """
shared s f32 3x64
copy s[0, t] a[t] 1
commit
copy s[1, t] a[t] 1
commit
wait 0
barrier
for k = 0 3 1
  x = s[k, o] !
  i = k * 64
  j = i + t
  out[j] = x
end
"""),
    Small("one element past the tensor", "out_of_bounds", """
i = t + 193
x = a[i] !
out[t] = x
"""),
    Small("before the tensor", "out_of_bounds", """
i = t - 1
x = a[i] !
out[t] = x
"""),
    Small("a store past the tensor", "out_of_bounds", """
i = t + 200
out[i] = f !
"""),
    Small("an atomic past the tensor", "out_of_bounds", """
i = t + 200
y = add out[i] f !
"""),
    Small("a vector that ends outside", "out_of_bounds", """
i = t4 + 4
v = vec4 a[i] !
vec out[t4] = v
"""),
    Small("a mask that lets one element too many through", "out_of_bounds", """
%i = arith.addi %t4, %c2 : index
%r = arith.subi %c257, %i : index
%m = vector.create_mask %r : vector<4xi1>
%pad = arith.constant dense<9.0> : vector<4xf32>
%x = vector.maskedload %a[%i], %m, %pad : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32> !
"""),
    Small("a masked store that lets one element too many through", "out_of_bounds", """
%i = arith.addi %t4, %c2 : index
%r = arith.subi %c257, %i : index
%m = vector.create_mask %r : vector<4xi1>
%pad = arith.constant dense<9.0> : vector<4xf32>
vector.maskedstore %out[%i], %m, %pad : memref<?xf32>, vector<4xi1>, vector<4xf32> !
"""),
    Small("a copy from outside", "out_of_bounds", """
shared s f32 256
i = t4 + 4
copy s[t4] a[i] 4 !
commit
wait 0
"""),
    Small("scalar into the next array", "out_of_bounds", """
shared s f32 64
shared u f32 64
u[t] = zero
barrier
s[next] = f !
"""),
    Small("scalar from the next row", "out_of_bounds", """
shared s f32 4x16
i = t / 16
j = t % 16
s[i, j] = f
barrier
k = j + 1
x = s[i, k] !
out[t] = x
"""),
    Small("vector from the next array", "out_of_bounds", """
shared s f32 256
shared u f32 64
v = f32x4 1.0
vec s[t4] = v
u[t] = zero
barrier
i = t4 + 4
w = vec4 s[i] !
vec out[t4] = w
"""),
    Small("vector store into the next array", "out_of_bounds", """
shared s f32 256
shared u f32 64
v = f32x4 1.0
i = t4 + 4
vec s[i] = v !
"""),
    Small("vector over the end of a row", "out_of_bounds", """
shared s f32 64x6
v = f32x4 1.0
vec/8 s[t, 4] = v !
"""),
    Small("atomic in the next array", "out_of_bounds", """
shared s f32 64
shared u f32 64
s[t] = f
u[t] = f
barrier
y = add s[next] one !
"""),
    Small("copy into the next array", "out_of_bounds", """
shared s f32 256
shared u f32 64
i = t4 + 4
copy s[i] a[t4] 4 !
commit
wait 0
"""),
    Small("ldmatrix beyond its array", "out_of_bounds", """
shared s f16 16x16
shared u f16 16x16
i = t / 2
j = t % 2
k = j * 8
v = f16x8 1.0
vec s[i, k] = v
vec u[i, k] = v
barrier
r = lane % 16
q = r + 8
m = ldmatrix2 s[q, 0] !
""", threads=32),
    Small("before the second array", "out_of_bounds", """
shared s f32 64
shared u f32 64
s[t] = f
barrier
i = t - 1
x = u[i] !
u[t] = x
"""),
    Small("misaligned vector in shared memory", "misaligned", """
shared s f32 256
i = t * 3
v = f32x4 1.0
vec s[i] = v !
"""),
    Small("misaligned vector in global memory", "misaligned", """
i = t + 1
v = vec2 a[i] !
"""),
    Small("misaligned copy", "misaligned", """
shared s f32 256
i = t * 3
copy s[i] a[t4] 4 !
commit
wait 0
"""),
    Small("misaligned row of ldmatrix", "misaligned", """
shared s f16 16x20
i = t / 2
j = t % 2
k = j * 8
v = f16x8 1.0
vec/8 s[i, k] = v
barrier
r = lane % 16
m = ldmatrix2 s[r, 0] !
""", threads=32),
    Small("misaligned array", "misaligned", """
v = vec4 a[t4] !
vec out[t4] = v
""", shifted=("a",)),
]

VALUES = [
    Small("shift by the width", "shift", """
k = i32 32
x = ti << k !
n[t] = x
"""),
    Small("shift by a negative number", "shift", """
k = i32 -1
x = ti >> k !
n[t] = x
"""),
    Small("division by zero in one lane", "division_by_zero", """
k = i32 5
d = ti - k
x = k / d !
n[t] = x
"""),
    Small("remainder by zero", "division_by_zero", """
k = i32 5
x = k % ti !
n[t] = x
"""),
    Small("index divided by zero", "division_by_zero", """
x = t / t !
i = int x
n[t] = i
"""),
    Small("float too large for an integer", "conversion", """
k = f32 3.0e9
%x = arith.fptosi %k : f32 to i32 !
memref.store %x, %n[%t] : memref<?xi32>
"""),
    Small("NaN to an integer", "conversion", """
k = zero / zero
%x = arith.fptosi %k : f32 to i32 !
%y = arith.addi %x, %ti : i32
memref.store %y, %n[%t] : memref<?xi32>
"""),
    Small("shuffle from a lane that went another way", "shuffle", """
p = lane < 16
if p
  %w = arith.constant 32 : i32
  %k = arith.constant 16 : i32
  %y, %ok = "gpu.shuffle"(%f, %k, %w) <{mode = #gpu<shuffle_mode xor>}> : (f32, i32, i32) -> (f32, i1) !
  %z = arith.addf %y, %y : f32
end
"""),
]

FAULTY = [*RACES, *GLOBAL_RACES, *MEETING, *ASYNC, *MEMORY, *VALUES]
