import { RankweaveError } from '../../errors.js'
import { type CallSite, calledAt } from '../../messages/process/call-sites.js'
import { type CommContext, rankText } from '../../messages/process/comm-context.js'
import { collectiveWord } from '../../messages/process/frames.js'
import { describeWords, sameSignature, sameWords } from '../signature.js'
import { calledBy, describeContext, localCall, originText } from './call-report.js'
import type { AnyCall } from './collective-call.js'
import { type Lane, plainLane } from './lane.js'
import type { Slot } from './slot.js'

// These functions check whether the calls of one collective agree. Each returns the ERR_COLLECTIVE_MISMATCH that names
// two calls that differ, or nothing.

/** Checks the call of a rank of this process that joins a slot after the first. */
export function callMismatch(
  state: CommContext,
  lane: Lane,
  slot: Slot,
  localIndex: number,
  call: AnyCall,
  site: CallSite | undefined,
): RankweaveError | undefined {
  const first = slot.call!
  if (first === call || sameSignature(first.signature, call.signature)) return undefined
  const { firstCaller, seq, sites } = slot
  const firstCall = localCall(state, firstCaller, first.signature, sites?.get(firstCaller))
  return mismatched(state, lane, seq, firstCall, localCall(state, localIndex, call.signature, site))
}

/** Checks the frames that arrived before the first rank of this process joined the slot. */
export function earlyMismatch(state: CommContext, lane: Lane, slot: Slot): RankweaveError | undefined {
  const { early } = slot
  slot.early = undefined
  for (const [src, header] of early!) {
    const mismatch = frameMismatch(state, lane, slot, src, header)
    if (mismatch !== undefined) return mismatch
  }
  return undefined
}

/** Checks a frame from process `src` that arrives when a rank of this process has joined the slot. */
export function frameMismatch(
  state: CommContext,
  lane: Lane,
  slot: Slot,
  src: number,
  header: Int32Array,
): RankweaveError | undefined {
  const own = slot.exchange!.header
  if (sameWords(own, collectiveWord.signature, header, collectiveWord.signature)) return undefined
  const { firstCaller, call, sites } = slot
  const ownCall = localCall(state, firstCaller, call!.signature, sites?.get(firstCaller))
  return mismatched(state, lane, slot.seq, remoteCall(state, src, header), ownCall, src)
}

/**
 * Returns the mismatch of a frame of a collective that is complete here. All frames of a collective are consumed before
 * it completes, so this one belongs to another call.
 */
export function lateFrameMismatch(
  state: CommContext,
  lane: Lane,
  seq: number,
  src: number,
  header: Int32Array,
): RankweaveError {
  return mismatched(state, lane, seq, remoteCall(state, src, header), completedCall(state, lane, seq), src)
}

/**
 * @param one `rank 0 called barrier()`, and what another rank called
 * @param process the process of one of them, if it is not this one
 */
export function mismatched(
  state: Pick<CommContext, 'id' | 'label' | 'made' | 'size'> & Partial<Pick<CommContext, 'runtime'>>,
  lane: Pick<Lane, 'id'>,
  seq: number,
  one: string,
  other: string,
  process?: number,
): RankweaveError {
  const where =
    lane.id === plainLane ? `collective #${seq}` : `start #${seq} of persistent operation #${lane.id}`
  return new RankweaveError(
    'ERR_COLLECTIVE_MISMATCH',
    `${where} of ${describeContext(state)}: expected the same call of every rank, but ${one}, ${other}${originText(state)}${
      state.runtime === undefined ? '' : calledAt(state.runtime.callSites, undefined)
    }`,
    {
      details: {
        seq,
        ...(lane.id === plainLane ? {} : { operation: lane.id }),
        ...(process === undefined ? {} : { process }),
      },
    },
  )
}

/**
 * Describes the call of process `src` from a frame's header. Its ranks agree with each other, so the smallest
 * represents them.
 */
function remoteCall(state: CommContext, process: number, header: Int32Array): string {
  const { processes } = state
  const call = describeWords(header, collectiveWord.signature)
  if (!state.isPlaced) return `process ${process} called ${call}`
  const run = processes.runProcess.indexOf(state.indexOfProcess(process))
  const rank = processes.runStart[run]
  const { table } = state
  return calledBy(rank, table.kind === 'distributed' ? undefined : table.lookup(rank), call)
}

function completedCall(state: CommContext, lane: Lane, seq: number): string {
  const signature = lane.recent(seq)
  return signature === undefined
    ? `${rankText(state.localRanks[0], state.worldRank(0))} has already completed another call`
    : localCall(state, 0, signature)
}
