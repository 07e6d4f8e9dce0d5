import { requireOptions } from '../../base/require-options.js'
import { checkMachine } from '../../machine/check-machine.js'
import { type Machine, nodeOf } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import type { Level } from '../../machine/profile.js'
import { simulate } from '../../simulate/simulate.js'
import { distinctOut } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { type PlanOptions, plan, routeOf } from '../plan/plan.js'
import type { Strategy } from '../plan/strategy.js'
import { formatStrategy } from '../plan/strategy-text.js'
import { checkAuto, defaultBudget } from './auto.js'
import { type Candidate, candidatesOf } from './candidates.js'
import type { Alternative, Choice } from './choice.js'
import { estimateUs } from './estimate.js'
import { type HopLoad, routeLoad } from './route-load.js'

export interface ChooseOptions extends Pick<PlanOptions, 'now'> {
  /** Of every block: an integer from 0 to 2^40. */
  readonly bytes: number
  /** Strategies that are planned and simulated, besides direct sends. Default {@link defaultBudget}. */
  readonly budget?: number
  /** Strategies that are planned and simulated as well, whatever is expected of them. */
  readonly include?: readonly Strategy[]
}

/** Further strategies are planned and simulated only while all together move fewer blocks than this. */
export const mostMoves = 3 * 2 ** 19

/**
 * The strategy by which a neighbor allgather takes the least time on a machine, as the simulator predicts it. Candidates
 * are ranked by an estimate; the best, and direct sends, are planned and simulated. The choice is a function of topology,
 * machine, bytes and budget: the same in every process, however fast it is. Of equal times, the simpler strategy is chosen.
 *
 * Time: that of {@link routeLoad} per candidate, of which there are several hundred, and what the plans and simulations of
 * {@link mostMoves} blocks take.
 *
 * @throws ERR_MACHINE for a machine without a profile, or with fewer cores than ranks
 * @throws ERR_STRATEGY for bytes or a budget that are none
 */
export function chooseStrategy(topology: ProcessTopology, machine: Machine, options: ChooseOptions): Choice {
  requireOptions('chooseStrategy', options)
  const { bytes, budget = defaultBudget, include = [], now = () => performance.now() } = options
  checkAuto({ kind: 'auto', bytes, budget })
  checkMachine(machine)
  profileOf(machine)
  const { ranks } = topology
  const nodes = nodeOf(machine, ranks)
  const destinations = distinctOut(topology)
  const ranked: Ranked[] = []
  for (const [order, candidate] of [direct, ...candidatesOf(topology, nodes)].entries()) {
    const { strategy, mostPeers, leastLoad } = candidate
    const route = () => routeOf(topology, strategy, { nodeOf: nodes })
    const load = leastLoad ?? routeLoad(route(), destinations, nodes, mostPeers)
    ranked.push({ candidate, order, load, estimatedUs: estimateUs(load, machine, ranks, bytes) })
  }
  const [ofDirect, ...others] = ranked
  others.sort((a, b) => a.estimatedUs - b.estimatedUs || a.order - b.order)
  const found: Simulated[] = []
  let moves = 0
  for (const each of [ofDirect, ...bestOfKinds(others)]) {
    if (found.length > budget) break
    moves += movesOf(each.load, ranks)
    if (moves > mostMoves && found.length > 1) break
    found.push({ ...each, ...simulated(topology, machine, each.candidate.strategy, bytes, now) })
  }
  for (const strategy of include) {
    if (found.some(({ alternative }) => alternative.strategy === formatStrategy(strategy))) continue
    const alternative = simulated(topology, machine, strategy, bytes, now)
    found.push({
      candidate: { ...direct, strategy },
      order: ranked.length,
      load: [],
      estimatedUs: 0,
      ...alternative,
    })
  }
  const alternatives = found
    .map(({ alternative, ...rest }) => ({
      ...rest,
      alternative: { ...alternative, breakEvenStarts: breakEven(alternative, found[0].alternative) },
    }))
    .sort((a, b) => a.alternative.timeUs - b.alternative.timeUs || a.order - b.order)
  const [best] = alternatives
  return {
    strategy: best.candidate.strategy,
    chosen: best.alternative,
    alternatives: alternatives.map(({ alternative }) => alternative),
    considered: ranked.length,
    bytes,
  }
}

const direct: Candidate = { strategy: { kind: 'direct' }, mostPeers: null }

interface Ranked {
  readonly candidate: Candidate
  /** Its place among the candidates, simplest first. */
  readonly order: number
  readonly load: readonly HopLoad[]
  readonly estimatedUs: number
}

interface Simulated extends Ranked {
  readonly alternative: Alternative
}

/**
 * The best of every kind, then the others, of which the least that they do was estimated last: an estimate errs more between kinds
 * than within one. Of one kind, candidates that do the same are left out but for the first.
 *
 * @param ranked best first
 */
function bestOfKinds(ranked: readonly Ranked[]): Ranked[] {
  const known = new Set<string>()
  const [first, others, last]: [Ranked[], Ranked[], Ranked[]] = [[], [], []]
  for (const each of ranked) {
    const { strategy, leastLoad } = each.candidate
    const { kind } = strategy
    const same = `${kind} ${JSON.stringify(each.load)}`
    if (known.has(same)) continue
    if (leastLoad !== undefined) last.push(each)
    else if (known.has(kind)) others.push(each)
    else first.push(each)
    known.add(same).add(kind)
  }
  return [...first, ...last.slice(0, 1), ...others, ...last.slice(1)]
}

/** Blocks that all ranks send. */
function movesOf(load: readonly HopLoad[], ranks: number): number {
  return ranks * load.reduce((sum, { blocks }) => sum + blocks[0] + blocks[1], 0)
}

function simulated(
  topology: ProcessTopology,
  machine: Machine,
  strategy: Strategy,
  bytes: number,
  now: () => number,
): { readonly alternative: Alternative } {
  const { schedule, planMs } = plan(topology, strategy, { machine, now })
  const { timeUs, traffic } = simulate(schedule, machine, { bytes })
  const ofLevel = (level: Level) => traffic[level]
  return {
    alternative: {
      strategy: formatStrategy(strategy),
      parameters: schedule.parameters,
      timeUs,
      isSimulated: true,
      messages: ofLevel('package').messages + ofLevel('node').messages + ofLevel('network').messages,
      bytes: {
        process: ofLevel('process').bytes,
        package: ofLevel('package').bytes,
        node: ofLevel('node').bytes,
        network: ofLevel('network').bytes,
      },
      planMs,
      breakEvenStarts: null,
    },
  }
}

/** Planning beyond what direct sends need, divided by what a start saves. */
function breakEven({ timeUs, planMs }: Alternative, ofDirect: Alternative): number | null {
  const savedUs = ofDirect.timeUs - timeUs
  if (savedUs <= 0) return null
  return Math.ceil((1000 * Math.max(0, planMs - ofDirect.planMs)) / savedUs)
}
