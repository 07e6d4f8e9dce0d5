import { elementSizeBytes, typeCode } from '../../messages/datatype/elements.js'
import { type Landing, landing, misfit } from '../../messages/datatype/payload.js'
import type { ReceiveBuffer } from '../../messages/datatype/strided-view.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { RankFailure } from '../collective-call.js'
import { deliver } from './deliver.js'

/**
 * The destination that a rank has for a result: a buffer to be filled, undefined for a fresh array, null for nothing.
 */
export type Wanted = ReceiveBuffer | undefined | null

/**
 * The memory in which a result of several ranks of a process arrives: the buffer of one of them. A process with one
 * rank thus copies nothing; otherwise the others get copies.
 */
export class SharedLanding {
  /** The memory, to be filled before {@link results}. */
  readonly bytes: Uint8Array
  readonly #state: CommContext
  readonly #type: number
  readonly #wanted: readonly Wanted[]
  readonly #landing: Landing | undefined
  /** The local index of the rank whose buffer it is; -1 if the result fits none. */
  readonly #owner: number

  /**
   * @param wanted by local index
   * @param mayFill whether the buffer of a rank may be filled before all its ranks' data have been read
   */
  constructor(
    state: CommContext,
    type: number,
    sizeBytes: number,
    wanted: readonly Wanted[],
    mayFill: (localIndex: number) => boolean = () => true,
  ) {
    const countElems = countOf(type, sizeBytes)
    this.#state = state
    this.#type = type
    this.#wanted = wanted
    this.#owner = wanted.findIndex(
      (into, i) => into !== null && misfit(type, countElems, into) === undefined && mayFill(i),
    )
    if (this.#owner >= 0)
      this.#landing = landing(type, countElems, sizeBytes, wanted[this.#owner] ?? undefined)
    this.bytes = this.#landing?.bytes ?? new Uint8Array(sizeBytes)
  }

  /** Returns the result of each rank, by local index: null for those that want nothing. */
  results(): unknown[] {
    return this.#wanted.map((into, localIndex) => {
      if (into === null) return null
      if (localIndex !== this.#owner) return deliver(this.#state, this.#type, this.bytes, into)
      return this.#landing!.finish()
    })
  }
}

/** Returns the memory for blocks that only one rank gets: a failure if they do not fit. */
export function landingOf(type: number, sizeBytes: number, into: ReceiveBuffer | undefined) {
  const countElems = countOf(type, sizeBytes)
  const error = misfit(type, countElems, into)
  return error === undefined ? landing(type, countElems, sizeBytes, into) : new RankFailure(error)
}

function countOf(type: number, sizeBytes: number): number {
  return type === typeCode.value ? 1 : sizeBytes / elementSizeBytes(type)
}
