"""Small programs that look dangerous and are right: nothing may be said of them, in any order of warps.

Written from the documents before the simulator's checks were read; `small_programs` has the notation.
"""

from tests.simulate.small_programs import Small

SHUFFLE = (
    '%{0}, %ok{0} = "gpu.shuffle"(%{1}, %k{2}, %w) <{{mode = #gpu<shuffle_mode {3}>}}> '
    ": (f32, i32, i32) -> (f32, i1)\n"
)

WARPS = [
    Small("neighbour in the warp after a warp barrier", "", """
shared s f32 64
s[t] = f
warp
i = t ^ 1
x = s[i]
out[t] = x
"""),
    Small("shift in place within a warp, two warp barriers", "", """
shared s f32 64
s[t] = f
warp
i = t ^ 3
x = s[i]
warp
s[t] = x
warp
y = s[i]
out[t] = y
"""),
    Small("tree within a warp", "", """
shared s f32 64
s[t] = f
barrier
p = t < 32
if p
  i = t + 32
  x = s[i]
  y = s[t]
  z = x + y
  s[t] = z
  warp
  q = t < 16
  if q
    i1 = t + 16
    x1 = s[i1]
    y1 = s[t]
    z1 = x1 + y1
    s[t] = z1
  end
  warp
  q2 = t < 8
  if q2
    i2 = t + 8
    x2 = s[i2]
    y2 = s[t]
    z2 = x2 + y2
    s[t] = z2
  end
end
"""),
    Small("half a warp meets in its own branch", "", """
shared s f32 64
p = lane < 16
if p
  s[t] = f
  warp 65535
  i = t ^ 1
  x = s[i]
  out[t] = x
end
"""),
    Small("sum by shuffles", "", "%w = arith.constant 32 : i32\n"
        + "".join(f"%k{n} = arith.constant {n} : i32\n" for n in (1, 2, 4, 8, 16))
        + SHUFFLE.format("y1", "f", 1, "xor") + "z1 = f + f\n"
        + SHUFFLE.format("y2", "y1", 16, "xor") + SHUFFLE.format("y3", "y2", 4, "down")
        + "%z = arith.addf %y2, %y3 : f32\nmemref.store %z, %out[%t] : memref<?xf32>\n"),
    Small("lane 0 tells its warp", "", """
shared s f32 2
p = lane == 0
if p
  s[warpid] = f
end
warp
x = s[warpid]
out[t] = x
"""),
    Small("warps that end early", "", """
p = t < 32
if p
  for k = 0 5 1
    x = a[t]
    out[t] = x
  end
end
"""),
    Small("each warp its own slice, no barrier at all", "", """
shared s f32 2x32
for k = 0 4 1
  s[warpid, lane] = f
  warp
  j = lane ^ 31
  x = s[warpid, j]
  out[t] = x
  warp
end
"""),
    Small("reads and writes of the same element by its thread", "", """
shared s f32 64
s[t] = f
x = s[t]
y = x + one
s[t] = y
z = s[t]
out[t] = z
"""),
]

BARRIERS = [
    Small("store, barrier, read by another warp", "", """
shared s f32 64
s[t] = f
barrier
x = s[o]
out[t] = x
"""),
    Small("double buffer with one barrier a round", "", """
shared s f32 2x64
s[0, t] = f
barrier
for k = 0 5 1
  r = k % 2
  k1 = k + 1
  w = k1 % 2
  x = s[r, o]
  s[w, t] = x
  barrier
end
"""),
    Small("single buffer with two barriers a round", "", """
shared s f32 64
for k = 0 5 1
  s[t] = f
  barrier
  x = s[o]
  out[t] = x
  barrier
end
"""),
    Small("reuse of memory after a barrier", "", """
shared s f32 64
shared u i32 64 at 0
s[t] = f
barrier
x = s[o]
barrier
u[t] = ti
barrier
y = u[o]
n[t] = y
out[t] = x
"""),
    Small("written by one, read by all", "", """
shared s f32 1
p = t == 7
if p
  s[0] = f
end
barrier
x = s[0]
out[t] = x
"""),
    Small("all write one value", "", """
shared s f32 1
s[0] = one
barrier
x = s[0]
out[t] = x
"""),
    Small("barrier under a condition of the CTA", "", """
shared s f32 64
p = b == 1
s[t] = f
if p
  barrier
  x = s[o]
  out[t] = x
end
""", grid=3),
    Small("as many barriers as the CTA's number", "", """
shared s f32 64
for k = 0 b 1
  s[t] = f
  barrier
  x = s[o]
  out[g] = x
  barrier
end
""", grid=4),
    Small("divergent branches without a barrier, elements apart", "", """
shared s f32 128
p = lane < 16
if p
  s[t] = f
else
  i = t + 64
  s[i] = f
end
barrier
"""),
    Small("a loop that is never entered", "", """
for k = 4 4 1
  barrier
  i = t - 70
  x = a[i]
end
"""),
    Small("tree reduction with barriers", "", """
shared s f32 64
s[t] = f
barrier
for k = 1 7 1
  e = t - t
  e1 = e + 64
  half = e1 >> k
  p = t < half
  if p
    i = t + half
    x = s[i]
    y = s[t]
    z = x + y
    s[t] = z
  end
  barrier
end
r = s[0]
out[t] = r
"""),
    Small("warps on pairs of named barriers", "", """
shared s f32 128
s[t] = f
p = t < 64
if p
  named 1 64
else
  named 2 64
end
i = t ^ 32
x = s[i]
out[t] = x
""", threads=128),
    Small("producer arrives, consumer waits", "", """
shared s f32 32
p = t < 32
if p
  s[t] = f
  arrived 1 64
else
  named 1 64
  i = lane ^ 31
  x = s[i]
  out[t] = x
end
"""),
    Small("a named barrier again and again", "", """
shared s f32 32
p = t < 32
if p
  for k = 0 4 1
    s[t] = f
    arrived 1 64
    named 2 64
  end
else
  for k = 0 4 1
    named 1 64
    i = lane ^ 31
    x = s[i]
    out[t] = x
    arrived 2 64
  end
end
"""),
    Small("some warps meet by name while others work", "", """
shared s f32 64
p = t < 64
if p
  s[t] = f
  named 3 64
  i = t ^ 32
  x = s[i]
  out[t] = x
else
  out[t] = f
end
barrier
""", threads=128),
    Small("named 0 with all threads is the barrier of the CTA", "", """
shared s f32 64
s[t] = f
named 0 64
x = s[o]
out[t] = x
"""),
]

PARTS = [
    Small("bytes of one word by two warps", "", """
shared s i8 64
y = byte ti
i = t % 32
j = i * 2
k = j + warpid
s[k] = y
"""),
    Small("halves of one word by two warps", "", """
shared s f16 64
h = half f
j = lane * 2
k = j + warpid
s[k] = h
barrier
x = s[k]
"""),
    Small("a byte read beside a byte written", "", """
shared s i8 64
y = byte ti
s[t] = y
barrier
i = lane * 2
j = i + 1
p = t < 32
if p
  s[i] = y
else
  z = s[j]
end
"""),
    Small("halves of one word by two CTAs", "", """
tensor h f16 256
x = half f
i = t * 2
j = i + b
h[j] = x
""", grid=2),
    Small("bytes of one word by four CTAs", "", """
tensor c i8 256
x = byte ti
i = t * 4
j = i + b
c[j] = x
""", grid=4),
    Small("vectors that touch and do not overlap", "", """
shared s f32 256
v = vec4 a[t4]
vec s[t4] = v
w = vec2 s[t4]
i = t4 + 2
u = vec2 s[i]
vec out[t4] = w
"""),
    Small("vectors that overlap and only read", "", """
v = vec4/4 a[t]
vec out[t4] = v
"""),
    Small("vectors of 4-byte pieces from any element", "", """
i = t + 1
v = vec2/4 a[i]
j = t * 2
vec out[j] = v
"""),
    Small("half vectors beside half scalars", "", """
shared s f16 256
h = half f
v = f16x2 1.0
p = t < 32
i = lane * 4
j = i + 2
k = i + 3
if p
  vec s[i] = v
else
  s[j] = h
  s[k] = h
end
"""),
]

ATOMICS = [
    Small("a counter for all CTAs", "", """
k = i32 1
y = add n[0] k
""", grid=5),
    Small("tickets: everyone has its own place", "", """
k = i32 1
n0 = n[255]
y = add n[0] k
i = index y
j = i % 128
out[j] = one
""", grid=2),
    Small("histogram in shared memory", "", """
shared s i32 16
p = t < 16
k = i32 0
if p
  s[t] = k
end
barrier
i = t % 16
y = add s[i] ti
barrier
if p
  x = s[t]
  n[t] = x
end
"""),
    Small("maximum by atomics, read after the barrier", "", """
shared s f32 1
s[0] = zero
barrier
y = max s[0] f
barrier
x = s[0]
out[t] = x
"""),
    Small("atomics of two kinds on one element", "", """
y = max n[3] ti
z = add n[3] ti
""", grid=2),
    Small("an atomic read of a counter", "", """
k = i32 0
m = i32 1
y = add n[0] m
z = add n[0] k
i = t + 64
""", grid=3),
]

ASYNC = [
    Small("copy, wait, barrier, read", "", """
shared s f32 64
copy s[t] a[t] 1
commit
wait 0
barrier
x = s[o]
out[t] = x
"""),
    Small("own copy after the wait needs no barrier", "", """
shared s f32 64
copy s[t] a[t] 1
commit
wait 0
x = s[t]
out[t] = x
"""),
    Small("ring of three with just enough waits", "", """
shared s f32 3x64
copy s[0, t] a[t] 1
commit
copy s[1, t] a[t] 1
commit
for k = 0 6 1
  wait 1
  barrier
  r = k % 3
  x = s[r, o]
  out[t] = x
  k2 = k + 2
  w = k2 % 3
  copy s[w, t] a[t] 1
  commit
end
"""),
    Small("ring of two, a barrier on each side", "", """
shared s f32 2x64
copy s[0, t] a[t] 1
commit
for k = 0 4 1
  r = k % 2
  k1 = k + 1
  w = k1 % 2
  copy s[w, t] a[t] 1
  commit
  wait 1
  barrier
  x = s[r, o]
  out[t] = x
  barrier
end
"""),
    Small("the older of two groups", "", """
shared s f32 64
shared u f32 64
copy s[t] a[t] 1
commit
copy u[t] a[t] 1
commit
wait 1
barrier
x = s[o]
out[t] = x
wait 0
"""),
    Small("guarded prefetch past the end", "", """
shared s f32 256
i = t4 + 32
p = i < 253
if p
  copy s[t4] a[i] 4
end
commit
wait 0
barrier
"""),
    Small("empty groups count", "", """
shared s f32 64
copy s[t] a[t] 1
commit
commit
wait 1
barrier
x = s[o]
out[t] = x
"""),
    Small("ldmatrix after the barrier", "", """
shared s f16 16x16
i = t / 4
j = t % 4
k = j * 4
v = f16x4 1.0
vec s[i, k] = v
barrier
r = lane % 16
m = ldmatrix2 s[r, 0]
"""),
    Small("ldmatrix of the warp's own rows after a warp barrier", "", """
shared s f16 32x16
v = f16x8 1.0
vec s[t, 0] = v
vec s[t, 8] = v
warp
i = lane % 16
j = warpid * 16
k = i + j
m = ldmatrix2 s[k, 8]
""", threads=32),
]

MEMORY = [
    Small("guarded by the number of elements", "", """
i = t + 200
p = i < 256
if p
  x = a[i]
  out[i] = x
end
"""),
    Small("a mask to the last element", "", """
%i = arith.addi %t4, %c2 : index
%r = arith.subi %c256, %i : index
%m = vector.create_mask %r : vector<4xi1>
%pad = arith.constant dense<9.0> : vector<4xf32>
%x = vector.maskedload %a[%i], %m, %pad : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
vector.maskedstore %out[%i], %m, %x : memref<?xf32>, vector<4xi1>, vector<4xf32>
"""),
    Small("a mask of nothing far outside", "", """
%i = arith.addi %t4, %c2000 : index
%r = arith.subi %c256, %i : index
%m = vector.create_mask %r : vector<4xi1>
%pad = arith.constant dense<9.0> : vector<4xf32>
%x = vector.maskedload %a[%i], %m, %pad : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
"""),
    Small("an unwritten prefetch that nobody uses", "", """
shared s f32 64
x = s[t]
out[t] = f
"""),
    Small("unwritten, then chosen away", "", """
shared s f32 64
x = s[t]
p = t < 64
%y = arith.select %p, %f, %x : f32
memref.store %y, %out[%t] : memref<?xf32>
"""),
    Small("a pad that is never read", "", """
shared s f32 8x9
i = t / 8
j = t % 8
s[i, j] = f
barrier
x = s[j, i]
out[t] = x
"""),
    Small("the last element of an array before another", "", """
shared s f32 64
shared u f32 64
s[t] = f
u[t] = f
barrier
i = t - t
j = i + 63
x = s[j]
y = u[i]
z = x + y
out[t] = z
"""),
    Small("view at a thread's base", "", """
shared s f32 64x4
byte0 = t * 16
shared r f32 4 at byte0
for k = 0 4 1
  r[k] = f
end
barrier
x = s[o, 3]
out[t] = x
"""),
    Small("downwards to element 0", "", """
for k = 0 64 1
  e = o - o
  i = e + 63
  j = i - k
  x = a[j]
  out[t] = x
end
"""),
    Small("a thread writes twice", "", """
out[t] = f
out[t] = one
"""),
]

VALUES = [
    Small("shift by the width less one", "", """
k = i32 31
x = ti << k
n[t] = x
"""),
    Small("the least integer by -1 wraps", "", """
k = i32 -1
l = i32 -2147483648
x = l / k
n[t] = x
"""),
    Small("division where nobody has zero", "", """
k = i32 -7
m = i32 1
d = ti + m
x = k / d
y = k % d
n[t] = y
"""),
    Small("division by zero in lanes that do not divide", "", """
k = i32 5
m = i32 0
p = ti != m
if p
  x = k / ti
  n[t] = x
end
"""),
    Small("the largest float below 2^31", "", """
k = f32 2147483520.0
%x = arith.fptosi %k : f32 to i32
memref.store %x, %n[%t] : memref<?xi32>
"""),
    Small("infinities and NaN are values", "", """
k = one / zero
m = k - k
out[t] = m
"""),
    Small("integers wrap", "", """
k = i32 2147483647
x = k + ti
y = k * ti
n[t] = x
"""),
]

DANGEROUS = [*WARPS, *BARRIERS, *PARTS, *ATOMICS, *ASYNC, *MEMORY, *VALUES]
