import type { RankHandle, Seat } from '../table/seat.js'
import type { CommState } from './comm-state.js'

/** A rank's place in the state of its communicator. */
export type CommSeat = Seat<CommState>

/** A communicator's handle, as the functions see it that make, compare and free communicators. */
export type CommHandle = RankHandle<CommState>

/** Makes the handle of the rank with this local index: `Communicator`, or what is derived from it. */
export type MakeHandle<H> = (state: CommState, localIndex: number) => H
