import type { ProfileSummary } from '../profile/summary.js'
import { percentText } from '../text/printable.js'
import type { PlacementPlan } from './placement.js'

/** The changes to how a program is started that `advise` knows, in the order in which it tries them. */
export const changeNames = [
  'placement',
  'reordered ranks',
  'neighborhood plans',
  'collective settings',
] as const
export type ChangeName = (typeof changeNames)[number]

/** A change that the profile of a program makes possible. */
export interface PossibleChange {
  readonly name: ChangeName
  /**
   * The share of its time that the change can touch of the rank with the largest one, 0 to 1: an upper bound of what it
   * saves. Shares of several changes may add up to more than 1.
   */
  readonly share: number
  /** Says what it changes, as a sentence without its period. */
  readonly what: string
}

/** A change that is not tried, and why. */
export interface ImpossibleChange {
  readonly name: ChangeName
  readonly share: number
  /** The end of a sentence that begins with the name: `all ranks are on one node`. */
  readonly reason: string
  /** Whether more time would let it be tried. */
  readonly needsTime: boolean
  /** Whether runs had the change all the same. */
  readonly wasTried?: true
}

export interface Changes {
  readonly possible: readonly PossibleChange[]
  readonly impossible: readonly ImpossibleChange[]
}

/** Prints `at most 64% of the heaviest rank's time`: that of the rank whose share is largest. */
export const touchedText = (share: number) => `at most ${percentText(share)} of the heaviest rank's time`

/** A change that can touch less than this share of the time is not tried. */
export const leastShare = 0.03

/**
 * Returns what could be changed about a program, by its profile.
 *
 * @param placement planned for its traffic, or why there is none
 */
export function changesOf(
  { levers, nodes, reorders }: ProfileSummary,
  placement: PlacementPlan | string,
): Changes {
  const possible: PossibleChange[] = []
  const impossible: ImpossibleChange[] = []
  const consider = (change: PossibleChange, obstacle: string | null) => {
    const { name, share } = change
    const tooLittle = share < leastShare ? `it can save ${touchedText(share)}` : null
    const reason = obstacle ?? tooLittle
    if (reason === null) possible.push(change)
    else impossible.push({ name, share, reason, needsTime: false })
  }
  consider(
    {
      name: 'placement',
      share: levers.placement,
      what: typeof placement === 'string' ? '' : placementText(placement),
    },
    typeof placement === 'string' ? placement : null,
  )
  consider(
    {
      name: 'reordered ranks',
      share: levers.placement,
      what: 'in grids and graphs made with reorder = 1, fewer neighbors are on other nodes',
    },
    nodes < 2
      ? 'all ranks are on one node'
      : reorders === 0
        ? 'the program passes no reorder = 1 to MPI_Cart_create or MPI_Dist_graph_create'
        : null,
  )
  consider(
    {
      name: 'neighborhood plans',
      // A rank may be longest in one kind of calls and another in the other kind, so the sum bounds both.
      share: Math.min(levers.placement, levers.neighborhood + levers.sparseAlltoall),
      what: plansText(levers),
    },
    levers.neighborhood === 0 && levers.sparseAlltoall === 0 ? callsNoNeighborhood : null,
  )
  consider(
    {
      name: 'collective settings',
      share: levers.collectives,
      what: 'collectives run by the algorithms that were fastest in runs of the program',
    },
    levers.collectives === 0 ? 'the program calls no collective for which MPI has a choice' : null,
  )
  return { possible, impossible }
}

/** The reason why plans cannot be tried. A study can say what a neighborhood collective would bring. */
export const callsNoNeighborhood =
  'the program calls no neighborhood collective, and no MPI_Alltoallv with mostly empty messages'

function plansText({ neighborhood, sparseAlltoall }: ProfileSummary['levers']): string {
  const texts = [
    neighborhood === 0 ? [] : 'messages of neighborhood collectives are combined, or read in shared memory',
    sparseAlltoall === 0
      ? []
      : 'MPI_Alltoallv and MPI_Alltoallw send no empty blocks from call 33 on at the earliest',
  ]
  return texts.flat().join('; ')
}

function placementText({ packages, today, planned }: PlacementPlan): string {
  const count = (value: number) => value.toLocaleString('en-US')
  return (
    `${count(planned.messages)} messages go between ${packages === undefined ? 'nodes' : 'packages of cores'} instead of ${count(today.messages)}, ` +
    `${count(planned.bytes)} bytes instead of ${count(today.bytes)}`
  )
}
