import { addToList, getOrAdd } from '../../base/maps.js'
import { indexIn } from '../../base/search.js'
import { isRankweaveError, RankweaveError, reasonText } from '../../errors.js'
import { type CallSite, calledAt } from '../../messages/process/call-sites.js'
import {
  type CommContext,
  type CommProcesses,
  communicatorText,
  madeBy,
  rankText,
} from '../../messages/process/comm-context.js'
import { collectiveWord } from '../../messages/process/frames.js'
import { isDetachedHere } from '../../messages/process/transfers.js'
import { describeSignature, describeWords, type Signature } from '../signature.js'
import type { AnyCall } from './collective-call.js'
import { type Lane, plainLane, type Slot } from './lane.js'

/** Returns the communicator as error messages and reports name it. */
export function describeContext(state: Pick<CommContext, 'id' | 'label' | 'size'>): string {
  return `${communicatorText(state)} of ${state.size} ranks`
}

/** Returns `; communicator 0.1 was made by split() #2 of the world`; empty for the world. */
function originText(state: Pick<CommContext, 'id' | 'label' | 'made'>): string {
  const origin = madeBy(state)
  return origin === undefined ? '' : `; ${origin}`
}

/** @param worldRank undefined if it is not known here */
export function calledBy(rank: number, worldRank: number | undefined, call: string): string {
  return `${rankText(rank, worldRank)} called ${call}`
}

/** Describes the call of the rank with this local index, and its line of the program. */
function localCall(state: CommContext, localIndex: number, signature: Signature, site?: CallSite): string {
  const at = site === undefined || site.text === '' ? '' : ` at ${site.text}`
  return `${calledBy(state.localRanks[localIndex], state.worldRank(localIndex), describeSignature(signature))}${at}`
}

/** Returns the mismatch of a rank of this process that joins a slot after the first, by another call. */
export function callMismatch(
  state: CommContext,
  lane: Lane,
  slot: Slot,
  localIndex: number,
  call: AnyCall,
  site: CallSite | undefined,
): RankweaveError {
  const { firstCaller, seq, sites } = slot
  const firstCall = localCall(state, firstCaller, slot.call!.signature, sites?.get(firstCaller))
  return mismatched(state, lane, seq, firstCall, localCall(state, localIndex, call.signature, site))
}

/** Returns the mismatch of a frame from process `src` for a slot that a rank of this process has joined. */
export function frameMismatch(
  state: CommContext,
  lane: Lane,
  slot: Slot,
  src: number,
  header: Int32Array,
): RankweaveError {
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
    : localCall(state, 0, signature, lane.recentSites(seq)?.get(0))
}

const ascending = (a: number, b: number) => a - b

/** The most lines of a program that a message names for one collective. */
const mostSites = 8

/** Returns the lines from which the ranks here called a collective, with the ranks that share each line. */
export function sitesOf({ localRanks }: Pick<CommContext, 'localRanks'>, { sites }: Slot): CallPlace[] {
  const ranks = new Map<string, number[]>()
  for (const [localIndex, { text }] of sites ?? []) {
    if (text !== '') addToList(ranks, text, localRanks[localIndex])
  }
  return [...ranks].slice(0, mostSites).map(([site, called]) => ({ site, ranks: called.sort(ascending) }))
}

/** Returns the name of a collective in progress and the lines that called it; neither if no rank here has called it. */
export function callOf(
  state: Pick<CommContext, 'localRanks'>,
  slot: Slot | undefined,
): { readonly call: string; readonly at: string } {
  if (slot?.call === undefined) return { call: 'a collective', at: '' }
  const places = sitesText(sitesOf(state, slot))
  return { call: `${slot.call.signature.name}()`, at: places === '' ? '' : ` at ${places}` }
}

/** Returns a mismatch with the lines from which ranks of this process made their call of the same number. */
export function withPlaces(state: CommContext, lanes: Iterable<Lane>, error: RankweaveError): RankweaveError {
  const { seq, operation = plainLane } = error.details
  const lines: string[] = []
  for (const lane of lanes) {
    if (lane.id !== operation) continue
    for (const slot of lane.slots.values()) {
      if (slot.seq !== seq || slot.call === undefined) continue
      for (const { site, ranks } of sitesOf(state, slot)) {
        const indices = ranks.map((rank) => indexIn(state.localRanks, rank))
        lines.push(`${localRanksText(state, indices)} called ${slot.call.signature.name}() at ${site}`)
      }
    }
  }
  if (lines.length === 0) return error
  const { code, message, details } = error
  return new RankweaveError(code, `${message}; ${lines.join(', ')}`, { details })
}

/** A line of the program and the ranks that called from there, ascending. */
export interface CallPlace {
  readonly site: string
  readonly ranks: readonly number[]
}

/** Returns `; called at a.ts:3:9`, with the ranks if there are several places; empty without a place. */
export function placesText(places: readonly CallPlace[]): string {
  const text = sitesText(places)
  return text === '' ? '' : `; called at ${text}`
}

function sitesText(places: readonly CallPlace[]): string {
  const bySite = new Map<string, number[]>()
  for (const { site, ranks } of places) {
    const called = getOrAdd(bySite, site, () => [])
    for (const rank of ranks) called.push(rank)
  }
  if (bySite.size === 0) return ''
  if (bySite.size === 1) return places[0].site
  const named = [...bySite].slice(0, mostSites)
  return named.map(([site, ranks]) => `${site} (${listRanks(ranks.sort(ascending))})`).join(', ')
}

export function abortedCollective(
  state: CommContext,
  seq: number,
  localIndex: number,
  signature: Signature,
  signal: AbortSignal,
): RankweaveError {
  const call = localCall(state, localIndex, signature)
  return new RankweaveError('ERR_ABORTED', `collective #${seq} was aborted by a signal: ${call}`, {
    details: { rank: state.localRanks[localIndex], seq },
    cause: signal.reason,
  })
}

export function revokedBy(state: CommContext, aborted: RankweaveError): RankweaveError {
  const { message, details } = aborted
  return new RankweaveError('ERR_REVOKED', `${describeContext(state)} is revoked: ${message}`, { details })
}

/**
 * Returns why a collective failed: an error of this library unchanged, any other as one that names the call.
 */
export function failedIn({ runtime }: CommContext, signature: Signature, error: unknown): RankweaveError {
  if (isOfDetached(error)) return detachedIn(signature, runtime.process)
  if (isRankweaveError(error)) return error
  const message = `${describeSignature(signature)} failed: ${reasonText(error)}`
  return new RankweaveError('ERR_OP', message, { cause: error })
}

/**
 * Tells whether a collective cannot continue because a buffer was detached, as the fabric or the JavaScript engine
 * reported it.
 */
function isOfDetached(error: unknown): boolean {
  return (
    isDetachedHere(error) || (error instanceof TypeError && error.message.includes('detached ArrayBuffer'))
  )
}

/**
 * Returns the error, on all processes, of a collective one of whose buffers was detached on world process `process`.
 */
function detachedIn(signature: Signature, process: number): RankweaveError {
  const call = describeSignature(signature)
  const message = `${call}: a buffer was detached on process ${process} before it completed`
  return new RankweaveError('ERR_TYPE', message, { details: { process } })
}

export function describeWaits(state: CommContext, lanes: Iterable<Lane>): string[] {
  const lines: string[] = []
  for (const lane of lanes) {
    for (const slot of lane.slots.values()) {
      if (slot.call !== undefined) lines.push(describeWait(state, lane, slot))
    }
  }
  return lines
}

function describeWait(state: CommContext, lane: Lane, slot: Slot): string {
  const { localRanks, processes } = state
  const waiting: number[] = []
  const missing: number[] = []
  localRanks.forEach((_, localIndex) => {
    if (lane.hasJoined(slot, localIndex)) waiting.push(localIndex)
    else missing.push(localIndex)
  })
  const call = `${describeSignature(slot.call!.signature)} #${slot.seq}`
  const verb = waiting.length > 1 ? 'wait' : 'waits'
  const who = `${describeContext(state)}: ${localRanksText(state, waiting)} ${verb} in ${call}`
  const places = placesText(sitesOf(state, slot))
  if (missing.length > 0)
    return `${who}; ${localRanksText(state, missing)} ${missing.length > 1 ? 'have' : 'has'} not called it${places}`
  const named = (peers: readonly number[]) =>
    [...new Set(peers)]
      .sort((a, b) => a - b)
      .map((peer) => {
        const process = `process ${processes.processes.at(peer)}`
        return state.isPlaced ? `${process} with ${ranksOf(processes, peer)}` : process
      })
      .join(', ')
  const reasons: string[] = []
  const senders = slot.exchange?.awaited() ?? []
  if (senders.length > 0) reasons.push(`for data from ${named(senders)}`)
  const receivers = slot.exchange?.offeredTo() ?? []
  if (receivers.length > 0) reasons.push(`for ${named(receivers)} to receive`)
  return `${reasons.length === 0 ? who : `${who} ${reasons.join(' and ')}`}${places}`
}

const mostParts = 16

/**
 * Returns ranks of this process, ascending, by their local indices: `ranks 0-3`. It adds their numbers in the world if
 * these differ: `ranks 0, 2 (world ranks 3, 7)`.
 */
export function localRanksText(
  state: Pick<CommContext, 'localRanks' | 'worldRank'>,
  localIndices: ArrayLike<number>,
): string {
  const ranks = Int32Array.from(localIndices, (localIndex) => state.localRanks[localIndex])
  const worldRanks = Int32Array.from(localIndices, (localIndex) => state.worldRank(localIndex))
  const text = listRanks(ranks)
  if (ranks.every((rank, i) => rank === worldRanks[i])) return text
  return `${text} (world ${listRanks(worldRanks.sort())})`
}

/** Returns `rank 3`, or `ranks 0-3, 7`; long lists are truncated. */
function listRanks(ranks: ArrayLike<number>): string {
  const parts: string[] = []
  let i = 0
  while (i < ranks.length && parts.length < mostParts) {
    let last = i
    while (last + 1 < ranks.length && ranks[last + 1] === ranks[last] + 1) last++
    parts.push(last === i ? `${ranks[i]}` : `${ranks[i]}-${ranks[last]}`)
    i = last + 1
  }
  if (i < ranks.length) parts.push(`${ranks.length - i} more`)
  return `${ranks.length > 1 ? 'ranks' : 'rank'} ${parts.join(', ')}`
}

function ranksOf({ runStart, runProcess }: CommProcesses, processIndex: number): string {
  const parts: string[] = []
  let runs = 0
  for (let run = 0; run < runProcess.length; run++) {
    if (runProcess[run] !== processIndex) continue
    if (++runs > mostParts) continue
    const first = runStart[run]
    const last = runStart[run + 1] - 1
    parts.push(first === last ? `${first}` : `${first}-${last}`)
  }
  if (runs > mostParts) parts.push('...')
  return `${parts.length === 1 && !parts[0].includes('-') ? 'rank' : 'ranks'} ${parts.join(', ')}`
}
