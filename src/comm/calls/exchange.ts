/**
 * The processes of a communicator during one collective: the only way in which a collective's algorithm
 * communicates with other processes. Peers are process indices in `CommContext.processes`.
 */
export interface Exchange {
  /** My process index. */
  readonly me: number
  /** Processes of the communicator. */
  readonly count: number
  /** Which collective of its lane this is: the same number on all processes. */
  readonly seq: number
  /**
   * Sends bytes of any length to a process, which receives them with the same `step` (0 to 2^31 - 1). The payload is
   * read before this returns. Messages of one (sender, step) keep their order.
   */
  send(peer: number, step: number, payload: Uint8Array): void
  /** The next bytes of (peer, step): a fresh copy at offset 0 of its own 8-byte aligned buffer. */
  receive(peer: number, step: number): Promise<Uint8Array>
  /**
   * Hands `take` the next bytes of (peer, step): now if they have arrived, else while their frame is being delivered.
   * For collectives that a promise per frame would slow down. If `take` throws, the collective fails.
   */
  take(peer: number, step: number, take: Take): void
  /** Completes a collective whose `run` returned nothing: what each hosted rank gets, by local index. */
  finish(results: readonly unknown[]): void
}

/**
 * @param owned true: the callee may keep the bytes, as from {@link Exchange.receive}; false: valid until it returns
 */
export type Take = (bytes: Uint8Array, owned: boolean) => void

/** A copy that is never a view of pooled memory, so that a typed array of any element type can view it. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.byteLength)
  copy.set(bytes)
  return copy
}
