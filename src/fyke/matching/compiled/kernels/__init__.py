"""Kernels: the modes of the inner loops, their compilation, and the folder that keeps them.

Inside:

    kernel, lanes, intrinsics
                            fast, checked, or as plain Python; sixteen words at a time
    frames                  the arrays and numbers that a kernel is handed, by name
    compiling, warming      compiling in the background; all kernels, called once
    kernel_cache, numba_cache
                            the folder of compiled kernels; numba's access to it
"""
