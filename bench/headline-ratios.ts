/**
 * A table of the page of ratios: for each row the file of results, the title of its table there, the case, and what
 * the page calls it if the case alone does not say what was measured.
 */
export interface Headline {
  readonly title: string
  readonly rows: readonly (readonly [file: string, table: string, name: string, label?: string])[]
}

const threads = (name: string) => ['threads', 'Compared with C on Open MPI', name] as const
const packed = (name: string) => ['threads', 'Compared with C packed by hand', name] as const
const mpi = (name: string) => ['mpi', 'Compared with C on the same library', name] as const
const combining = (name: string) =>
  ['mpi', 'What combining gains', `${name}, common-neighbor vs direct`] as const
const websocket = (name: string) => ['websocket', 'Compared with bare `ws`', name] as const
const shim = (name: string) => ['shim', 'The same program with the library and without it', name] as const
const spmm = (name: string) =>
  [
    'spmm',
    'A product by the exchange that auto chooses, and by the better of direct sends and an ordinary allgather',
    name,
  ] as const
const split = (name: string) => ['split', 'Compared with `MPI_Comm_split`', name] as const
const service = (name: string) => ['service', 'Answers of `rankweave serve`', name] as const

const moore = 'neighbor allgather 4 B, Moore 2-D r=2'

export const headlines: readonly Headline[] = [
  {
    title: 'Messages between two processes',
    rows: [
      threads('ping-pong, half round trip, 8 B'),
      threads('ping-pong, half round trip, 1 KiB'),
      threads('ping-pong, half round trip, 64 KiB'),
      threads('ping-pong, half round trip, 256 KiB'),
      threads('ping-pong, half round trip, 256 KiB, fresh array'),
      threads('ping-pong, half round trip, 256 KiB, alloc'),
      threads('ping-pong, half round trip, 1 MiB'),
      threads('bandwidth, 1 MiB'),
      threads('message rate, 8 B'),
      mpi('Open MPI: ping-pong, half round trip, 8 B, vs C'),
      mpi('MPICH: ping-pong, half round trip, 8 B, vs C'),
      mpi('Open MPI: ping-pong, half round trip, 256 KiB, vs C'),
      mpi('Open MPI: ping-pong, half round trip, 1 MiB, vs C'),
      mpi('MPICH: ping-pong, half round trip, 256 KiB, vs C'),
      mpi('MPICH: ping-pong, half round trip, 1 MiB, vs C'),
      mpi('Open MPI: bandwidth, 1 MiB, vs C'),
      mpi('MPICH: bandwidth, 1 MiB, vs C'),
      mpi('Open MPI: message rate, 8 B, vs C'),
      mpi('MPICH: message rate, 8 B, vs C'),
      websocket('ping-pong, half round trip, 8 B, vs bare ws'),
      websocket('ping-pong, half round trip, 1 MiB, vs bare ws'),
      websocket('bandwidth, 16 MiB, vs bare ws'),
    ],
  },
  {
    title: 'Collectives and neighborhood collectives',
    rows: [
      threads('barrier, 64 ranks, vs 64 oversubscribed processes'),
      threads('allreduce 8 B, 64 ranks, vs 64 oversubscribed processes'),
      threads('barrier, hosted, 64 ranks, vs 2 processes of C'),
      threads(`${moore}, 64 ranks, vs 64 oversubscribed processes`),
      packed(`${moore}, 64 ranks, vs C packed by hand`),
      packed(`${moore}, hosted, persistent, 64 ranks, vs C packed by hand`),
      mpi(
        'Open MPI: neighbor allgather 4 B, Moore 2-D r=4, direct, 64 ranks on 2 processes, vs 64 oversubscribed processes, vs C',
      ),
      mpi('Open MPI: neighbor allgather 4 B, Moore 2-D r=4, persistent, 16 oversubscribed processes, vs C'),
      mpi('Open MPI: neighbor allgather 4 B, Moore 2-D r=4, persistent, 64 oversubscribed processes, vs C'),
      combining('Open MPI: neighbor allgather 4 B, Moore 2-D r=4, 64 oversubscribed processes'),
      combining('Open MPI: neighbor allgather 4 B, random d=0.2, 64 oversubscribed processes'),
    ],
  },
  {
    title: 'Whole programs',
    rows: [
      shim('Open MPI: neighbor allgather 4 B, Moore 2-D r=3, 64 processes, C'),
      shim('MPICH: neighbor allgather 4 B, Moore 2-D r=3, 64 processes, C'),
      shim('Open MPI: neighbor allgather 4 B, Moore 2-D r=1, 16 processes, mpi4py'),
      spmm('MPICH: SpMM dwt_2680 x 8 columns, 16 ranks on 16 processes'),
      spmm('threads: SpMM dwt_2680 x 8 columns, 16 ranks on 16 processes'),
      spmm('Open MPI: SpMM mbeacxc x 1 columns, 64 ranks on 2 processes'),
      threads('start and end, 2 ranks, whole program'),
      threads('start and end, 64 ranks, whole program'),
    ],
  },
  {
    title: 'Splits, and the service',
    rows: [
      split('64 ranks on 2 threads, vs 64 processes of Open MPI oversubscribed on 2 cores'),
      split('2 processes of Open MPI'),
      split('2 processes of MPICH'),
      split('16 processes of Open MPI oversubscribed on 2 cores'),
      service('`/healthz` while a plan of 100,000 ranks is made, p99'),
      service('2000 members of 100 worlds: calls answered'),
    ],
  },
]
