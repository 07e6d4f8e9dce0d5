import { RankweaveError } from '../../errors.js'
import type { CommContext } from '../table/comm-context.js'
import { calledBy, describeContext, localCall } from './call-report.js'
import type { AnyCall } from './collective-call.js'
import { type Lane, plainLane } from './lane.js'
import { describeWords, sameSignature, sameWords } from './signature.js'
import type { Slot } from './slot.js'
import { collectiveWord } from './slot-exchange.js'

// Whether the calls that belong to one collective agree: each of these returns the ERR_COLLECTIVE_MISMATCH that names
// two calls which do not, or nothing.

/** A later rank of this process has joined a slot with this call. */
export function callMismatch(
  state: CommContext,
  lane: Lane,
  slot: Slot,
  localIndex: number,
  call: AnyCall,
): RankweaveError | undefined {
  const first = slot.call!
  if (first === call || sameSignature(first.signature, call.signature)) return undefined
  const firstCall = localCall(state, slot.firstCaller, first.signature)
  return mismatched(state, lane, slot.seq, firstCall, localCall(state, localIndex, call.signature))
}

/** The first rank of this process has joined a slot for which frames came before. */
export function earlyMismatch(state: CommContext, lane: Lane, slot: Slot): RankweaveError | undefined {
  const { early } = slot
  slot.early = undefined
  for (const [src, header] of early!) {
    const mismatch = frameMismatch(state, lane, slot, src, header)
    if (mismatch !== undefined) return mismatch
  }
  return undefined
}

/** A frame has arrived from process `src` for a slot that a rank of this process has joined. */
export function frameMismatch(
  state: CommContext,
  lane: Lane,
  slot: Slot,
  src: number,
  header: Int32Array,
): RankweaveError | undefined {
  const own = slot.exchange!.header
  if (sameWords(own, collectiveWord.signature, header, collectiveWord.signature)) return undefined
  const ownCall = localCall(state, slot.firstCaller, slot.call!.signature)
  return mismatched(state, lane, slot.seq, remoteCall(state, src, header), ownCall)
}

/**
 * The error of a frame that arrives for a collective which is complete here. All frames of a collective are consumed
 * before it completes, so this one belongs to another call.
 */
export function lateFrame(
  state: CommContext,
  lane: Lane,
  seq: number,
  src: number,
  header: Int32Array,
): RankweaveError {
  return mismatched(state, lane, seq, remoteCall(state, src, header), completedCall(state, lane, seq))
}

function mismatched(state: CommContext, lane: Lane, seq: number, one: string, other: string): RankweaveError {
  const where =
    lane.id === plainLane ? `collective #${seq}` : `start #${seq} of persistent operation #${lane.id}`
  return new RankweaveError(
    'ERR_COLLECTIVE_MISMATCH',
    `${where} of ${describeContext(state)}: expected the same call of every rank, but ${one}, ${other}`,
    { details: { seq } },
  )
}

/** What a process called, by a frame's header: its ranks agreed among themselves, so the smallest stands for them. */
function remoteCall(state: CommContext, process: number, header: Int32Array): string {
  const { processes } = state
  const call = describeWords(header, collectiveWord.signature)
  if (!state.isPlaced) return `process ${process} called ${call}`
  const run = processes.runProcess.indexOf(state.indexOfProcess(process))
  return calledBy(processes.runStart[run]!, call)
}

/** What the ranks here called that is complete. */
function completedCall(state: CommContext, lane: Lane, seq: number): string {
  const signature = lane.recent(seq)
  return signature === undefined
    ? `rank ${state.localRanks[0]!} has long completed another call`
    : localCall(state, 0, signature)
}
