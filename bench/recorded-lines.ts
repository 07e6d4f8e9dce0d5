import { type Figure, median } from './bench.js'
import type { ResultFigure, StoredResults } from './results-file.js'

/** Where a bench is on the page. */
interface Section {
  readonly title: string
  readonly order: number
  readonly tables: readonly {
    readonly title: string
    readonly baseline: string
    /** Instead of `Rankweave`. */
    readonly ours?: string
    readonly note?: string
    /** Whose cases end so; the last table takes the others. A table without cases is left out. */
    readonly ending?: string
    /** Whose cases have a baseline. */
    readonly isCompared?: true
    /** Whether the figures recorded before remain where none of its cases was measured. */
    readonly isKept?: true
    /** SVG in docs/, which `--plot` draws. */
    readonly image?: string
  }[]
}

/** Of the bench `matching`. */
const queueNote =
  'Messages of 8 B. Rank 0 waits until all have arrived, then receives; nothing is subtracted, so the first receive after the wait counts as it comes. MB1 to MB3 have four senders: five processes in C, whose senders sleep while rank 0 receives, and five ranks on two processes in ours. MB4 and MB5 have one sender.'

const sections: Readonly<Record<string, Section>> = {
  threads: {
    title: 'Ranks on threads',
    order: 1,
    tables: [
      {
        title: 'Beside one busy process, compared with C on Open MPI',
        baseline: 'C on Open MPI',
        ending: ', beside one busy process',
        isKept: true,
      },
      {
        title: 'Compared with C packed by hand',
        baseline: 'C, 2 processes',
        ending: ', vs C packed by hand',
        isKept: true,
      },
      { title: 'Programs without ranks', baseline: 'node -e 0', ending: ', vs node -e 0', isKept: true },
      {
        title: 'Compared with C on Open MPI',
        baseline: 'C on Open MPI',
        isCompared: true,
        isKept: true,
        image: 'threads.svg',
      },
      { title: 'Without a baseline', baseline: '', isKept: true },
    ],
  },
  mpi: {
    title: 'Ranks on MPI',
    order: 2,
    tables: [
      { title: 'Compared with MPI calls from JavaScript', baseline: 'bare koffi', ending: ', vs bare koffi' },
      { title: 'Compared with our own send', baseline: 'send', ending: ', vs our own send' },
      { title: 'What combining gains', baseline: 'direct', ending: ', common-neighbor vs direct' },
      { title: 'Compared with C on the same library', baseline: 'C' },
    ],
  },
  peers: {
    title: 'Parallel loops',
    order: 0,
    tables: [
      {
        title: 'Compared with the plain loop',
        baseline: 'the plain loop',
        ending: ', vs the plain loop',
        isKept: true,
      },
      { title: 'Compared with piscina', baseline: 'piscina', ending: ', vs piscina', isKept: true },
      {
        title: 'Compared with bare Atomics',
        baseline: 'bare Atomics',
        ending: ', vs bare Atomics',
        isKept: true,
      },
      {
        title: 'Beside one busy process, compared with the best pool',
        baseline: 'the best pool',
        ending: ', beside one busy process, vs the best pool',
        isKept: true,
      },
      {
        title: 'More ranks than cores, compared with the best pool',
        baseline: 'the best pool',
        ending: ', 8 ranks on 2 threads, vs the best pool',
        isKept: true,
      },
      {
        title: 'Small tasks, compared with the best pool',
        baseline: 'the best pool',
        ending: ', 10,000 tasks, vs the best pool',
        isKept: true,
      },
      {
        title: 'Start and end of workers, compared with the best pool',
        baseline: 'the best pool',
        ending: ', whole program, vs the best pool',
        isKept: true,
      },
      {
        title: 'Compared with the best pool',
        baseline: 'the best pool',
        ending: ', vs the best pool',
        isKept: true,
      },
      {
        title: 'Message rate, compared with postMessage',
        baseline: 'MessagePort',
        ending: ' one way, vs MessagePort',
        isKept: true,
      },
      {
        title: 'Long messages, compared with postMessage',
        baseline: 'MessagePort',
        ending: ', 16 MiB, vs MessagePort',
        isKept: true,
      },
      {
        title: 'Compared with postMessage',
        baseline: 'MessagePort',
        ending: ', vs MessagePort',
        isKept: true,
      },
    ],
  },
  collectives: {
    title: 'Collectives as schedules',
    order: 4,
    tables: [
      { title: 'Compared with C on the same library', baseline: 'C', ending: ', vs C' },
      {
        title: 'Compared with the collectives before they were schedules',
        baseline: 'before',
        ending: ', vs before',
        note: 'Of commit d497ac7, in turns with it. Instead of its ratio a bandwidth may reach 0.8 of that of a copy in memory, measured in the same run.',
      },
      {
        title: 'Compared with an older build',
        baseline: 'older',
        note: 'In turns with the commit that a case names.',
      },
    ],
  },
  exported: {
    title: 'Exported C programs',
    order: 4,
    tables: [
      {
        title: 'Along the dimensions of four nodes, and the algorithms that Open MPI chooses',
        baseline: 'Open MPI',
        ours: 'exported C',
        ending: ' on four nodes',
        isKept: true,
        note: 'Open MPI 4.1.4, 16 processes on four nodes of one machine with 2 cores: network namespaces, between which messages take TCP (`bench/four-nodes.sh`). In each run both results are compared before, then samples of both take turns, and the slowest rank counts. Times are medians over the runs. The ratio is the median of the ratios of single runs; in brackets its 95% interval, by bootstrap.',
      },
      {
        title: 'The same algorithm of Open MPI, forced by its settings',
        baseline: 'Open MPI',
        ours: 'exported C',
        isKept: true,
        note: 'Open MPI 4.1.4, 16 processes oversubscribed on 2 cores, with `--mca mpi_yield_when_idle 1`. In each run both results are compared before, then samples of 10 starts of both take turns, and the slowest rank counts. Times are medians over the runs. The ratio is the median of the ratios of single runs, so it is not that of the two medians printed; in brackets its 95% interval, by bootstrap.',
      },
    ],
  },
  choice: {
    title: 'Algorithms chosen for a machine',
    order: 4,
    tables: [
      { title: 'Time of a choice', baseline: '', ending: ' settings' },
      {
        title: 'The chosen algorithm and the fastest one in SimGrid',
        baseline: 'fastest',
        ours: 'chosen',
        note: 'Simulated by SimGrid 3.32; these times do not depend on the computer. Compared with the chosen one: of every algorithm the two fastest settings of a grid of segments and parameters, unless our simulator says that they take a quarter longer. Data of more than 4 KiB do not move. Longer all-to-alls are not there: SimGrid needs hours for them.',
      },
    ],
  },
  verify: {
    title: 'Proofs of schedules',
    order: 5,
    tables: [
      { title: 'Time of `verify`', baseline: '', note: 'In one thread; the schedule is made before.' },
    ],
  },
  shim: {
    title: 'MPI programs with the preloaded library',
    order: 7,
    tables: [
      {
        title: 'The same program with the library and without it',
        baseline: 'without',
        ours: 'with the library',
        note: 'Open MPI 4.1.4, MPICH 4.0.2, processes share 2 cores; the first batches have the calls of the trial.',
      },
    ],
  },
  advise: {
    title: 'MPI programs started as advised',
    order: 7,
    tables: [
      {
        title: 'Verdicts of advise',
        baseline: '',
        ending: ': right verdicts of advise',
        note: 'Right is placement of the program as given, and that nothing helps as planned. On a busy machine `advise` may be undecided: it has 1.8 minutes.',
      },
      {
        title: 'Unmodified programs with advise',
        baseline: 'as given',
        ours: 'as planned',
        note: 'Open MPI 4.1.4, 32 processes on four nodes of one machine with 2 cores: network namespaces, between which messages take TCP (`bench/four-nodes.sh`). Given is an order in which no two neighbors share a node; planned is the one of `advise` by its traffic. Runs in both orders are pairs, in turn which is first. Times are medians; the ratio is the median of the pairs, in brackets its 95% interval. Other programs kept the machine busy meanwhile, both runs of a pair alike.',
      },
    ],
  },
  spmm: {
    title: 'Sparse products',
    order: 8,
    tables: [
      {
        title:
          'A product by the exchange that auto chooses, and by the better of direct sends and an ordinary allgather',
        baseline: 'better of the two',
        ours: 'auto',
        note: 'Open MPI 4.1.4, MPICH 4.0.2, all processes share 2 cores. 45 turns of each of the three; the ratio is the larger of the medians of their ratios by turn, so it is not that of the two medians printed.',
      },
    ],
  },
  matching: {
    title: 'Receives among unexpected messages',
    order: 9,
    tables: [
      {
        title: 'C on MPICH compared with C on Open MPI',
        ours: 'C on MPICH',
        baseline: 'C on Open MPI',
        ending: ', C on MPICH',
        note: queueNote,
      },
      {
        title: 'Compared with C on Open MPI',
        baseline: 'C on Open MPI',
        note: queueNote,
      },
    ],
  },
  websocket: {
    title: 'Processes connected by WebSockets',
    order: 3,
    tables: [
      { title: 'Compared with bare `ws`', baseline: 'bare ws', ending: ', vs bare ws' },
      { title: 'Message rate', baseline: 'bare ws', ending: 'message rate, 8 B' },
      {
        title: 'Slow networks, frames on the wire, and losses',
        baseline: '',
        note: 'Latency by a proxy between the sockets, the same for bare `ws`. From `kill -9` until the last survivor has ERR_PEER_LOST.',
      },
    ],
  },
  service: {
    title: 'The service',
    order: 9,
    tables: [
      {
        title: 'Answers of `rankweave serve`',
        baseline: 'baseline',
        note: [
          'Service and clients share the machine. `/healthz` is asked every 5 ms, answered or not; baseline: a bare fastify of another process, which is idle and is asked as often. The plan is that of `moore:400x250:r=4` with k = 4, which a thread makes for tens of seconds.',
          "Members ask again as soon as they are answered, so a call takes their number divided by the throughput on average (Little's law), and all wait for the one thread of the service; baseline: the same calls of as many ranks in one process on `local`, without a service.",
          'The page is in Chromium without a window or a graphics processor; a task is a stretch in which it does not answer, 0 where none is longer than 50 ms.',
          'The machine was quiet, except while bodies travelled and while the 2,000 ranks called in one process: then others ran at lower priority.',
        ].join('\n'),
      },
    ],
  },
  mutants: {
    title: 'Mutants',
    order: 6,
    tables: [
      {
        title: 'Small changes of the sources that tests notice',
        baseline: '',
        note: 'Drawn with a seed (`--seed`, `--sample`), of every room in proportion to its lines. Some have no effect, so no test can notice them.',
      },
    ],
  },
}

export const recordedNames: readonly string[] = Object.keys(sections)

/** The SVG in docs/ that a bench draws, if any. */
export function imageOf(name: string): string | undefined {
  return sections[name].tables.find(({ image }) => image !== undefined)?.image
}

type Line = Figure & {
  readonly bench: string
  readonly commit: string
  readonly node: string
  readonly cpu: string
}

/**
 * The figures of one bench as a file of results, from the lines that it printed; lines of other benches are
 * left out.
 *
 * @param before what was recorded before
 */
export function recorded(
  name: string,
  lines: readonly string[],
  date: string,
  before?: StoredResults,
): StoredResults {
  const { title, order, tables } = sections[name]
  const figures = lines.map((line) => JSON.parse(line) as Line).filter(({ bench }) => bench === name)
  const [first] = figures
  if (first === undefined) throw new Error(`expected lines of ${name}, got none`)
  const failed = figures.find(({ ours }) => ours === null)
  if (failed !== undefined) throw new Error(`${failed.case} failed: ${failed['failed'] ?? ''}`)
  const differs = figures.find(({ commit }) => commit !== first.commit)
  if (differs !== undefined) throw new Error(`lines of commits ${first.commit} and ${differs.commit}`)
  const left = new Set(figures)
  return {
    title,
    command: `npm run bench -- ${name} --json`,
    order,
    tables: tables.flatMap((table) => {
      const { title: of, baseline, ours = 'Rankweave', note, image, ending = '', isCompared, isKept } = table
      const own = [...left].filter(
        (figure) => figure.case.endsWith(ending) && (isCompared === undefined || figure.peer !== null),
      )
      if (own.length === 0)
        return isKept === true ? (before?.tables.filter((stored) => stored.title === of) ?? []) : []
      for (const figure of own) left.delete(figure)
      return {
        title: of,
        ours,
        baseline,
        commit: first.commit,
        date,
        machine: first.cpu,
        software: [`Node ${first.node.replace('v', '')}`],
        runs: first.runs,
        source: `output of the command at commit ${first.commit}`,
        ...(note === undefined ? {} : { note }),
        ...coresBusyOf(own),
        ...(image === undefined ? {} : { image }),
        figures: own.map(resultOf),
      }
    }),
  }
}

function coresBusyOf(figures: readonly Line[]): { readonly coresBusy?: number } {
  const busy = figures.map((figure) => figure['coresBusyBefore']).filter((cores) => typeof cores === 'number')
  return busy.length === 0 ? {} : { coresBusy: median(busy) }
}

function resultOf(figure: Line): ResultFigure {
  const { unit, ours, peer, peerName, ratio, runs, target, met, low, high } = figure
  const bound = boundOf(figure)
  return {
    case: figure.case,
    unit,
    ours: rounded(ours!),
    ...(peer === null ? {} : { peer: rounded(peer) }),
    ...(typeof peerName === 'string' ? { peerName } : {}),
    ...(ratio === null ? {} : { ratio: rounded(ratio) }),
    ...((target === null || typeof peerName === 'string') &&
    typeof low === 'number' &&
    typeof high === 'number'
      ? { interval: [rounded(low), rounded(high)] as const }
      : {}),
    ...(target === null || met === null ? {} : { judged: { bound, isMet: met } }),
    runs,
  }
}

const rounded = (value: number): number => Number(value.toPrecision(4))

/** Of a target that may be met in more than one way, all of them. */
function boundOf({ target, unit, targetOf, targetIs, shareTarget, shareOf, share, low, high }: Line): string {
  if (target === null) return ''
  const sign = targetIs === 'at least' ? '>=' : targetIs === 'exactly' ? '=' : '<='
  if (typeof targetOf === 'string' && targetOf.includes('interval')) {
    const interval =
      typeof low === 'number' && typeof high === 'number' ? ` (${low.toFixed(2)} to ${high.toFixed(2)})` : ''
    return `95% interval${interval} not above ${target}x`
  }
  const own =
    targetOf === 'ratio'
      ? `${sign} ${rounded(target)}x`
      : `${sign} ${target}${unit.startsWith('%') ? unit : ` ${unit}`}`
  if (typeof shareTarget !== 'number' || typeof share !== 'number') return own
  return `${own}, or >= ${shareTarget} of a ${shareOf} (${share.toFixed(2)})`
}
