import { whileLoading } from '../../base/loading.js'
import { sizeClass } from '../../base/size-class.js'
import { parseAlgorithm } from '../../collective/algorithm-text.js'
import type { CombinationOrder } from '../../collective/patterns/algorithm.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Collective } from '../../schedule/specification.js'
import type { Method } from './method.js'
import { coresOfParticipants } from './participant-places.js'
import type { Participants, WholeKind } from './participants.js'

// This file connects calls to the simulator. A call with `algorithm: 'auto'` takes its place among the calls of its
// communicator at once, like any other. Inside `run`, it requests a method that names an algorithm. The answer is
// known, or a promise: the first call of a class loads the simulator and lets it choose. The number of a call is in its
// messages, so a later call may overtake one that chooses.
//
// Every process chooses for itself, and all choose alike. The choice depends only on the machine, the participants'
// places, the collective, the order that a reduction demands and the class of lengths. If only the root knows the
// length (bcast), the root chooses and names the algorithm in the head of the call.

/** A call whose algorithm the machine chooses, as far as the choice depends on it. */
export interface MachineCall {
  readonly collective: Collective
  /** The bytes of a unit of data, as MPI's count describes it; null if not all processes that choose know it. */
  readonly sizeBytes: number | null
  /** The kind of participants. Default: all processes. */
  readonly kind?: WholeKind
  /** The order that a reduction demands. Default `any`. */
  readonly order?: CombinationOrder
  /** Whether units of data may be cut into parts. Default: yes. */
  readonly canCut?: boolean
}

/**
 * The assumed bytes of blocks whose lengths only their origin knows: of lists, which have lengths and short blocks, and
 * of long blocks.
 */
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
  /** The methods by request; the one used last is at the end. */
  readonly #methods = new Map<string, Method | Promise<Method>>()

  constructor(state: CommContext, participantsOf: (kind: WholeKind) => Participants | null) {
    this.#state = state
    this.#participantsOf = participantsOf
  }

  get count(): number {
    return this.#methods.size
  }

  /**
   * Returns the method of a call that says `auto`. It names an algorithm, or none if the machine has none, so that the
   * rule decides. It is a promise if it has to be chosen; calls of one class that begin meanwhile share it.
   *
   * @param method what the ranks pass
   */
  methodFor(method: Method, call: MachineCall): Method | Promise<Method> {
    const { collective, sizeBytes, kind = 'processes', order = 'any', canCut = true } = call
    const size = sizeBytes === null ? 'unknown' : sizeClass(sizeBytes)
    const key = `${collective} ${kind} ${order} ${canCut} ${size} ${method.name}`
    const known = this.#methods.get(key)
    if (known !== undefined) this.#methods.delete(key)
    const found = known ?? this.#choose(method, { collective, sizeBytes, kind, order, canCut })
    this.#methods.set(key, found)
    if (this.#methods.size > mostMachineChoices) this.#methods.delete(this.#methods.keys().next().value!)
    if (known === undefined && found instanceof Promise)
      found.then(
        (chosen) => this.#methods.has(key) && this.#methods.set(key, chosen),
        () => this.#methods.delete(key),
      )
    return found
  }

  async #choose(method: Method, call: Required<MachineCall>): Promise<Method> {
    if (call.sizeBytes !== null) return this.#chosen(method, call, call.sizeBytes)
    const lists = await this.#chosen(method, call, assumedBytes.lists)
    return { ...lists, long: await this.#chosen(method, call, assumedBytes.long) }
  }

  async #chosen(method: Method, call: Required<MachineCall>, sizeBytes: number): Promise<Method> {
    const { collective, kind, order, canCut } = call
    const participants = this.#participantsOf(kind)
    if (participants === null) return method
    const bytes = sizeClass(sizeBytes)
    const line = await whileLoading(async () => {
      const { chosenForMachine } = await import('./chosen-for-machine.js')
      const { machine } = this.#state.runtime.options
      const coreOf = coresOfParticipants(this.#state, participants)
      const firstRank = kind === 'pieces' ? participants.firstRank : null
      return chosenForMachine({ machine: machine!, coreOf, firstRank, collective, bytes, order, canCut })
    })
    if (line === null) return method
    const { algorithm, segments = algorithm.sections ?? 1 } = parseAlgorithm(line, collective)
    const { isAuto: _, ...named } = method
    return { ...named, algorithm, segments, chosenFor: `units of ${bytes} bytes` }
  }
}
