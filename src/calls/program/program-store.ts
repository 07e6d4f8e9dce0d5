import { noBytes } from '../exchange.js'

/**
 * The values of a program during one run. When the run starts, it holds what the ranks contribute; when it is
 * done, all values. Frames and combinations are numbered as in the program.
 */
export interface ProgramStore {
  /**
   * The bytes of a frame to send, whose values are there. They must not change until the exchange has sent
   * them: a view of the values, or packed.
   */
  pack(frame: number): Uint8Array
  /**
   * Where a frame to receive is written, exactly as long as the frame: asked once per run, when the receive
   * is posted, and written until `landed`. Undefined for a frame that is to be unpacked.
   */
  landing(frame: number): Uint8Array | undefined
  /** Whether a frame with a landing need not be copied there where this process can read it in place. */
  lends?(frame: number): boolean
  /** Such a frame in place. @param release called when its values are read no more, before the run is done */
  lend?(frame: number, bytes: Uint8Array, release: () => void): void
  /**
   * The bytes of a frame without a landing.
   * @param owned whether the store may retain them; else they are lent
   */
  unpack(frame: number, bytes: Uint8Array, owned: boolean): void
  /** Makes the value of a combination, whose operands are there. */
  combine(combination: number): void
  /** Of a store whose values lie apart: its frames, instead of `pack`, `landing` and `unpack`. */
  readonly pieces?: FramePieces
}

/**
 * Frames as messages of any number each, so that values are sent from where they are. Both ends know number
 * and lengths.
 */
export interface FramePieces {
  /** The messages of a frame to send, whose values are there: like what `pack` returns. */
  sent(frame: number): readonly Uint8Array[]
  /**
   * Where the messages of a frame to receive are written, exactly as long as they are; null for one that is
   * not wanted. Asked once per run, when the receives are posted.
   */
  received(frame: number): readonly (Uint8Array | null)[]
}

/** Of a barrier: its frames are empty, and so is what is combined. */
export const emptyStore: ProgramStore = {
  pack: () => noBytes,
  landing: () => undefined,
  unpack() {},
  combine() {},
}
