import { mismatched } from '../calls/matching/call-agreement.js'
import { calledBy } from '../calls/matching/call-report.js'
import type { Lane } from '../calls/matching/lane.js'
import { describeWords, encodeSignature, sameWords } from '../calls/signature.js'
import type { CommRuntime, CommState } from '../comm/comm-state.js'
import type { RankweaveError } from '../errors.js'
import { signatureWords } from '../messages/process/frames.js'

// A process lists the calls of collectives that it waits in as words that other processes compare with theirs. Ranks
// may wait for each other in calls that differ, and no message of one call reaches a rank of the other.

/**
 * The communicator, its size, the lane, the number of the call, a rank that made it, its number in the world, and the
 * call's signature.
 */
const word = { leader: 0, counter: 1, size: 2, lane: 3, seq: 4, rank: 5, worldRank: 6, signature: 7 } as const
const wordsOfCall = word.signature + signatureWords

/** The most calls that a process lists, from the communicators that were made first. */
const mostCalls = 64

/** Returns as many whole calls as fit into `mostBytes`. */
export function callsWithin(calls: Int32Array, mostBytes: number): Int32Array {
  const most = Math.floor(mostBytes / Int32Array.BYTES_PER_ELEMENT / wordsOfCall)
  return calls.subarray(0, most * wordsOfCall)
}

/** Returns the calls in progress in these processes, on communicators that span several. */
export function callsOf(runtimes: readonly CommRuntime[]): Int32Array {
  const words: number[] = []
  for (const runtime of runtimes) {
    const end = words.length + mostCalls * wordsOfCall
    for (const state of runtime.contexts) {
      if (state.processes.count > 1 && state.failed === undefined && words.length < end) {
        for (const lane of state.collectives.lanes) addCalls(words, state, lane)
      }
    }
    words.length = Math.min(words.length, end)
  }
  return Int32Array.from(words)
}

function addCalls(words: number[], state: CommState, lane: Lane): void {
  const { id, size, localRanks } = state
  for (const { seq, call, firstCaller } of lane.slots.values()) {
    if (call === undefined) continue
    const signature = new Int32Array(signatureWords)
    encodeSignature(call.signature, signature, 0)
    words.push(id.leader, id.counter, size, lane.id, seq | 0)
    words.push(localRanks[firstCaller], state.worldRank(firstCaller))
    for (const part of signature) words.push(part)
  }
}

/** Returns the ERR_COLLECTIVE_MISMATCH of two calls under one number that differ; undefined if there are none. */
export function mismatchAmong(calls: Int32Array): RankweaveError | undefined {
  const first = new Map<string, number>()
  for (let at = 0; at + wordsOfCall <= calls.length; at += wordsOfCall) {
    const key = calls.subarray(at, at + word.rank).join()
    const other = first.get(key)
    if (other === undefined) first.set(key, at)
    else if (!sameWords(calls, other + word.signature, calls, at + word.signature)) {
      const [one, two] = calls[other + word.rank] < calls[at + word.rank] ? [other, at] : [at, other]
      return mismatch(calls, one, two)
    }
  }
  return undefined
}

function mismatch(calls: Int32Array, one: number, other: number): RankweaveError {
  const [leader, counter, size, id, seq] = calls.subarray(one, one + word.rank)
  const called = (at: number) =>
    calledBy(calls[at + word.rank], calls[at + word.worldRank], describeWords(calls, at + word.signature))
  const state = { id: { leader: leader, counter: counter }, size: size }
  return mismatched(state, { id: id }, seq >>> 0, called(one), called(other))
}
