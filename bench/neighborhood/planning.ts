import { parseMachine } from '../../src/machine/machine-text.js'
import { chooseStrategy } from '../../src/neighborhood/choose/choose-strategy.js'
import { plan, planStatistics } from '../../src/neighborhood/plan/plan.js'
import { parseStrategy } from '../../src/neighborhood/strategies/strategies.js'
import { verify } from '../../src/schedule/verify/verify.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import { type BenchOptions, type Figure, ownFigure } from '../bench.js'

/**
 * Sends per rank of Moore neighborhoods of radius 4 on 4,096 ranks, 32 per node: mean, counted from the
 * schedule.
 */
const counts = [
  { strategy: 'direct', mean: 80 },
  { strategy: 'common-neighbor:k=2,mode=agnostic,dedupe=false,elide=false', mean: 43 },
  { strategy: 'common-neighbor:k=4,mode=agnostic,dedupe=false,elide=false', mean: 38 },
  { strategy: 'common-neighbor:k=2,mode=aware,dedupe=false,elide=false', mean: 46 },
] as const

/** Messages of published figures; what planning and proving a large schedule takes; what choosing takes. */
export function* messagesAndPlanning({ quick = false }: BenchOptions): Iterable<Figure> {
  const machine = parseMachine('cluster:nodes=128,cores=32')
  const topology = buildTopology('moore:64x64:r=4')
  for (const { strategy, mean } of counts) {
    const { messages } = planStatistics(plan(topology, parseStrategy(strategy), { machine }))
    yield {
      case: `moore:64x64:r=4 ${strategy}: messages per rank`,
      unit: 'messages',
      ours: messages.meanPerRank,
      peer: mean,
      ratio: messages.meanPerRank / mean,
      target: mean,
      targetIs: 'exactly',
      met: messages.meanPerRank === mean,
      runs: 1,
    }
  }
  yield* large(quick ? 256 : 1024, quick)
  const profiled = parseMachine('cluster:nodes=256,cores=16,profile=simgrid-slow')
  const begin = performance.now()
  const { considered, chosen } = chooseStrategy(topology, profiled, { bytes: 256 })
  yield ownFigure('auto, moore:64x64:r=4, 4,096 ranks, 256 B', 's', [(performance.now() - begin) / 1000], 5, {
    considered,
    strategy: chosen.strategy,
  })
}

/** A Moore neighborhood of radius 2 on a square of ranks, routed by radices of 16: planned, then proved. */
function* large(side: number, quick: boolean): Iterable<Figure> {
  const ranks = side * side
  const topology = buildTopology(`moore:${side}x${side}:r=2`)
  const radices = Array.from({ length: Math.log2(ranks) / 4 }, () => 16)
  const begin = performance.now()
  const { schedule } = plan(topology, { kind: 'routed', radices })
  const planned = performance.now()
  const { ok } = verify(schedule)
  const proved = performance.now()
  if (!ok) throw new Error('the routed schedule does not verify')
  const target = quick ? null : 20
  const mebibytes = Math.round(process.resourceUsage().maxRSS / 1024)
  const name = `routed, moore:${side}x${side}:r=2, ${ranks.toLocaleString('en-US')} ranks`
  yield ownFigure(`${name}: planning`, 's', [(planned - begin) / 1000], target, { mebibytes })
  yield ownFigure(`${name}: proof`, 's', [(proved - planned) / 1000], target, { mebibytes })
  yield ownFigure(`${name}: most memory of the process`, 'MiB', [mebibytes], quick ? null : 4096)
}
