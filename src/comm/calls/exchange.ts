/**
 * The processes of a communicator during one collective: the only means by which a collective's algorithm talks
 * to other processes. Indices are process indices of `CommContext.processes`.
 */
export interface Exchange {
  /** My process index. */
  readonly me: number
  /** Processes of the communicator. */
  readonly count: number
  /** Which collective of its lane this is: the same number on all processes. */
  readonly seq: number
  /**
   * Sends bytes to a process, which receives them with the same `step` (0 to 2^31 - 1). Read before this returns;
   * any length. Messages of one (sender, step) keep their order.
   */
  send(peer: number, step: number, payload: Uint8Array): void
  /** The next bytes of (peer, step): a fresh copy at offset 0 of its own 8-byte aligned buffer. */
  receive(peer: number, step: number): Promise<Uint8Array>
  /**
   * Hands `take` the next bytes of (peer, step): now if they are here, else while their frame is being delivered. For
   * collectives that a promise per frame would slow down. What `take` throws fails the collective.
   */
  take(peer: number, step: number, take: Take): void
  /** Ends a collective whose `run` returned nothing: what each hosted rank gets, by local index. */
  finish(results: readonly unknown[]): void
}

/** @param owned whether the bytes are the taker's, as {@link Exchange.receive} gives them; else lent until it returns */
export type Take = (bytes: Uint8Array, owned: boolean) => void

/** Never a view of pooled memory, so that typed arrays of any element type can be laid over it. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.byteLength)
  copy.set(bytes)
  return copy
}
