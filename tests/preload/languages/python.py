"""Reductions by mpi4py, of buffers and of objects."""

import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, processes = world.Get_rank(), world.Get_size()
for round_ in range(20):
    values = array.array("d", [rank + round_] * 5)
    result = array.array("d", [-1] * 5)
    expected = processes * (processes - 1) / 2 + processes * round_
    world.Allreduce([values, MPI.DOUBLE], [result, MPI.DOUBLE], op=MPI.SUM)
    assert all(value == expected for value in result), (rank, round_, result)
    world.Allreduce(MPI.IN_PLACE, [values, MPI.DOUBLE], op=MPI.SUM)
    assert values == result
    world.Reduce([values, MPI.DOUBLE], [result, MPI.DOUBLE] if rank == 0 else None, op=MPI.MAX, root=0)
    assert rank != 0 or values == result
    counted = array.array("i", [0])
    world.Scan([array.array("i", [1]), MPI.INT], [counted, MPI.INT], op=MPI.SUM)
    assert counted[0] == rank + 1
    assert world.allreduce([rank], op=MPI.SUM) == list(range(processes))
    world.Barrier()
if rank == 0:
    print("python: ok")
