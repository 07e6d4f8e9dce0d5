"""Ghosts of a function of DOLFINx, which exchanges them by MPI_Ineighbor_alltoallv. Prints whether all are right."""

import numpy as np
from dolfinx import fem, mesh
from mpi4py import MPI

comm = MPI.COMM_WORLD
space = fem.FunctionSpace(mesh.create_unit_square(comm, 32, 32), ("Lagrange", 1))
values = fem.Function(space).x
index_map = space.dofmap.index_map
own = index_map.local_range[1] - index_map.local_range[0]
numbers = np.concatenate([np.arange(*index_map.local_range), index_map.ghosts])
wrong = 0
for call in range(200):
    values.array[:own] = numbers[:own] * 3 + call
    values.array[own:] = -1
    values.scatter_forward()
    wrong += int(np.sum(values.array != numbers * 3 + call))
total = comm.allreduce(wrong)
if comm.rank == 0:
    print("right" if total == 0 else f"{total} wrong")
