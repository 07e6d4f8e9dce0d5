import type { Exchange } from '../calls/exchange/exchange.js'
import type { MadeBy, RankHandle, Seat } from '../messages/process/comm-context.js'
import type { CommState } from './comm-state.js'
import type { SplitOutcome } from './split/run-split.js'

/** A rank and its position in the state of its communicator. */
export type CommSeat = Seat<CommState>

/** A communicator's handle, as the functions behind its methods see it. */
export type CommHandle = RankHandle<CommState>

/** Makes the handle of the rank with this local index. All ranks of a process pass the same function. */
export type MakeHandle<H> = (state: CommState, localIndex: number) => H

/** Describes how the collective of an exchange on `parent` made a communicator. */
export function madeIn({ id, collectives }: CommState, { seq }: Exchange): MadeBy {
  return { parent: id, seq, ...collectives.callOf(seq) }
}

/** Makes the contexts of a split, and the handle of every local rank of the parent, or null. */
export function handlesOf<H>(
  parent: CommState,
  exchange: Exchange,
  make: MakeHandle<H>,
  { parts, origin }: SplitOutcome,
): (H | null)[] {
  parent.lastSplit = origin
  const made = madeIn(parent, exchange)
  const handles: (H | null)[] = new Array(parent.localRanks.length).fill(null)
  for (const { id, table, hosted, processes } of parts) {
    const state = parent.runtime.createContext(id, table, processes, parent.matchingDesigns)
    state.origin = origin
    state.made = made
    for (let index = 0; index < hosted.length; index++) {
      handles[hosted[index]] = make(state, index)
    }
  }
  return handles
}
