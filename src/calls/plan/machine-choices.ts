import { sizeClass } from '../../base/bytes.js'
import { joinWork, type SharedWork, whileLoading } from '../../base/turn.js'
import { parseAlgorithm } from '../../collective/algorithm-text.js'
import type { Algorithm, CombinationOrder } from '../../collective/patterns/algorithm.js'
import { gridOfMachine } from '../../collective/ways/machine-grid.js'
import { isRankweaveError } from '../../errors.js'
import { type Machine, machineOfCores } from '../../machine/machine.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Collective } from '../../schedule/specification.js'
import { coresOfParticipants, type Participants, type WholeKind } from './participants.js'

// This file connects calls to the simulator. A call with `algorithm: 'auto'` takes its place among the calls of its
// communicator at once, like any other. Inside `run`, it is resolved. The answer is known, or a promise: the first call
// of a class loads the simulator and lets it choose. The number of a call is in its messages, so a later call may
// overtake one that chooses.
//
// Every process chooses for itself, and all choose alike. The choice depends only on the machine, the participants'
// places, the collective, the order that a reduction demands and the class of lengths. If only the root knows the
// length (bcast), the root chooses and names the algorithm in the head of the call.

/** A call whose algorithm the machine chooses, as far as the choice depends on it. */
interface MachineCall {
  readonly collective: Collective
  /**
   * The bytes of a unit of data, as MPI's count describes it. If not all processes that choose know it: which part of
   * the call it is, the `lists` that have lengths and short blocks, or the `long` blocks.
   */
  readonly sizeBytes: number | 'lists' | 'long'
  readonly kind: WholeKind
  /** The order that a reduction demands. */
  readonly order: CombinationOrder
  /** Whether units of data may be cut into parts. */
  readonly canCut: boolean
}

export interface MachineChoice {
  readonly algorithm: Algorithm
  readonly segments: number
  /** The class of calls for which the machine has chosen it, in words. */
  readonly chosenFor: string
}

/** The assumed bytes of blocks whose lengths only their origin knows. */
const assumedBytes = { lists: 1024, long: 65_536 }

/** The number of choices of a communicator that are retained in a process: those used last. */
export const mostMachineChoices = 64

/**
 * The choices of a world's machine for the collectives of one communicator, in one process. It chooses an algorithm for
 * each collective, order of combination and class of lengths; a class has lengths with the same nearest power of two.
 * Rooted collectives take the choice for root 0.
 */
export class MachineChoices {
  readonly #state: CommContext
  readonly #participantsOf: (kind: WholeKind) => Participants | null
  /** The choices by request; the one used last is at the end. */
  readonly #choices = new Map<string, MachineChoice | null | Promise<MachineChoice | null>>()

  constructor(state: CommContext, participantsOf: (kind: WholeKind) => Participants | null) {
    this.#state = state
    this.#participantsOf = participantsOf
  }

  get count(): number {
    return this.#choices.size
  }

  /**
   * Returns the algorithm of a call; null if the machine has none, so that another source decides. It is a promise if it
   * has to be chosen; calls of one class that begin meanwhile share it.
   */
  choiceFor(call: MachineCall): MachineChoice | null | Promise<MachineChoice | null> {
    const { collective, sizeBytes, kind, order, canCut } = call
    const size = typeof sizeBytes === 'string' ? sizeBytes : sizeClass(sizeBytes)
    const key = `${collective} ${kind} ${order} ${canCut} ${size}`
    const known = this.#choices.get(key)
    if (known !== undefined) this.#choices.delete(key)
    const found = known === undefined ? this.#choose(call) : known
    this.#choices.set(key, found)
    if (this.#choices.size > mostMachineChoices) this.#choices.delete(this.#choices.keys().next().value!)
    if (known === undefined && found instanceof Promise)
      found.then(
        (chosen) => this.#choices.has(key) && this.#choices.set(key, chosen),
        () => this.#choices.delete(key),
      )
    return found
  }

  async #choose({ collective, sizeBytes, kind, order, canCut }: MachineCall): Promise<MachineChoice | null> {
    const participants = this.#participantsOf(kind)
    if (participants === null) return null
    const bytes = sizeClass(typeof sizeBytes === 'string' ? assumedBytes[sizeBytes] : sizeBytes)
    const machine = this.#state.runtime.options.machine!
    const coreOf = coresOfParticipants(this.#state, participants)
    const firstRank = kind === 'pieces' ? participants.firstRank : null
    const line = await whileLoading(() =>
      chosenForMachine({ machine, coreOf, firstRank, collective, bytes, order, canCut }),
    )
    if (line === null) return null
    const { algorithm, segments = algorithm.sections ?? 1 } = parseAlgorithm(line, collective)
    return { algorithm, segments, chosenFor: `units of ${bytes} bytes` }
  }
}

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
async function chosenForMachine(wanted: WantedAlgorithm): Promise<string | null> {
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
  // The simulator is loaded by the first call that needs it.
  const { chooseForPlaces } = await import('../../cost/choose/choose-algorithm.js')
  try {
    const placed = { shape, slotOf, bytes, order, canCut }
    return (await chooseForPlaces(collective, machineOfCores(machine, cores), placed))?.algorithm ?? null
  } catch (error) {
    if (isRankweaveError(error, 'ERR_SCHEDULE') || isRankweaveError(error, 'ERR_SIMULATION')) return null
    throw error
  }
}
