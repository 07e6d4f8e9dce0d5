/** The values of a program during one run: frames are packed from them, and unpacked into them. */
export interface FrameStore {
  /** The bytes of a frame to send; read before the next call. */
  pack(frame: number): Uint8Array
  /** @param owned whether the store may retain `bytes`; else they are lent */
  unpack(frame: number, bytes: Uint8Array, owned: boolean): void
}
