"builtin.module"() ({
  "gpu.module"() <{sym_name = "k"}> ({
    "memref.global"() <{sym_name = "smem", type = memref<37248xi8, #gpu.address_space<workgroup>>, initial_value, sym_visibility = "private", alignment = 128 : i64}> : () -> ()
    "gpu.func"() <{function_type = (memref<?xf32>, memref<?xf32>, memref<?xf32>, index, index, index, f32, f32) -> ()}> ({
    ^bb0(%A: memref<?xf32>, %B: memref<?xf32>, %C: memref<?xf32>, %M: index, %N: index, %K: index, %alpha: f32, %beta: f32):
      %0 = "arith.constant"() <{value = 51 : index}> : () -> index
      %1 = "arith.constant"() <{value = 50 : index}> : () -> index
      %2 = "arith.constant"() <{value = 49 : index}> : () -> index
      %3 = "arith.constant"() <{value = 35 : index}> : () -> index
      %4 = "arith.constant"() <{value = 34 : index}> : () -> index
      %5 = "arith.constant"() <{value = 33 : index}> : () -> index
      %6 = "arith.constant"() <{value = 19 : index}> : () -> index
      %7 = "arith.constant"() <{value = 18 : index}> : () -> index
      %8 = "arith.constant"() <{value = 17 : index}> : () -> index
      %9 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      %10 = "arith.constant"() <{value = 7 : index}> : () -> index
      %11 = "arith.constant"() <{value = 6 : index}> : () -> index
      %12 = "arith.constant"() <{value = 5 : index}> : () -> index
      %13 = "arith.constant"() <{value = 3 : index}> : () -> index
      %14 = "arith.constant"() <{value = 2 : index}> : () -> index
      %15 = "arith.constant"() <{value = 48 : index}> : () -> index
      %16 = "arith.constant"() <{value = 16 : index}> : () -> index
      %17 = "arith.constant"() <{value = 1 : index}> : () -> index
      %18 = "arith.constant"() <{value = 1048576 : index}> : () -> index
      %19 = "arith.constant"() <{value = 96 : index}> : () -> index
      %20 = "arith.constant"() <{value = 1073741824 : index}> : () -> index
      %21 = "arith.constant"() <{value = 132 : index}> : () -> index
      %22 = "arith.constant"() <{value = 3168 : index}> : () -> index
      %23 = "arith.constant"() <{value = 12672 : index}> : () -> index
      %24 = "arith.constant"() <{value = 0 : index}> : () -> index
      %25 = "arith.constant"() <{value = 64 : index}> : () -> index
      %26 = "arith.constant"() <{value = 4 : index}> : () -> index
      %27 = "arith.constant"() <{value = 8 : index}> : () -> index
      %28 = "arith.constant"() <{value = 256 : index}> : () -> index
      %29 = "arith.constant"() <{value = 128 : index}> : () -> index
      %30 = "arith.constant"() <{value = 32 : index}> : () -> index
      %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
      %pid = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
      %lane = "arith.remui"(%tid, %30) : (index, index) -> index
      %warp = "arith.divui"(%tid, %30) : (index, index) -> index
      %nm = "arith.divui"(%M, %29) : (index, index) -> index
      %nn = "arith.divui"(%N, %28) : (index, index) -> index
      %width = "arith.muli"(%nn, %27) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %gid = "arith.divui"(%pid, %width) : (index, index) -> index
      %first = "arith.muli"(%gid, %27) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %31 = "arith.subi"(%nm, %first) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %gs = "arith.minui"(%31, %27) : (index, index) -> index
      %32 = "arith.remui"(%pid, %width) : (index, index) -> index
      %33 = "arith.remui"(%32, %gs) : (index, index) -> index
      %pm = "arith.addi"(%first, %33) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %pn = "arith.divui"(%32, %gs) : (index, index) -> index
      %m0 = "arith.muli"(%pm, %29) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %n0 = "arith.muli"(%pn, %28) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %lm = "arith.divui"(%lane, %27) : (index, index) -> index
      %ln = "arith.remui"(%lane, %27) : (index, index) -> index
      %34 = "arith.divui"(%warp, %26) : (index, index) -> index
      %wm = "arith.muli"(%34, %25) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %35 = "arith.remui"(%warp, %26) : (index, index) -> index
      %wn = "arith.muli"(%35, %25) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %36 = "arith.muli"(%lm, %26) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %fm = "arith.addi"(%wm, %36) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %37 = "arith.muli"(%ln, %26) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %fn = "arith.addi"(%wn, %37) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %KT = "arith.divui"(%K, %27) : (index, index) -> index
      %ak = "arith.remui"(%tid, %27) : (index, index) -> index
      %ar = "arith.divui"(%tid, %27) : (index, index) -> index
      %br = "arith.divui"(%tid, %25) : (index, index) -> index
      %38 = "arith.remui"(%tid, %25) : (index, index) -> index
      %bq = "arith.muli"(%38, %26) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %smem = "memref.get_global"() <{name = @smem}> : () -> memref<37248xi8, #gpu.address_space<workgroup>>
      %As = "memref.view"(%smem, %24) : (memref<37248xi8, #gpu.address_space<workgroup>>, index) -> memref<3x8x132xf32, #gpu.address_space<workgroup>>
      %Bs = "memref.view"(%smem, %23) : (memref<37248xi8, #gpu.address_space<workgroup>>, index) -> memref<3x8x256xf32, #gpu.address_space<workgroup>>
      %39 = "arith.muli"(%fm, %26) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %af = "memref.view"(%smem, %39) : (memref<37248xi8, #gpu.address_space<workgroup>>, index) -> memref<3x8x132xf32, #gpu.address_space<workgroup>>
      %40 = "arith.addi"(%fn, %22) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %41 = "arith.muli"(%40, %26) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %bf = "memref.view"(%smem, %41) : (memref<37248xi8, #gpu.address_space<workgroup>>, index) -> memref<3x8x256xf32, #gpu.address_space<workgroup>>
      %42 = "arith.muli"(%ak, %21) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %43 = "arith.addi"(%42, %ar) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %44 = "arith.muli"(%43, %26) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %as_ = "memref.view"(%smem, %44) : (memref<37248xi8, #gpu.address_space<workgroup>>, index) -> memref<3x8x132xf32, #gpu.address_space<workgroup>>
      %45 = "arith.muli"(%br, %28) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %46 = "arith.addi"(%45, %bq) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %47 = "arith.addi"(%46, %22) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %48 = "arith.muli"(%47, %26) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %bs_ = "memref.view"(%smem, %48) : (memref<37248xi8, #gpu.address_space<workgroup>>, index) -> memref<3x8x256xf32, #gpu.address_space<workgroup>>
      %49 = "arith.addi"(%m0, %ar) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %50 = "arith.muli"(%49, %K) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %51 = "arith.addi"(%50, %ak) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %a0 = "memref.reinterpret_cast"(%A, %51, %20) <{static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xf32>, index, index) -> memref<?xf32, strided<[1], offset: ?>>
      %52 = "arith.muli"(%br, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %53 = "arith.addi"(%52, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %54 = "arith.addi"(%53, %bq) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %b0 = "memref.reinterpret_cast"(%B, %54, %20) <{static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xf32>, index, index) -> memref<?xf32, strided<[1], offset: ?>>
      %55 = "arith.muli"(%K, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %56 = "arith.muli"(%K, %25) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %57 = "arith.muli"(%K, %19) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %58 = "arith.muli"(%N, %26) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %bstep = "arith.muli"(%N, %27) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %59 = "arith.cmpi"(%24, %KT) <{predicate = 6 : i64}> : (index, index) -> i1
      "scf.if"(%59) ({
        %60 = "nvgpu.device_async_copy"(%as_, %24, %24, %24, %a0, %24) <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
        %61 = "nvgpu.device_async_copy"(%as_, %24, %24, %30, %a0, %55) <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
        %62 = "nvgpu.device_async_copy"(%as_, %24, %24, %25, %a0, %56) <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
        %63 = "nvgpu.device_async_copy"(%as_, %24, %24, %19, %a0, %57) <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
        %64 = "nvgpu.device_async_copy"(%bs_, %24, %24, %24, %b0, %24) <{dstElements = 4 : index, bypassL1, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
        %65 = "nvgpu.device_async_copy"(%bs_, %24, %26, %24, %b0, %58) <{dstElements = 4 : index, bypassL1, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
        "scf.yield"() : () -> ()
      }, {
      }) : (i1) -> ()
      %66 = "nvgpu.device_async_create_group"() : () -> !nvgpu.device.async.token
      %ag = "memref.subview"(%a0, %27, %18) <{static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xf32, strided<[1], offset: ?>>, index, index) -> memref<?xf32, strided<[1], offset: ?>>
      %bg = "memref.subview"(%b0, %bstep, %18) <{static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xf32, strided<[1], offset: ?>>, index, index) -> memref<?xf32, strided<[1], offset: ?>>
      %67 = "arith.cmpi"(%17, %KT) <{predicate = 6 : i64}> : (index, index) -> i1
      "scf.if"(%67) ({
        %68 = "nvgpu.device_async_copy"(%as_, %17, %24, %24, %ag, %24) <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
        %69 = "nvgpu.device_async_copy"(%as_, %17, %24, %30, %ag, %55) <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
        %70 = "nvgpu.device_async_copy"(%as_, %17, %24, %25, %ag, %56) <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
        %71 = "nvgpu.device_async_copy"(%as_, %17, %24, %19, %ag, %57) <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
        %72 = "nvgpu.device_async_copy"(%bs_, %17, %24, %24, %bg, %24) <{dstElements = 4 : index, bypassL1, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
        %73 = "nvgpu.device_async_copy"(%bs_, %17, %26, %24, %bg, %58) <{dstElements = 4 : index, bypassL1, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
        "scf.yield"() : () -> ()
      }, {
      }) : (i1) -> ()
      %74 = "nvgpu.device_async_create_group"() : () -> !nvgpu.device.async.token
      %ag_1 = "memref.subview"(%ag, %27, %18) <{static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xf32, strided<[1], offset: ?>>, index, index) -> memref<?xf32, strided<[1], offset: ?>>
      %bg_1 = "memref.subview"(%bg, %bstep, %18) <{static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xf32, strided<[1], offset: ?>>, index, index) -> memref<?xf32, strided<[1], offset: ?>>
      "nvgpu.device_async_wait"(%74) <{numGroups = 1 : i32}> : (!nvgpu.device.async.token) -> ()
      "gpu.barrier"() : () -> ()
      %acc = "arith.constant"() <{value = dense<0.000000e+00> : vector<16x8xf32>}> : () -> vector<16x8xf32>
      %z = "arith.constant"() <{value = dense<0.000000e+00> : vector<16xf32>}> : () -> vector<16xf32>
      %z_1 = "arith.constant"() <{value = dense<0.000000e+00> : vector<8xf32>}> : () -> vector<8xf32>
      %a4 = "vector.load"(%af, %24, %24, %24) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
      %a4_1 = "vector.load"(%af, %24, %24, %16) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
      %a4_2 = "vector.load"(%af, %24, %24, %30) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
      %a4_3 = "vector.load"(%af, %24, %24, %15) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
      %b4 = "vector.load"(%bf, %24, %24, %24) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
      %b4_1 = "vector.load"(%bf, %24, %24, %30) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
      %fa = "vector.insert_strided_slice"(%a4, %z) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
      %fa_1 = "vector.insert_strided_slice"(%a4_1, %fa) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
      %fa_2 = "vector.insert_strided_slice"(%a4_2, %fa_1) <{offsets = [8 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
      %fa_3 = "vector.insert_strided_slice"(%a4_3, %fa_2) <{offsets = [12 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
      %fb = "vector.insert_strided_slice"(%b4, %z_1) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
      %fb_1 = "vector.insert_strided_slice"(%b4_1, %fb) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
      %rd, %wr, %ag_2, %bg_2, %acc_1, %fa_4, %fb_2 = "scf.for"(%24, %KT, %17, %24, %14, %ag_1, %bg_1, %acc, %fa_3, %fb_1) ({
      ^bb0(%kt: index, %rd_1: index, %wr_1: index, %ag_3: memref<?xf32, strided<[1], offset: ?>>, %bg_3: memref<?xf32, strided<[1], offset: ?>>, %acc_2: vector<16x8xf32>, %fa_5: vector<16xf32>, %fb_3: vector<8xf32>):
        %75 = "arith.addi"(%kt, %14) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %76 = "arith.cmpi"(%75, %KT) <{predicate = 6 : i64}> : (index, index) -> i1
        "scf.if"(%76) ({
          %77 = "nvgpu.device_async_copy"(%as_, %wr_1, %24, %24, %ag_3, %24) <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
          %78 = "nvgpu.device_async_copy"(%as_, %wr_1, %24, %30, %ag_3, %55) <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
          %79 = "nvgpu.device_async_copy"(%as_, %wr_1, %24, %25, %ag_3, %56) <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
          %80 = "nvgpu.device_async_copy"(%as_, %wr_1, %24, %19, %ag_3, %57) <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
          %81 = "nvgpu.device_async_copy"(%bs_, %wr_1, %24, %24, %bg_3, %24) <{dstElements = 4 : index, bypassL1, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
          %82 = "nvgpu.device_async_copy"(%bs_, %wr_1, %26, %24, %bg_3, %58) <{dstElements = 4 : index, bypassL1, operandSegmentSizes = array<i32: 1, 3, 1, 1, 0>}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index, memref<?xf32, strided<[1], offset: ?>>, index) -> !nvgpu.device.async.token
          "scf.yield"() : () -> ()
        }, {
        }) : (i1) -> ()
        %83 = "nvgpu.device_async_create_group"() : () -> !nvgpu.device.async.token
        %84 = "arith.addi"(%wr_1, %17) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %85 = "arith.cmpi"(%84, %13) <{predicate = 0 : i64}> : (index, index) -> i1
        %wr_2 = "arith.select"(%85, %24, %84) : (i1, index, index) -> index
        %ag_4 = "memref.subview"(%ag_3, %27, %18) <{static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xf32, strided<[1], offset: ?>>, index, index) -> memref<?xf32, strided<[1], offset: ?>>
        %bg_4 = "memref.subview"(%bg_3, %bstep, %18) <{static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xf32, strided<[1], offset: ?>>, index, index) -> memref<?xf32, strided<[1], offset: ?>>
        %a4_4 = "vector.load"(%af, %rd_1, %17, %24) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_5 = "vector.load"(%af, %rd_1, %17, %16) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_6 = "vector.load"(%af, %rd_1, %17, %30) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_7 = "vector.load"(%af, %rd_1, %17, %15) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_2 = "vector.load"(%bf, %rd_1, %17, %24) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_3 = "vector.load"(%bf, %rd_1, %17, %30) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %fa_6 = "vector.insert_strided_slice"(%a4_4, %z) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_7 = "vector.insert_strided_slice"(%a4_5, %fa_6) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_8 = "vector.insert_strided_slice"(%a4_6, %fa_7) <{offsets = [8 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_9 = "vector.insert_strided_slice"(%a4_7, %fa_8) <{offsets = [12 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fb_4 = "vector.insert_strided_slice"(%b4_2, %z_1) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %fb_5 = "vector.insert_strided_slice"(%b4_3, %fb_4) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %acc_3 = "vector.outerproduct"(%fa_5, %fb_3, %acc_2) <{kind = #vector.kind<add>}> {phobos.order = "snake"} : (vector<16xf32>, vector<8xf32>, vector<16x8xf32>) -> vector<16x8xf32>
        %a4_8 = "vector.load"(%af, %rd_1, %14, %24) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_9 = "vector.load"(%af, %rd_1, %14, %16) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_10 = "vector.load"(%af, %rd_1, %14, %30) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_11 = "vector.load"(%af, %rd_1, %14, %15) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_4 = "vector.load"(%bf, %rd_1, %14, %24) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_5 = "vector.load"(%bf, %rd_1, %14, %30) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %fa_10 = "vector.insert_strided_slice"(%a4_8, %z) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_11 = "vector.insert_strided_slice"(%a4_9, %fa_10) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_12 = "vector.insert_strided_slice"(%a4_10, %fa_11) <{offsets = [8 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_13 = "vector.insert_strided_slice"(%a4_11, %fa_12) <{offsets = [12 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fb_6 = "vector.insert_strided_slice"(%b4_4, %z_1) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %fb_7 = "vector.insert_strided_slice"(%b4_5, %fb_6) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %acc_4 = "vector.outerproduct"(%fa_9, %fb_5, %acc_3) <{kind = #vector.kind<add>}> {phobos.order = "snake"} : (vector<16xf32>, vector<8xf32>, vector<16x8xf32>) -> vector<16x8xf32>
        %a4_12 = "vector.load"(%af, %rd_1, %13, %24) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_13 = "vector.load"(%af, %rd_1, %13, %16) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_14 = "vector.load"(%af, %rd_1, %13, %30) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_15 = "vector.load"(%af, %rd_1, %13, %15) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_6 = "vector.load"(%bf, %rd_1, %13, %24) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_7 = "vector.load"(%bf, %rd_1, %13, %30) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %fa_14 = "vector.insert_strided_slice"(%a4_12, %z) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_15 = "vector.insert_strided_slice"(%a4_13, %fa_14) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_16 = "vector.insert_strided_slice"(%a4_14, %fa_15) <{offsets = [8 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_17 = "vector.insert_strided_slice"(%a4_15, %fa_16) <{offsets = [12 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fb_8 = "vector.insert_strided_slice"(%b4_6, %z_1) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %fb_9 = "vector.insert_strided_slice"(%b4_7, %fb_8) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %acc_5 = "vector.outerproduct"(%fa_13, %fb_7, %acc_4) <{kind = #vector.kind<add>}> {phobos.order = "snake"} : (vector<16xf32>, vector<8xf32>, vector<16x8xf32>) -> vector<16x8xf32>
        %a4_16 = "vector.load"(%af, %rd_1, %26, %24) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_17 = "vector.load"(%af, %rd_1, %26, %16) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_18 = "vector.load"(%af, %rd_1, %26, %30) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_19 = "vector.load"(%af, %rd_1, %26, %15) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_8 = "vector.load"(%bf, %rd_1, %26, %24) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_9 = "vector.load"(%bf, %rd_1, %26, %30) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %fa_18 = "vector.insert_strided_slice"(%a4_16, %z) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_19 = "vector.insert_strided_slice"(%a4_17, %fa_18) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_20 = "vector.insert_strided_slice"(%a4_18, %fa_19) <{offsets = [8 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_21 = "vector.insert_strided_slice"(%a4_19, %fa_20) <{offsets = [12 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fb_10 = "vector.insert_strided_slice"(%b4_8, %z_1) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %fb_11 = "vector.insert_strided_slice"(%b4_9, %fb_10) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %acc_6 = "vector.outerproduct"(%fa_17, %fb_9, %acc_5) <{kind = #vector.kind<add>}> {phobos.order = "snake"} : (vector<16xf32>, vector<8xf32>, vector<16x8xf32>) -> vector<16x8xf32>
        %a4_20 = "vector.load"(%af, %rd_1, %12, %24) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_21 = "vector.load"(%af, %rd_1, %12, %16) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_22 = "vector.load"(%af, %rd_1, %12, %30) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_23 = "vector.load"(%af, %rd_1, %12, %15) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_10 = "vector.load"(%bf, %rd_1, %12, %24) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_11 = "vector.load"(%bf, %rd_1, %12, %30) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %fa_22 = "vector.insert_strided_slice"(%a4_20, %z) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_23 = "vector.insert_strided_slice"(%a4_21, %fa_22) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_24 = "vector.insert_strided_slice"(%a4_22, %fa_23) <{offsets = [8 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_25 = "vector.insert_strided_slice"(%a4_23, %fa_24) <{offsets = [12 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fb_12 = "vector.insert_strided_slice"(%b4_10, %z_1) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %fb_13 = "vector.insert_strided_slice"(%b4_11, %fb_12) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %acc_7 = "vector.outerproduct"(%fa_21, %fb_11, %acc_6) <{kind = #vector.kind<add>}> {phobos.order = "snake"} : (vector<16xf32>, vector<8xf32>, vector<16x8xf32>) -> vector<16x8xf32>
        %a4_24 = "vector.load"(%af, %rd_1, %11, %24) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_25 = "vector.load"(%af, %rd_1, %11, %16) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_26 = "vector.load"(%af, %rd_1, %11, %30) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_27 = "vector.load"(%af, %rd_1, %11, %15) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_12 = "vector.load"(%bf, %rd_1, %11, %24) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_13 = "vector.load"(%bf, %rd_1, %11, %30) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %fa_26 = "vector.insert_strided_slice"(%a4_24, %z) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_27 = "vector.insert_strided_slice"(%a4_25, %fa_26) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_28 = "vector.insert_strided_slice"(%a4_26, %fa_27) <{offsets = [8 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_29 = "vector.insert_strided_slice"(%a4_27, %fa_28) <{offsets = [12 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fb_14 = "vector.insert_strided_slice"(%b4_12, %z_1) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %fb_15 = "vector.insert_strided_slice"(%b4_13, %fb_14) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %acc_8 = "vector.outerproduct"(%fa_25, %fb_13, %acc_7) <{kind = #vector.kind<add>}> {phobos.order = "snake"} : (vector<16xf32>, vector<8xf32>, vector<16x8xf32>) -> vector<16x8xf32>
        %a4_28 = "vector.load"(%af, %rd_1, %10, %24) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_29 = "vector.load"(%af, %rd_1, %10, %16) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_30 = "vector.load"(%af, %rd_1, %10, %30) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_31 = "vector.load"(%af, %rd_1, %10, %15) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_14 = "vector.load"(%bf, %rd_1, %10, %24) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_15 = "vector.load"(%bf, %rd_1, %10, %30) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %fa_30 = "vector.insert_strided_slice"(%a4_28, %z) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_31 = "vector.insert_strided_slice"(%a4_29, %fa_30) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_32 = "vector.insert_strided_slice"(%a4_30, %fa_31) <{offsets = [8 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_33 = "vector.insert_strided_slice"(%a4_31, %fa_32) <{offsets = [12 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fb_16 = "vector.insert_strided_slice"(%b4_14, %z_1) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %fb_17 = "vector.insert_strided_slice"(%b4_15, %fb_16) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %acc_9 = "vector.outerproduct"(%fa_29, %fb_15, %acc_8) <{kind = #vector.kind<add>}> {phobos.order = "snake"} : (vector<16xf32>, vector<8xf32>, vector<16x8xf32>) -> vector<16x8xf32>
        "nvgpu.device_async_wait"(%83) <{numGroups = 1 : i32}> : (!nvgpu.device.async.token) -> ()
        "gpu.barrier"() : () -> ()
        %86 = "arith.addi"(%rd_1, %17) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %87 = "arith.cmpi"(%86, %13) <{predicate = 0 : i64}> : (index, index) -> i1
        %rd_2 = "arith.select"(%87, %24, %86) : (i1, index, index) -> index
        %a4_32 = "vector.load"(%af, %rd_2, %24, %24) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_33 = "vector.load"(%af, %rd_2, %24, %16) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_34 = "vector.load"(%af, %rd_2, %24, %30) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %a4_35 = "vector.load"(%af, %rd_2, %24, %15) <{alignment = 16 : i64}> : (memref<3x8x132xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_16 = "vector.load"(%bf, %rd_2, %24, %24) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %b4_17 = "vector.load"(%bf, %rd_2, %24, %30) <{alignment = 16 : i64}> : (memref<3x8x256xf32, #gpu.address_space<workgroup>>, index, index, index) -> vector<4xf32>
        %fa_34 = "vector.insert_strided_slice"(%a4_32, %z) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_35 = "vector.insert_strided_slice"(%a4_33, %fa_34) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_36 = "vector.insert_strided_slice"(%a4_34, %fa_35) <{offsets = [8 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fa_37 = "vector.insert_strided_slice"(%a4_35, %fa_36) <{offsets = [12 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<16xf32>) -> vector<16xf32>
        %fb_18 = "vector.insert_strided_slice"(%b4_16, %z_1) <{offsets = [0 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %fb_19 = "vector.insert_strided_slice"(%b4_17, %fb_18) <{offsets = [4 : i64], strides = [1 : i64]}> : (vector<4xf32>, vector<8xf32>) -> vector<8xf32>
        %acc_10 = "vector.outerproduct"(%fa_33, %fb_17, %acc_9) <{kind = #vector.kind<add>}> {phobos.order = "snake"} : (vector<16xf32>, vector<8xf32>, vector<16x8xf32>) -> vector<16x8xf32>
        "scf.yield"(%rd_2, %wr_2, %ag_4, %bg_4, %acc_10, %fa_37, %fb_19) : (index, index, memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, strided<[1], offset: ?>>, vector<16x8xf32>, vector<16xf32>, vector<8xf32>) -> ()
      }) : (index, index, index, index, index, memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, strided<[1], offset: ?>>, vector<16x8xf32>, vector<16xf32>, vector<8xf32>) -> (index, index, memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, strided<[1], offset: ?>>, vector<16x8xf32>, vector<16xf32>, vector<8xf32>)
      %88 = "vector.broadcast"(%alpha) : (f32) -> vector<4xf32>
      %89 = "vector.broadcast"(%beta) : (f32) -> vector<4xf32>
      %90 = "arith.cmpf"(%beta, %9) <{predicate = 13 : i64, fastmath = #arith.fastmath<none>}> : (f32, f32) -> i1
      %91 = "arith.addi"(%m0, %fm) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %92 = "arith.muli"(%91, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %93 = "arith.addi"(%92, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %94 = "arith.addi"(%93, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %95 = "vector.extract_strided_slice"(%acc_1) <{offsets = [0 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %96 = "vector.extract"(%95) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %97 = "arith.mulf"(%88, %96) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %98 = "scf.if"(%90) ({
        %99 = "vector.load"(%C, %94) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %100 = "arith.mulf"(%89, %99) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %101 = "arith.addf"(%97, %100) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%101) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%97) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%98, %C, %94) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %102 = "vector.extract_strided_slice"(%acc_1) <{offsets = [0 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %103 = "vector.extract"(%102) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %104 = "arith.mulf"(%88, %103) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %105 = "arith.addi"(%94, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %106 = "scf.if"(%90) ({
        %107 = "vector.load"(%C, %105) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %108 = "arith.mulf"(%89, %107) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %109 = "arith.addf"(%104, %108) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%109) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%104) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%106, %C, %105) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %110 = "arith.addi"(%fm, %17) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %111 = "arith.addi"(%m0, %110) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %112 = "arith.muli"(%111, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %113 = "arith.addi"(%112, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %114 = "arith.addi"(%113, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %115 = "vector.extract_strided_slice"(%acc_1) <{offsets = [1 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %116 = "vector.extract"(%115) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %117 = "arith.mulf"(%88, %116) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %118 = "scf.if"(%90) ({
        %119 = "vector.load"(%C, %114) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %120 = "arith.mulf"(%89, %119) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %121 = "arith.addf"(%117, %120) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%121) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%117) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%118, %C, %114) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %122 = "vector.extract_strided_slice"(%acc_1) <{offsets = [1 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %123 = "vector.extract"(%122) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %124 = "arith.mulf"(%88, %123) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %125 = "arith.addi"(%114, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %126 = "scf.if"(%90) ({
        %127 = "vector.load"(%C, %125) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %128 = "arith.mulf"(%89, %127) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %129 = "arith.addf"(%124, %128) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%129) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%124) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%126, %C, %125) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %130 = "arith.addi"(%fm, %14) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %131 = "arith.addi"(%m0, %130) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %132 = "arith.muli"(%131, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %133 = "arith.addi"(%132, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %134 = "arith.addi"(%133, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %135 = "vector.extract_strided_slice"(%acc_1) <{offsets = [2 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %136 = "vector.extract"(%135) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %137 = "arith.mulf"(%88, %136) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %138 = "scf.if"(%90) ({
        %139 = "vector.load"(%C, %134) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %140 = "arith.mulf"(%89, %139) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %141 = "arith.addf"(%137, %140) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%141) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%137) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%138, %C, %134) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %142 = "vector.extract_strided_slice"(%acc_1) <{offsets = [2 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %143 = "vector.extract"(%142) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %144 = "arith.mulf"(%88, %143) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %145 = "arith.addi"(%134, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %146 = "scf.if"(%90) ({
        %147 = "vector.load"(%C, %145) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %148 = "arith.mulf"(%89, %147) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %149 = "arith.addf"(%144, %148) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%149) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%144) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%146, %C, %145) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %150 = "arith.addi"(%fm, %13) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %151 = "arith.addi"(%m0, %150) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %152 = "arith.muli"(%151, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %153 = "arith.addi"(%152, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %154 = "arith.addi"(%153, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %155 = "vector.extract_strided_slice"(%acc_1) <{offsets = [3 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %156 = "vector.extract"(%155) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %157 = "arith.mulf"(%88, %156) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %158 = "scf.if"(%90) ({
        %159 = "vector.load"(%C, %154) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %160 = "arith.mulf"(%89, %159) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %161 = "arith.addf"(%157, %160) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%161) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%157) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%158, %C, %154) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %162 = "vector.extract_strided_slice"(%acc_1) <{offsets = [3 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %163 = "vector.extract"(%162) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %164 = "arith.mulf"(%88, %163) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %165 = "arith.addi"(%154, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %166 = "scf.if"(%90) ({
        %167 = "vector.load"(%C, %165) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %168 = "arith.mulf"(%89, %167) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %169 = "arith.addf"(%164, %168) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%169) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%164) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%166, %C, %165) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %170 = "arith.addi"(%fm, %16) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %171 = "arith.addi"(%m0, %170) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %172 = "arith.muli"(%171, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %173 = "arith.addi"(%172, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %174 = "arith.addi"(%173, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %175 = "vector.extract_strided_slice"(%acc_1) <{offsets = [4 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %176 = "vector.extract"(%175) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %177 = "arith.mulf"(%88, %176) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %178 = "scf.if"(%90) ({
        %179 = "vector.load"(%C, %174) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %180 = "arith.mulf"(%89, %179) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %181 = "arith.addf"(%177, %180) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%181) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%177) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%178, %C, %174) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %182 = "vector.extract_strided_slice"(%acc_1) <{offsets = [4 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %183 = "vector.extract"(%182) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %184 = "arith.mulf"(%88, %183) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %185 = "arith.addi"(%174, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %186 = "scf.if"(%90) ({
        %187 = "vector.load"(%C, %185) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %188 = "arith.mulf"(%89, %187) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %189 = "arith.addf"(%184, %188) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%189) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%184) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%186, %C, %185) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %190 = "arith.addi"(%fm, %8) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %191 = "arith.addi"(%m0, %190) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %192 = "arith.muli"(%191, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %193 = "arith.addi"(%192, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %194 = "arith.addi"(%193, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %195 = "vector.extract_strided_slice"(%acc_1) <{offsets = [5 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %196 = "vector.extract"(%195) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %197 = "arith.mulf"(%88, %196) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %198 = "scf.if"(%90) ({
        %199 = "vector.load"(%C, %194) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %200 = "arith.mulf"(%89, %199) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %201 = "arith.addf"(%197, %200) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%201) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%197) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%198, %C, %194) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %202 = "vector.extract_strided_slice"(%acc_1) <{offsets = [5 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %203 = "vector.extract"(%202) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %204 = "arith.mulf"(%88, %203) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %205 = "arith.addi"(%194, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %206 = "scf.if"(%90) ({
        %207 = "vector.load"(%C, %205) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %208 = "arith.mulf"(%89, %207) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %209 = "arith.addf"(%204, %208) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%209) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%204) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%206, %C, %205) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %210 = "arith.addi"(%fm, %7) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %211 = "arith.addi"(%m0, %210) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %212 = "arith.muli"(%211, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %213 = "arith.addi"(%212, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %214 = "arith.addi"(%213, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %215 = "vector.extract_strided_slice"(%acc_1) <{offsets = [6 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %216 = "vector.extract"(%215) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %217 = "arith.mulf"(%88, %216) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %218 = "scf.if"(%90) ({
        %219 = "vector.load"(%C, %214) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %220 = "arith.mulf"(%89, %219) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %221 = "arith.addf"(%217, %220) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%221) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%217) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%218, %C, %214) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %222 = "vector.extract_strided_slice"(%acc_1) <{offsets = [6 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %223 = "vector.extract"(%222) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %224 = "arith.mulf"(%88, %223) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %225 = "arith.addi"(%214, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %226 = "scf.if"(%90) ({
        %227 = "vector.load"(%C, %225) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %228 = "arith.mulf"(%89, %227) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %229 = "arith.addf"(%224, %228) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%229) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%224) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%226, %C, %225) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %230 = "arith.addi"(%fm, %6) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %231 = "arith.addi"(%m0, %230) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %232 = "arith.muli"(%231, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %233 = "arith.addi"(%232, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %234 = "arith.addi"(%233, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %235 = "vector.extract_strided_slice"(%acc_1) <{offsets = [7 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %236 = "vector.extract"(%235) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %237 = "arith.mulf"(%88, %236) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %238 = "scf.if"(%90) ({
        %239 = "vector.load"(%C, %234) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %240 = "arith.mulf"(%89, %239) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %241 = "arith.addf"(%237, %240) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%241) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%237) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%238, %C, %234) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %242 = "vector.extract_strided_slice"(%acc_1) <{offsets = [7 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %243 = "vector.extract"(%242) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %244 = "arith.mulf"(%88, %243) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %245 = "arith.addi"(%234, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %246 = "scf.if"(%90) ({
        %247 = "vector.load"(%C, %245) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %248 = "arith.mulf"(%89, %247) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %249 = "arith.addf"(%244, %248) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%249) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%244) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%246, %C, %245) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %250 = "arith.addi"(%fm, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %251 = "arith.addi"(%m0, %250) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %252 = "arith.muli"(%251, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %253 = "arith.addi"(%252, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %254 = "arith.addi"(%253, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %255 = "vector.extract_strided_slice"(%acc_1) <{offsets = [8 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %256 = "vector.extract"(%255) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %257 = "arith.mulf"(%88, %256) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %258 = "scf.if"(%90) ({
        %259 = "vector.load"(%C, %254) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %260 = "arith.mulf"(%89, %259) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %261 = "arith.addf"(%257, %260) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%261) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%257) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%258, %C, %254) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %262 = "vector.extract_strided_slice"(%acc_1) <{offsets = [8 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %263 = "vector.extract"(%262) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %264 = "arith.mulf"(%88, %263) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %265 = "arith.addi"(%254, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %266 = "scf.if"(%90) ({
        %267 = "vector.load"(%C, %265) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %268 = "arith.mulf"(%89, %267) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %269 = "arith.addf"(%264, %268) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%269) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%264) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%266, %C, %265) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %270 = "arith.addi"(%fm, %5) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %271 = "arith.addi"(%m0, %270) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %272 = "arith.muli"(%271, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %273 = "arith.addi"(%272, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %274 = "arith.addi"(%273, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %275 = "vector.extract_strided_slice"(%acc_1) <{offsets = [9 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %276 = "vector.extract"(%275) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %277 = "arith.mulf"(%88, %276) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %278 = "scf.if"(%90) ({
        %279 = "vector.load"(%C, %274) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %280 = "arith.mulf"(%89, %279) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %281 = "arith.addf"(%277, %280) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%281) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%277) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%278, %C, %274) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %282 = "vector.extract_strided_slice"(%acc_1) <{offsets = [9 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %283 = "vector.extract"(%282) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %284 = "arith.mulf"(%88, %283) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %285 = "arith.addi"(%274, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %286 = "scf.if"(%90) ({
        %287 = "vector.load"(%C, %285) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %288 = "arith.mulf"(%89, %287) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %289 = "arith.addf"(%284, %288) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%289) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%284) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%286, %C, %285) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %290 = "arith.addi"(%fm, %4) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %291 = "arith.addi"(%m0, %290) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %292 = "arith.muli"(%291, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %293 = "arith.addi"(%292, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %294 = "arith.addi"(%293, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %295 = "vector.extract_strided_slice"(%acc_1) <{offsets = [10 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %296 = "vector.extract"(%295) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %297 = "arith.mulf"(%88, %296) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %298 = "scf.if"(%90) ({
        %299 = "vector.load"(%C, %294) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %300 = "arith.mulf"(%89, %299) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %301 = "arith.addf"(%297, %300) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%301) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%297) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%298, %C, %294) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %302 = "vector.extract_strided_slice"(%acc_1) <{offsets = [10 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %303 = "vector.extract"(%302) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %304 = "arith.mulf"(%88, %303) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %305 = "arith.addi"(%294, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %306 = "scf.if"(%90) ({
        %307 = "vector.load"(%C, %305) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %308 = "arith.mulf"(%89, %307) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %309 = "arith.addf"(%304, %308) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%309) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%304) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%306, %C, %305) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %310 = "arith.addi"(%fm, %3) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %311 = "arith.addi"(%m0, %310) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %312 = "arith.muli"(%311, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %313 = "arith.addi"(%312, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %314 = "arith.addi"(%313, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %315 = "vector.extract_strided_slice"(%acc_1) <{offsets = [11 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %316 = "vector.extract"(%315) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %317 = "arith.mulf"(%88, %316) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %318 = "scf.if"(%90) ({
        %319 = "vector.load"(%C, %314) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %320 = "arith.mulf"(%89, %319) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %321 = "arith.addf"(%317, %320) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%321) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%317) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%318, %C, %314) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %322 = "vector.extract_strided_slice"(%acc_1) <{offsets = [11 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %323 = "vector.extract"(%322) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %324 = "arith.mulf"(%88, %323) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %325 = "arith.addi"(%314, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %326 = "scf.if"(%90) ({
        %327 = "vector.load"(%C, %325) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %328 = "arith.mulf"(%89, %327) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %329 = "arith.addf"(%324, %328) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%329) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%324) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%326, %C, %325) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %330 = "arith.addi"(%fm, %15) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %331 = "arith.addi"(%m0, %330) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %332 = "arith.muli"(%331, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %333 = "arith.addi"(%332, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %334 = "arith.addi"(%333, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %335 = "vector.extract_strided_slice"(%acc_1) <{offsets = [12 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %336 = "vector.extract"(%335) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %337 = "arith.mulf"(%88, %336) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %338 = "scf.if"(%90) ({
        %339 = "vector.load"(%C, %334) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %340 = "arith.mulf"(%89, %339) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %341 = "arith.addf"(%337, %340) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%341) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%337) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%338, %C, %334) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %342 = "vector.extract_strided_slice"(%acc_1) <{offsets = [12 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %343 = "vector.extract"(%342) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %344 = "arith.mulf"(%88, %343) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %345 = "arith.addi"(%334, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %346 = "scf.if"(%90) ({
        %347 = "vector.load"(%C, %345) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %348 = "arith.mulf"(%89, %347) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %349 = "arith.addf"(%344, %348) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%349) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%344) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%346, %C, %345) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %350 = "arith.addi"(%fm, %2) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %351 = "arith.addi"(%m0, %350) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %352 = "arith.muli"(%351, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %353 = "arith.addi"(%352, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %354 = "arith.addi"(%353, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %355 = "vector.extract_strided_slice"(%acc_1) <{offsets = [13 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %356 = "vector.extract"(%355) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %357 = "arith.mulf"(%88, %356) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %358 = "scf.if"(%90) ({
        %359 = "vector.load"(%C, %354) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %360 = "arith.mulf"(%89, %359) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %361 = "arith.addf"(%357, %360) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%361) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%357) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%358, %C, %354) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %362 = "vector.extract_strided_slice"(%acc_1) <{offsets = [13 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %363 = "vector.extract"(%362) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %364 = "arith.mulf"(%88, %363) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %365 = "arith.addi"(%354, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %366 = "scf.if"(%90) ({
        %367 = "vector.load"(%C, %365) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %368 = "arith.mulf"(%89, %367) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %369 = "arith.addf"(%364, %368) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%369) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%364) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%366, %C, %365) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %370 = "arith.addi"(%fm, %1) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %371 = "arith.addi"(%m0, %370) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %372 = "arith.muli"(%371, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %373 = "arith.addi"(%372, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %374 = "arith.addi"(%373, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %375 = "vector.extract_strided_slice"(%acc_1) <{offsets = [14 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %376 = "vector.extract"(%375) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %377 = "arith.mulf"(%88, %376) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %378 = "scf.if"(%90) ({
        %379 = "vector.load"(%C, %374) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %380 = "arith.mulf"(%89, %379) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %381 = "arith.addf"(%377, %380) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%381) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%377) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%378, %C, %374) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %382 = "vector.extract_strided_slice"(%acc_1) <{offsets = [14 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %383 = "vector.extract"(%382) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %384 = "arith.mulf"(%88, %383) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %385 = "arith.addi"(%374, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %386 = "scf.if"(%90) ({
        %387 = "vector.load"(%C, %385) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %388 = "arith.mulf"(%89, %387) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %389 = "arith.addf"(%384, %388) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%389) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%384) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%386, %C, %385) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %390 = "arith.addi"(%fm, %0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %391 = "arith.addi"(%m0, %390) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %392 = "arith.muli"(%391, %N) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %393 = "arith.addi"(%392, %n0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %394 = "arith.addi"(%393, %fn) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %395 = "vector.extract_strided_slice"(%acc_1) <{offsets = [15 : i64, 0 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %396 = "vector.extract"(%395) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %397 = "arith.mulf"(%88, %396) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %398 = "scf.if"(%90) ({
        %399 = "vector.load"(%C, %394) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %400 = "arith.mulf"(%89, %399) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %401 = "arith.addf"(%397, %400) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%401) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%397) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%398, %C, %394) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      %402 = "vector.extract_strided_slice"(%acc_1) <{offsets = [15 : i64, 4 : i64], sizes = [1 : i64, 4 : i64], strides = [1 : i64, 1 : i64]}> : (vector<16x8xf32>) -> vector<1x4xf32>
      %403 = "vector.extract"(%402) <{static_position = array<i64: 0>}> : (vector<1x4xf32>) -> vector<4xf32>
      %404 = "arith.mulf"(%88, %403) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      %405 = "arith.addi"(%394, %30) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %406 = "scf.if"(%90) ({
        %407 = "vector.load"(%C, %405) <{alignment = 16 : i64}> : (memref<?xf32>, index) -> vector<4xf32>
        %408 = "arith.mulf"(%89, %407) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        %409 = "arith.addf"(%404, %408) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
        "scf.yield"(%409) : (vector<4xf32>) -> ()
      }, {
        "scf.yield"(%404) : (vector<4xf32>) -> ()
      }) : (i1) -> vector<4xf32>
      "vector.store"(%406, %C, %405) <{alignment = 16 : i64}> : (vector<4xf32>, memref<?xf32>, index) -> ()
      "gpu.return"() : () -> ()
    }) {sym_name = "kern", gpu.known_block_size = array<i32: 256, 1, 1>, gpu.kernel, phobos.arg_names = ["A", "B", "C", "M", "N", "K", "alpha", "beta"]} : () -> ()
  }) : () -> ()
}) {gpu.container_module} : () -> ()
