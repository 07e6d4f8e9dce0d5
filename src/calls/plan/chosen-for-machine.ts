import { joinWork, type SharedWork } from '../../base/turn.js'
import type { CombinationOrder } from '../../collective/patterns/algorithm.js'
import { gridOfMachine } from '../../collective/ways/machine-grid.js'
import { chooseForPlaces } from '../../cost/choose/choose-algorithm.js'
import { isRankweaveError } from '../../errors.js'
import { type Machine, machineOfCores } from '../../machine/machine.js'
import type { Collective } from '../../schedule/specification.js'

interface WantedAlgorithm {
  readonly machine: Machine
  readonly coreOf: Int32Array
  /**
   * The first rank of every participant, then the number of ranks, if a reduction is combined along the tree; otherwise
   * null.
   */
  readonly firstRank: Int32Array | null
  readonly collective: Collective
  readonly bytes: number
  readonly order: CombinationOrder
  readonly canCut: boolean
}

/** The choices of this thread. Logical processes in the same places need the same choices. */
const recent: { readonly wanted: WantedAlgorithm; readonly line: string | null }[] = []
const mostRecent = 64
const inFlight: SharedWork<WantedAlgorithm, string | null>[] = []

/**
 * Returns the algorithm that takes the least time, with its parameters and segments, as a line of text. It is null if
 * none serves, or if even the smallest schedule is too large to be simulated. The event loop is never held longer than
 * one simulation takes. A thread retains at most 64 choices.
 */
export async function chosenForMachine(wanted: WantedAlgorithm): Promise<string | null> {
  const known = recent.find((each) => areSame(each.wanted, wanted))
  if (known !== undefined) return known.line
  return joinWork(inFlight, wanted, areSame, async () => {
    const line = await chosenLine(wanted)
    recent.push({ wanted, line })
    if (recent.length > mostRecent) recent.shift()
    return line
  })
}

function areSame(a: WantedAlgorithm, b: WantedAlgorithm): boolean {
  return (
    a.machine === b.machine &&
    a.collective === b.collective &&
    a.bytes === b.bytes &&
    a.order === b.order &&
    a.canCut === b.canCut &&
    isSameList(a.coreOf, b.coreOf) &&
    isSameList(a.firstRank, b.firstRank)
  )
}

function isSameList(a: Int32Array | null, b: Int32Array | null): boolean {
  if (a === null || b === null) return a === b
  return a.length === b.length && a.every((value, i) => value === b[i])
}

async function chosenLine(wanted: WantedAlgorithm): Promise<string | null> {
  const { machine, coreOf, firstRank, collective, bytes, order, canCut } = wanted
  const ranks = coreOf.length
  const grid = gridOfMachine(machine, coreOf, ranks)
  const cores = coreOf.slice().sort()
  const slotOfCore = new Map(Array.from(cores, (core, slot) => [core, slot]))
  const slotOf = coreOf.map((core) => slotOfCore.get(core)!)
  const shape = {
    ...{ ranks, root: 0 },
    ...(firstRank === null ? {} : { firstRank }),
    ...(grid === undefined ? {} : { grid }),
  }
  try {
    const placed = { shape, slotOf, bytes, order, canCut }
    return (await chooseForPlaces(collective, machineOfCores(machine, cores), placed))?.algorithm ?? null
  } catch (error) {
    if (isRankweaveError(error, 'ERR_SCHEDULE') || isRankweaveError(error, 'ERR_SIMULATION')) return null
    throw error
  }
}
