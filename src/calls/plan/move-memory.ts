import { typeCode } from '../../messages/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import type { ValueMemory } from '../../schedule/lower/value-memory.js'
import { ElementStore, type LengthOf } from './element-store.js'

/** The most bytes of the blocks of a call whose memory is retained for the next one. */
export const mostRetainedBytes = 65_536

/** The blocks of a program that moves short blocks of one length, process by process; retained from call to call. */
export class MoveMemory {
  /** The length of a block for which it was made. */
  readonly sizeBytes: number
  /** The contributions of the ranks here side by side; `slots` holds their results. */
  readonly own: Uint8Array
  readonly slots: Uint8Array
  readonly store: ElementStore

  constructor(
    program: ProcessProgram,
    memory: ValueMemory,
    sizeBytes: number,
    lengthOf: LengthOf,
    ownBytes: number,
  ) {
    this.sizeBytes = sizeBytes
    this.store = new ElementStore(program, memory, typeCode.Uint8Array, lengthOf, undefined)
    this.own = new Uint8Array(ownBytes)
    this.slots = new Uint8Array(this.store.slotElems)
  }

  /** Begins a run, when `own` is filled. */
  bind(): ElementStore {
    this.store.bind([this.own], this.slots)
    return this.store
  }

  get isRetained(): boolean {
    return this.own.byteLength + this.slots.byteLength <= 2 * mostRetainedBytes
  }
}
