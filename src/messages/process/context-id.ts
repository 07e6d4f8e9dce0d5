/**
 * A communicator's name: the world rank of its rank 0, and a counter of that rank's process. One that was made without
 * communication has a hash in both places, with a negative leader (`comm/range`).
 */
export interface ContextId {
  readonly leader: number
  readonly counter: number
}

/**
 * Returns the id as one number. It is exact because leaders are below 2^22, also those below 0, and counters below
 * 2^31.
 */
export function contextKey(id: ContextId): number {
  return id.leader * 2 ** 31 + id.counter
}
