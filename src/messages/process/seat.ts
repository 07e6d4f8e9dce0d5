import type { CommContext } from './comm-context.js'

/** A rank and its position in the communicator state that the ranks of its process share. */
export interface Seat<S extends CommContext = CommContext> {
  readonly state: S
  readonly localIndex: number
  readonly rank: number
  readonly handle: RankHandle<S>
}

/** One rank's handle on a communicator, as the functions behind its methods see it. */
export interface RankHandle<S extends CommContext = CommContext> {
  readonly rank: number
  readonly size: number
  /** Throws once the communicator cannot be used. */
  seat(): Seat<S>
}
