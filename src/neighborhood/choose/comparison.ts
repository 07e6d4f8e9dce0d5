import { fastestAllgather, mostAllgatherRanks } from '../../cost/simulate/fastest-allgather.js'
import { sentIn } from '../../cost/simulate/traffic.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf, profileOrigin, profileRemark } from '../../machine/network.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Strategy } from '../strategies/strategy.js'
import type { Alternative, Choice } from './choice.js'
import { type ChooseOptions, chooseStrategy } from './choose-strategy.js'

/** The strategies that the library considers, compared with a program without neighborhood collectives. */
export interface Compared {
  readonly choice: Choice
  readonly ordinary: Ordinary | null
  /** The profile whose costs the simulated times use, and its origin. */
  readonly profile: string
  /** The reason why the times are less reliable than they seem; null if there is none. */
  readonly remark: string | null
}

/** An allgather of all blocks to all ranks, of which a rank picks those of its neighbors. */
interface Ordinary extends Pick<Alternative, 'timeUs' | 'messages' | 'bytes'> {
  readonly algorithm: string
}

/** @param options `include`: strategies to compare with those that the library considers */
export function compareStrategies(
  topology: ProcessTopology,
  machine: Machine,
  options: ChooseOptions,
): Compared {
  const include = [...(options.include ?? []), ...friendGroups(topology, machine)]
  const choice = chooseStrategy(topology, machine, { ...options, include })
  return {
    choice,
    ordinary: ordinaryAllgather(topology.ranks, machine, options.bytes),
    profile: profileOrigin(profileOf(machine)),
    remark: profileRemark(machine),
  }
}

/** Friend groups are compared for at most so many edges, unless the budget covers the search for them. */
export const mostFriendEdges = 2 ** 18

/** Lists groups of 2, 4 and 8, of ranks that share nodes if there are several nodes. */
function friendGroups({ ranks, outRank }: ProcessTopology, machine: Machine): Strategy[] {
  if (outRank.length > mostFriendEdges) return []
  const mode = machine.cores.length > 1 && machine.firstRank[1] > 1 ? 'aware' : 'agnostic'
  return [2, 4, 8].filter((k) => k <= ranks).map((k) => ({ kind: 'common-neighbor', k, mode }))
}

/** Simulates the fastest ordinary allgather; null for one rank, and for more than {@link mostAllgatherRanks}. */
function ordinaryAllgather(ranks: number, machine: Machine, bytes: number): Ordinary | null {
  if (ranks <= 1 || ranks > mostAllgatherRanks) return null
  const { algorithm, simulation } = fastestAllgather(ranks, machine, bytes)
  return { algorithm, timeUs: simulation.timeUs, ...sentIn(simulation.traffic) }
}

/** The part of a plan's JSON object that a comparison adds. */
export interface ReportedChoice extends Pick<Choice, 'considered' | 'alternatives' | 'notSimulated'> {
  readonly bytesPerBlock: number
  /** The text of the planned strategy. */
  readonly chosen: string
  readonly ordinaryAllgather: Ordinary | null
  readonly profile: string
  readonly remark: string | null
  /** The origins of the figures of alternatives; derived means computed from both other kinds. */
  readonly origins: typeof origins
}

const origins = { timeUs: 'simulated', planMs: 'measured', breakEvenStarts: 'derived' } as const

export function choiceObject(
  { choice, ordinary, profile, remark }: Compared,
  planned: string,
): ReportedChoice {
  const { alternatives, notSimulated, bytes, considered } = choice
  return {
    bytesPerBlock: bytes,
    chosen: planned,
    considered,
    alternatives,
    notSimulated,
    ordinaryAllgather: ordinary,
    ...{ profile, remark, origins },
  }
}
