import { onAbort } from '../../base/abort.js'
import { noteRank } from '../../errors.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { abortedCollective, revokedBy } from './call-report.js'
import { RankFailure } from './collective-call.js'
import type { Lane } from './lane.js'
import type { Revocation } from './revocation.js'
import type { Slot } from './slot.js'

// These functions record which ranks of a process wait for a collective.

/** Blocks all ranks here. If one program drives them, one wait is that of all. */
export function blockAll(state: CommContext, { signals }: Slot): void {
  const { waits } = state.runtime
  const count = waits.isShared ? 1 : state.localRanks.length
  for (let i = 0; i < count; i++) waits.block(state.hostedIndex(i), signals !== undefined)
}

/** Watches a signal whose abort fails the collective for this rank, and revokes the communicator. */
export function watchSignal(
  state: CommContext,
  slot: Slot,
  localIndex: number,
  signal: AbortSignal,
  revocation: Revocation,
): void {
  const abort = () => {
    const error = abortedCollective(state, slot.seq, localIndex, slot.call!.signature, signal)
    slot.failOne(localIndex, error)
    revocation.revoke(revokedBy(state, error))
  }
  slot.signals ??= new Map()
  slot.signals.set(localIndex, onAbort(signal, abort))
}

/** Ends the waits for a collective that is over here: no rank waits for it, and no signal aborts it. */
export function unblock(state: CommContext, lane: Lane, slot: Slot): void {
  if (slot.isJoint) unblockAll(state, slot)
  else unblockEach(state, lane, slot)
  const { callSites } = state.runtime
  for (const localIndex of slot.sites?.keys() ?? []) callSites!.release(state.worldRank(localIndex))
  slot.signals = undefined
  slot.settled = true
}

function unblockAll(state: CommContext, { signals, runner }: Slot): void {
  const { waits } = state.runtime
  for (const detach of signals?.values() ?? []) detach()
  // The ranks do not wait yet.
  if (runner >= 0) return
  const count = waits.isShared ? 1 : state.localRanks.length
  for (let i = 0; i < count; i++) waits.unblock(state.hostedIndex(i), signals !== undefined)
}

function unblockEach(state: CommContext, lane: Lane, slot: Slot): void {
  const { waits } = state.runtime
  const { signals, runner, awake } = slot
  for (let i = 0; i < state.localRanks.length; i++) {
    if (!lane.hasJoined(slot, i)) continue
    const detach = signals?.get(i)
    detach?.()
    if (i !== runner && awake?.has(i) !== true) waits.unblock(state.hostedIndex(i), detach !== undefined)
  }
}

/** Notes the rank of each error of a rank that fails alone, if one promise is that of all. */
export function noteFailures(state: CommContext, results: readonly unknown[]): void {
  for (let i = 0; i < results.length; i++) {
    const result = results[i]
    if (result instanceof RankFailure) noteRank(result.error, state.worldRank(i))
  }
}
