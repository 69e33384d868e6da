"""Programs as SIMD machine code, through LLVM."""
