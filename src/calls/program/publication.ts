import { roundUp } from '../../base/bytes.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { decodeLocation, encodeLocation } from '../../messages/process/staging.js'
import type { Exchange } from '../exchange.js'

/** The bytes of a cache line. Each counter has its own. */
const line = 64

/** The memory in which a process publishes: a counter, and two places in turn. */
export interface Publication {
  /** The number of calls that the process has published, modulo 2^32. */
  readonly counter: Int32Array
  readonly places: readonly [Uint8Array, Uint8Array]
}

export function publicationBytes(placeBytes: number): number {
  return line + 2 * roundUp(placeBytes, line)
}

/** @param bytes as many as {@link publicationBytes} says, at a multiple of 64 */
export function publicationIn(bytes: Uint8Array, placeBytes: number): Publication {
  const place = (at: number) => bytes.subarray(at, at + placeBytes)
  return {
    counter: new Int32Array(bytes.buffer, bytes.byteOffset, 1),
    places: [place(line), place(line + roundUp(placeBytes, line))],
  }
}

/** A process whose publication this one reads, itself included. */
export interface PublishingPeer {
  /** The process index. */
  readonly peer: number
  readonly publication: Publication
}

/**
 * Tells whether the processes of a communicator read each other's memory and notice changes of it. The answer is the
 * same on all of them.
 */
export function canPublish({ runtime, processes, processIndex }: CommContext): boolean {
  const { staging, fabric } = runtime
  if (staging === undefined || fabric.watch === undefined || processes.count === 1) return false
  for (let i = 0; i < processes.count; i++)
    if (i !== processIndex && !staging.isSharedWith(processes.processes.at(i))) return false
  return true
}

/** Reserves memory for a publication until the communicator is freed; undefined if none is left. */
export function reservePublication(state: CommContext, placeBytes: number): Uint8Array | undefined {
  const bytes = state.runtime.staging!.reserve(publicationBytes(placeBytes), state)
  // The memory may have been used before.
  if (bytes !== undefined) publicationIn(bytes, placeBytes).counter[0] = 0
  return bytes
}

/**
 * Exchanges the places where processes publish. Each names all that it reads and all that read it.
 *
 * @param peers process indices, without this process
 * @param placeBytesOf length of the places of a process, this one included
 * @returns by process index, that of this process included
 */
export async function exchangePublications(
  { runtime, processes, processIndex }: CommContext,
  exchange: Exchange,
  own: Uint8Array,
  peers: readonly number[],
  placeBytesOf: (peer: number) => number,
  step: number,
): Promise<ReadonlyMap<number, PublishingPeer>> {
  const staging = runtime.staging!
  for (const peer of peers)
    exchange.send(peer, step, encodeLocation(staging.locate(processes.processes.at(peer), own)))
  const publication = publicationIn(own, placeBytesOf(processIndex))
  const found = new Map([[processIndex, { peer: processIndex, publication }]])
  for (const peer of peers) {
    const location = decodeLocation(await exchange.receive(peer, step))
    const placeBytes = placeBytesOf(peer)
    const bytes = staging.reach(processes.processes.at(peer), location, publicationBytes(placeBytes))
    found.set(peer, { peer, publication: publicationIn(bytes, placeBytes) })
  }
  return found
}
