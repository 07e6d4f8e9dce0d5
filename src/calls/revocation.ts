import type { CommContext } from '../messages/process/comm-context.js'
import { frameKind } from '../messages/process/frames.js'

/**
 * Up to this many processes, the process that revokes a communicator informs all others itself: one hop, also
 * past processes that compute without awaiting. Beyond, P processes that revoke at the same time would send
 * P^2 frames.
 */
const directUpTo = 64

/**
 * Distances, in process indices, at which a process informs others that the communicator is revoked: each
 * process once, when it revokes it or first learns that it is revoked. If a single process learns it, every
 * process does, within lg(count) hops and also when fewer than lg(count) others are lost on the way, so the
 * initiator may be lost while it sends.
 *
 * @see Angskun, Bosilca, Dongarra: Binomial Graph: A Scalable and Fault-Tolerant Logical Network Topology
 *   (ISPA 2007)
 */
export function revocationDistances(count: number, direct: boolean): number[] {
  const distances: number[] = []
  for (let distance = 1; distance < count; distance = direct ? distance + 1 : distance * 2) {
    distances.push(distance)
  }
  return distances
}

/**
 * Informs other processes that the communicator is revoked.
 *
 * @param payload the error, encoded
 * @param isLast the last call of the communicator has begun here: other processes may have left it and pass
 *   nothing on
 */
export function startRevocation(state: CommContext, payload: Uint8Array, isLast: boolean): void {
  inform(state, payload, isLast || state.processes.count <= directUpTo)
}

/** The same, in a process that learned it from another. */
export function passRevocation(state: CommContext, payload: Uint8Array): void {
  inform(state, payload, false)
}

/** Returns the error to the process that revoked, with what this process knows of its own call. */
export function answerRevocation({ id, runtime }: CommContext, process: number, payload: Uint8Array): void {
  runtime.send(process, Int32Array.of(frameKind.revoke, id.leader, id.counter), payload)
}

function inform(state: CommContext, payload: Uint8Array, direct: boolean): void {
  const { id, runtime, processIndex } = state
  const { count, processes } = state.processes
  const header = Int32Array.of(frameKind.revoke, id.leader, id.counter)
  for (const distance of revocationDistances(count, direct)) {
    runtime.send(processes.at((processIndex + distance) % count), header, payload)
  }
}
