import { algorithmOf } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { logGPOfLevel } from '../../src/cost/models/conversions.js'
import { predictUs } from '../../src/cost/models/predict.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { printed } from './command.js'
import { type FigureLine, figure } from './page-figures.js'

// Figures of docs/study/formulas.md: simulated times divided by those of LogGP, on one rank per node.

const page = 'study/formulas.md'
const bytes = 66 * 1024
const costs = { latencyNs: 5000, sendOverheadNs: 400, receiveOverheadNs: 400, gapNs: 0, nsPerByte: 1 }

function simulatedByPredicted(id: string, ranks: number, segments = 1): number {
  const machine = parseMachine(`cluster:nodes=${ranks},cores=1,profile=simgrid-fast`)
  const profile = {
    ...machine.profile!,
    levels: { process: costs, package: costs, node: costs, network: costs },
    memory: { copyNsPerByte: 0, copyBlockNs: 0, reduceNsPerByte: 0.25 },
    eagerLimitBytes: Number.POSITIVE_INFINITY,
  }
  const { timeUs } = simulate(
    scheduleOf(algorithmOf(id), { ranks, segments }),
    { ...machine, profile },
    { bytes },
  )
  const segmentBytes = bytes / segments
  return timeUs / predictUs(id, logGPOfLevel(profile, 'network'), { ranks, bytes, segmentBytes })
}

/** A row of the table: the algorithms, what else their cell says, and why they differ. */
function row(ids: readonly string[], why: string, ranks = 16, rest = '', segments = 1): FigureLine {
  const names = ids.map((id) => `\`${id}\``).join(', ')
  return {
    page,
    line: `| ${names}${rest} | ${ids.length === 1 ? '{}' : '{} to {}'} | ${why} |`,
    values: async () => {
      const ratios = ids.map((id) => simulatedByPredicted(id, ranks, segments)).sort((a, b) => a - b)
      return [...new Set([ratios[0], ratios.at(-1)!])].map((ratio) => figure(ratio, 2))
    },
  }
}

export const modelFigures: readonly FigureLine[] = [
  row(
    ['bcast-binomial', 'scatter-binomial', 'scan-recursive-doubling', 'allreduce-tree'],
    'a rank sends to several others at once; the messages share its link in the simulation, while the formula counts each as if alone',
  ),
  row(
    ['bcast-chain'],
    'the formula lets a rank forward a segment while the next arrives and takes the gap as the only limit; in the simulation the root offers all segments at once, and they share its link',
    ...([8, ' in 8 segments, 8 ranks', 8] as const),
  ),
  row(['barrier-linear'], 'the formula counts one message for all that go to the root'),
  row(
    ['barrier-dissemination', 'alltoall-pairwise'],
    'the formula takes the gap instead of an overhead in every step',
  ),
  row(
    ['reduce-linear', 'allreduce-linear'],
    'the formula receives and combines one after the other, and the bytes of one message twice',
  ),
  row(
    ['barrier-tree', 'reduce-tree', 'gather-binomial', 'allgather-bruck', 'alltoall-bruck'],
    'in the simulation a frame leaves as soon as its blocks are there, before its step',
    ...([11, ', 11 ranks'] as const),
  ),
  row(
    ['allreduce-recursive-doubling', 'allreduce-rabenseifner', 'reduce-scatter-recursive-halving'],
    "a rank that is not folded starts its exchange at once, while its partner still receives a folded rank's vector; both share a link",
    ...([11, ', 11 ranks'] as const),
  ),
  {
    ...{ page, isLong: true },
    line: 'For six buckets it says {} ms; the source measured 260.8.',
    values: async () => {
      const words = 'models allgather --machine torus:dims=32x32x32,profile=bluegene-p --bytes 16384 --json'
      const { algorithms } = JSON.parse(await printed(words)) as {
        algorithms: readonly { algorithm: string; timeUs: number }[]
      }
      const six = algorithms.find(({ algorithm }) => algorithm === 'allgather-bucket:ports=6,shuffle=1')!
      return [figure(six.timeUs / 1000, 1)]
    },
  },
]
