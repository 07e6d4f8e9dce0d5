import { isRankweaveError, type RankweaveError, wrongValue } from '../../errors.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { decodeError, encodeError } from '../../messages/process/error-record.js'
import { frameKind } from '../../messages/process/frames.js'
import { withPlaces } from './call-report.js'
import type { Lane } from './lane.js'

/**
 * The most processes for which the process that revokes a communicator informs all others itself. That takes one hop,
 * also past processes that compute without awaiting. With more, P processes that revoke at the same time would send P^2
 * frames.
 */
const directUpTo = 64

/**
 * Returns the distances, in process indices, at which a process informs others that the communicator is revoked. It
 * informs each process once, when it revokes the communicator or first learns of it. If a single process learns it,
 * every process does, within lg(count) hops. That holds also when fewer than lg(count) others are lost on the way, so
 * the initiator may be lost while it sends.
 *
 * @see Angskun, Bosilca, Dongarra: Binomial Graph: A Scalable and Fault-Tolerant Logical Network Topology (ISPA 2007)
 */
export function revocationDistances(count: number, direct: boolean): number[] {
  const distances: number[] = []
  for (let distance = 1; distance < count; distance = direct ? distance + 1 : distance * 2) {
    distances.push(distance)
  }
  return distances
}

/** Records whether and why the collectives of a communicator are revoked, in one process. */
export class Revocation {
  /**
   * True once the last call of the communicator has begun here. Other processes may then have left it and pass nothing
   * on.
   */
  hasLastCall = false
  /** A mismatch that ranks here get only when its other process has added its own line of the program, or has failed. */
  unanswered: { readonly process: number; readonly error: RankweaveError } | undefined
  readonly #state: CommContext
  readonly #lanes: ReadonlyMap<number, Lane>
  #isRevoked = false

  constructor(state: CommContext, lanes: ReadonlyMap<number, Lane>) {
    this.#state = state
    this.#lanes = lanes
  }

  /** Fails the communicator here and on every other process. */
  revoke(error: RankweaveError): void {
    const state = this.#state
    if (state.failed !== undefined) return
    this.#start(error)
    state.fail(error)
  }

  #start(error: RankweaveError): void {
    this.#isRevoked = true
    const isDirect = this.hasLastCall || this.#state.processes.count <= directUpTo
    inform(this.#state, this.#encoded(error), isDirect)
  }

  /**
   * Handles the report of another process that the communicator is revoked. The first error that fails it here remains
   * its error.
   */
  arrived(src: number, payload: Uint8Array): void {
    const unanswered = this.unanswered
    if (this.#isRevoked && unanswered === undefined) return
    // The error is decoded before it is passed on, because a process that passes on a malformed frame is taken for its
    // author.
    const error = decodeError(payload)
    if (!isRankweaveError(error))
      throw wrongValue('ERR_PROTOCOL', 'revoke: expected an error with a code', error.name)
    const state = this.#state
    const isMismatch = error.code === 'ERR_COLLECTIVE_MISMATCH'
    const { process } = error.details
    const found = isMismatch ? withPlaces(state, this.#lanes.values(), error) : undefined
    if (unanswered !== undefined) {
      // The error is the answer, or a mismatch that another process found at the same time.
      const isAnswer = process === unanswered.process && src === process
      state.fail(isAnswer ? error : (found ?? unanswered.error))
      return
    }
    this.#isRevoked = true
    const told = found ?? error
    if (isMismatch && process === state.runtime.process) this.#answer(src, told)
    inform(state, payload, false)
    state.fail(told)
  }

  /** Returns the error to the process that revoked, with what this process knows of its own call. */
  #answer(process: number, error: RankweaveError): void {
    const { id, runtime } = this.#state
    const header = Int32Array.of(frameKind.revoke, id.leader, id.counter)
    runtime.send(process, header, this.#encoded(error))
  }

  /**
   * Fails the communicator because calls differ. If the world diagnoses and the other call is of another process, the
   * ranks here get the error once that process answers or fails.
   */
  disagree(error: RankweaveError): void {
    const state = this.#state
    const { process } = error.details
    if (state.runtime.callSites === undefined || typeof process !== 'number') {
      this.revoke(error)
      return
    }
    if (state.failed !== undefined || this.unanswered !== undefined) return
    this.unanswered = { process, error }
    this.#start(error)
  }

  #encoded(error: RankweaveError): Uint8Array {
    return encodeError(error, this.#state.runtime.fabric.maxPayloadBytes)
  }
}

function inform(state: CommContext, payload: Uint8Array, direct: boolean): void {
  const { id, runtime, processIndex } = state
  const { count, processes } = state.processes
  const header = Int32Array.of(frameKind.revoke, id.leader, id.counter)
  for (const distance of revocationDistances(count, direct)) {
    runtime.send(processes.at((processIndex + distance) % count), header, payload)
  }
}
