/**
 * A table of docs/benchmarks.md: for each row the file of results, the title of its table there, the case, what the
 * page calls it, and with what it is compared if that is not the baseline of the table.
 */
export interface Headline {
  readonly title: string
  readonly text: string
  readonly rows: readonly (readonly [
    file: string,
    table: string,
    name: string,
    what: string,
    baseline?: string,
  ])[]
}

const inTable = (file: string, table: string) => (name: string, what: string, baseline?: string) =>
  baseline === undefined
    ? ([file, table, name, what] as const)
    : ([file, table, name, what, baseline] as const)

const threads = inTable('threads', 'Compared with C on Open MPI')
const beside = inTable('threads', 'Beside one busy process, compared with C on Open MPI')
const alone = inTable('threads', 'Without a baseline')
const packed = inTable('threads', 'Compared with C packed by hand')
const mpi = inTable('mpi', 'Compared with C on the same library')
const combining = inTable('mpi', 'What combining gains')
const plain = inTable('peers', 'Compared with the plain loop')
const piscina = inTable('peers', 'Compared with piscina')
const websocket = inTable('websocket', 'Compared with bare `ws`')
const shim = inTable('shim', 'The same program with the library and without it')
const spmm = inTable(
  'spmm',
  'A product by the exchange that auto chooses, and by the better of direct sends and an ordinary allgather',
)
const split = inTable('split', 'Compared with `MPI_Comm_split`')
const service = inTable('service', 'Answers of `rankweave serve`')

const allgather = 'neighbor allgather 4 B'
const oversubscribed = '64 processes of C, oversubscribed'
const packedByHand = 'C packed by hand, 2 processes'

export const headlines: readonly Headline[] = [
  {
    title: 'Parallel loops',
    text: 'One Mandelbrot picture by two ranks on running threads, with an interval of 95%; then the start.',
    rows: [
      plain('Mandelbrot loop, 2 threads, vs the plain loop', 'Mandelbrot set'),
      piscina('Mandelbrot loop, 2 threads, vs piscina', 'the same'),
      alone('start and end, 2 ranks, run() alone', '`run` of 2 ranks, from start to end', '–'),
      threads(
        'start and end, 2 ranks, whole program',
        'a program of 2 ranks, from start to end',
        'C under `mpirun`',
      ),
    ],
  },
  {
    title: 'Ranks on threads, compared with MPI programs in C',
    text: 'Times of messages are half a round trip; many ranks share two threads, as processes of C share two cores.\n\n![latency and bandwidth by message size](threads.svg)',
    rows: [
      threads('ping-pong, half round trip, 8 B', '8 B'),
      beside(
        'ping-pong, half round trip, 8 B, not bound, beside one busy process',
        '8 B, beside a busy process',
      ),
      beside(
        'ping-pong, half round trip, 8 B, bound to cores, beside one busy process',
        'the same with `--bind-to core`',
      ),
      threads('ping-pong, half round trip, 1 KiB', '1 KiB'),
      threads('ping-pong, half round trip, 1 KiB, fresh array', 'the same without a receive buffer'),
      threads('ping-pong, half round trip, 64 KiB', '64 KiB'),
      threads('ping-pong, half round trip, 256 KiB, alloc', '256 KiB, `alloc`'),
      threads('ping-pong, half round trip, 1 MiB', '1 MiB'),
      threads('ping-pong, half round trip, 16 MiB, alloc', '16 MiB, `alloc`'),
      threads('bandwidth, 1 MiB', 'bandwidth, 1 MiB'),
      threads('message rate, 8 B', 'message rate, 8 B'),
      threads('barrier, 64 ranks, vs 64 oversubscribed processes', 'barrier, 64 ranks', oversubscribed),
      threads(
        'allreduce 8 B, 64 ranks, vs 64 oversubscribed processes',
        'allreduce 8 B, 64 ranks',
        oversubscribed,
      ),
      threads(
        `${allgather}, Moore 2-D r=2, 64 ranks, vs 64 oversubscribed processes`,
        `${allgather}, Moore 2-D r=2, 64 ranks`,
        oversubscribed,
      ),
      packed(`${allgather}, Moore 2-D r=2, 64 ranks, vs C packed by hand`, 'the same', packedByHand),
      packed(
        `${allgather}, Moore 2-D r=2, hosted, persistent, 64 ranks, vs C packed by hand`,
        'the same, hosted and persistent',
        packedByHand,
      ),
    ],
  },
  {
    title: 'Ranks on MPI, compared with C',
    text: 'Both use one MPI library.',
    rows: [
      mpi('Open MPI: ping-pong, half round trip, 8 B, vs C', 'Open MPI, 8 B', 'C'),
      mpi('MPICH: ping-pong, half round trip, 8 B, vs C', 'MPICH, 8 B', 'C'),
      mpi('Open MPI: ping-pong, half round trip, 1 MiB, vs C', 'Open MPI, 1 MiB', 'C'),
      mpi('MPICH: ping-pong, half round trip, 1 MiB, vs C', 'MPICH, 1 MiB', 'C'),
      mpi('Open MPI: message rate, 8 B, vs C', 'Open MPI, message rate, 8 B', 'C'),
      mpi('MPICH: message rate, 8 B, vs C', 'MPICH, message rate, 8 B', 'C'),
      mpi(
        `Open MPI: ${allgather}, Moore 2-D r=4, persistent, 64 oversubscribed processes, vs C`,
        `Open MPI, ${allgather}, Moore 2-D r=4, persistent, 64 processes`,
        'C',
      ),
      combining(
        `Open MPI: ${allgather}, Moore 2-D r=4, 64 oversubscribed processes, common-neighbor vs direct`,
        'the same, not persistent, by `common-neighbor`',
        'direct sends',
      ),
      combining(
        `Open MPI: ${allgather}, random d=0.2, 64 oversubscribed processes, common-neighbor vs direct`,
        'a random graph of density 0.2 by `common-neighbor`',
        'direct sends',
      ),
    ],
  },
  {
    title: 'Unmodified MPI programs with the preloaded library',
    text: `Calls of ${allgather} where no length is named; processes share two cores.`,
    rows: [
      shim(
        'Open MPI: MPI_Ineighbor_allgather and MPI_Wait, 4096 B, moore:8x8:r=2, 64 processes',
        'C on Open MPI, `MPI_Ineighbor_allgather` of 4 KiB, Moore r=2, 64 processes',
        'without the library',
      ),
      shim(
        `Open MPI: ${allgather}, Moore 2-D r=3, 64 processes, C`,
        'C on Open MPI, Moore 2-D r=3, 64 processes',
        'without the library',
      ),
      shim(
        `MPICH: ${allgather}, Moore 2-D r=3, 64 processes, C`,
        'C on MPICH, Moore 2-D r=3, 64 processes',
        'without the library',
      ),
      shim(
        `Open MPI: ${allgather}, Moore 2-D r=1, 16 processes, mpi4py`,
        'mpi4py on Open MPI, Moore 2-D r=1, 16 processes',
        'without the library',
      ),
    ],
  },
  {
    title: 'Sparse products',
    text: 'Ranks on MPI multiply by the exchange that `auto` chooses.',
    rows: [
      spmm(
        'MPICH: SpMM dwt_2680 x 8 columns, 16 ranks on 16 processes',
        'MPICH, dwt_2680, 16 ranks on 16 processes',
        'the better of direct sends and an allgather',
      ),
      spmm(
        'Open MPI: SpMM mbeacxc x 1 columns, 64 ranks on 2 processes',
        'Open MPI, mbeacxc, 64 ranks on 2 processes',
        'the better of direct sends and an allgather',
      ),
    ],
  },
  {
    title: 'Hosts and the service',
    text: 'Messages over WebSockets, and an answer of `rankweave serve`.',
    rows: [
      websocket('ping-pong, half round trip, 8 B, vs bare ws', 'half a round trip, 8 B'),
      websocket('ping-pong, half round trip, 1 MiB, vs bare ws', 'half a round trip, 1 MiB'),
      service(
        '`/healthz` while a plan of 100,000 ranks is made, p99',
        '`/healthz` while a plan of 100,000 ranks is made, p99',
        'a bare fastify server',
      ),
    ],
  },
  {
    title: 'Splits',
    text: '![seconds of a split by number of sorters](split.svg)',
    rows: [
      split(
        '64 ranks on 2 threads, vs 64 processes of Open MPI oversubscribed on 2 cores',
        '64 ranks on 2 threads',
        '`MPI_Comm_split`, 64 processes of Open MPI',
      ),
      split('2 processes of Open MPI', '2 processes of Open MPI', '`MPI_Comm_split`'),
      split('2 processes of MPICH', '2 processes of MPICH', '`MPI_Comm_split`'),
    ],
  },
]
