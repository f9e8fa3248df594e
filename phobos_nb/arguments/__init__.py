"""What a call is checked for before anything runs: shared by the CPU, the simulator and the GPU.

Standard library at import; works on descriptions of arrays, so it never touches a device.
"""
