import { fastestAllgather, mostAllgatherRanks } from '../../cost/simulate/fastest-allgather.js'
import { sentIn } from '../../cost/simulate/traffic.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { profileOrigin, profileRemark } from '../../machine/profile-remarks.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Strategy } from '../strategies/strategy.js'
import type { Alternative, Choice } from './choice.js'
import { type ChooseOptions, chooseStrategy } from './choose-strategy.js'

/** What the library considers, and beside it what a program without neighborhood collectives would do. */
export interface Compared {
  readonly choice: Choice
  readonly ordinary: Ordinary | null
  /** Of the costs that times are simulated with, and how they came about. */
  readonly profile: string
  /** Why the times say less than they seem to; null for no reason. */
  readonly remark: string | null
}

/** An allgather of all blocks to all ranks, of which a rank picks those of its neighbors. */
interface Ordinary extends Pick<Alternative, 'timeUs' | 'messages' | 'bytes'> {
  readonly algorithm: string
}

/** @param options `include`: strategies that are compared with those that the library considers */
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
  return { algorithm, timeUs: simulation.timeUs, ...sentIn(simulation.traffic) }
}

/** What a comparison adds to the JSON object of a plan. */
export interface ReportedChoice extends Pick<Choice, 'considered' | 'alternatives' | 'notSimulated'> {
  readonly bytesPerBlock: number
  /** The text of the strategy that is planned. */
  readonly chosen: string
  readonly ordinaryAllgather: Ordinary | null
  readonly profile: string
  readonly remark: string | null
  /** How the figures of alternatives came about; derived: from both. */
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
