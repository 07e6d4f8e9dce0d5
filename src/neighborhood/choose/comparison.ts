import { fastestAllgather, mostAllgatherRanks } from '../../cost/simulate/fastest-allgather.js'
import { RankweaveError } from '../../errors.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import type { Level } from '../../machine/profile.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Strategy } from '../strategies/strategy.js'
import { type AutoStrategy, parseAuto } from './auto.js'
import type { Choice } from './choice.js'
import { chooseStrategy } from './choose-strategy.js'

/** What `--strategy auto` and `--compare` were given. */
export interface ComparisonRequest {
  readonly auto: AutoStrategy | null
  readonly machine: Machine
  readonly bytes: number
}

/**
 * Null where no strategies are to be compared.
 *
 * @throws ERR_USAGE for a comparison without --machine or --bytes, and for --bytes that would have no effect
 * @throws ERR_MACHINE for one without a profile
 * @throws ERR_STRATEGY for options that `auto` does not have
 */
export function comparisonOf({
  strategy,
  machine,
  bytes,
  compare,
}: {
  readonly strategy: string
  readonly machine?: Machine | undefined
  readonly bytes?: number | undefined
  readonly compare: boolean
}): ComparisonRequest | null {
  const auto = parseAuto(strategy)
  if (auto === null && !compare) {
    if (bytes === undefined) return null
    throw new RankweaveError('ERR_USAGE', '--bytes: is for --strategy auto and --compare')
  }
  const what = auto === null ? '--compare' : '--strategy auto'
  if (auto?.bytes !== undefined && bytes !== undefined) {
    throw new RankweaveError(
      'ERR_USAGE',
      `--bytes: expected once, got ${bytes} and --strategy auto:bytes=${auto.bytes}`,
    )
  }
  const length = auto?.bytes ?? bytes
  if (machine === undefined) {
    throw new RankweaveError(
      'ERR_USAGE',
      `${what}: expected --machine with a profile, such as cluster:nodes=16,cores=16,profile=simgrid-fast`,
    )
  }
  if (length === undefined) {
    throw new RankweaveError('ERR_USAGE', `${what}: expected --bytes, the length of a block`)
  }
  profileOf(machine)
  return { auto, machine, bytes: length }
}

/** What the library considers, and beside it what a program without neighborhood collectives would do. */
export interface Compared {
  readonly choice: Choice
  readonly ordinary: Ordinary | null
}

/** An allgather of all blocks to all ranks, of which a rank picks those of its neighbors. */
export interface Ordinary {
  readonly algorithm: string
  readonly timeUs: number
  readonly messages: number
  readonly bytes: Readonly<Record<Level, number>>
}

/** @param named a strategy that is compared with those that the library considers */
export function compareStrategies(
  topology: ProcessTopology,
  { auto, machine, bytes }: ComparisonRequest,
  named: Strategy | null,
): Compared {
  const { budget } = auto ?? {}
  const choice = chooseStrategy(topology, machine, {
    bytes,
    ...(budget === undefined ? {} : { budget }),
    include: [...(named === null ? [] : [named]), ...friendGroups(topology, machine)],
  })
  return { choice, ordinary: ordinaryAllgather(topology.ranks, machine, bytes) }
}

/** Edges beyond which friend groups are not searched for to be compared, unless the budget covers it. */
export const mostFriendEdges = 2 ** 18

/** Groups of 2, 4 and 8: of ranks that share nodes where there are several nodes. */
function friendGroups({ ranks, outRank }: ProcessTopology, machine: Machine): Strategy[] {
  if (outRank.length > mostFriendEdges) return []
  const mode = machine.cores.length > 1 && machine.firstRank[1] > 1 ? 'aware' : 'agnostic'
  return [2, 4, 8].filter((k) => k <= ranks).map((k) => ({ kind: 'common-neighbor', k, mode }))
}

/** By its fastest algorithm; null for one rank, and for more than {@link mostAllgatherRanks}. */
function ordinaryAllgather(ranks: number, machine: Machine, bytes: number): Ordinary | null {
  if (ranks <= 1 || ranks > mostAllgatherRanks) return null
  const { algorithm, simulation } = fastestAllgather(ranks, machine, bytes)
  const { timeUs, traffic } = simulation
  const { process, package: near, node, network } = traffic
  return {
    algorithm,
    timeUs,
    messages: near.messages + node.messages + network.messages,
    bytes: { process: process.bytes, package: near.bytes, node: node.bytes, network: network.bytes },
  }
}

/** What `--compare` and the strategy auto add to the JSON object of a plan. */
export function choiceObject({ choice, ordinary }: Compared, planned: string) {
  const { alternatives, notSimulated, bytes, considered } = choice
  return {
    bytesPerBlock: bytes,
    chosen: planned,
    considered,
    alternatives,
    notSimulated,
    ordinaryAllgather: ordinary,
  }
}
