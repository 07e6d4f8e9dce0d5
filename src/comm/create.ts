import { requireWaitOptions, type WaitOptions, waitOptions } from '../base/abort.js'
import { bytesOf, wordsOf } from '../base/bytes.js'
import { type OptionTable, wordOption } from '../base/option.js'
import { requireOption } from '../base/option-table.js'
import { allgatherBytes, bcastBytes, type Exchange } from '../calls/exchange/exchange.js'
import { type CollectiveCall, failAllRanks } from '../calls/matching/collective-call.js'
import { RankweaveError, shown, wrongValue } from '../errors.js'
import { loadMailboxDesigns, requireMailboxDesigns } from '../messages/mailboxes/mailbox.js'
import type { ContextId } from '../messages/process/frames.js'
import { type MailboxDesign, mailboxDesigns } from '../messages/process/matching-options.js'
import { processOf } from '../messages/process/world-layout.js'
import {
  type CommHandle,
  type CommState,
  handlesOf,
  type MakeHandle,
  madeIn,
  RangeContexts,
  type RankInterval,
} from './comm-state.js'
import { runSplit, type SplitOutcome } from './split/run-split.js'
import type { SplitRequest } from './split/split-call.js'
import { planSplit, type SplitPlan } from './split/split-plan.js'
import { compareTables, Group } from './table/group.js'
import { processesOf } from './table/process-table.js'
import { type LocalRankTable, rankTable, StridedTable, worldRanksOf } from './table/rank-table.js'

/** The step of the agreement on the groups, distinct from those of the split. */
const agreeStep = 1_001

// This throws on invalid arguments; the method of the communicator turns that into a rejection.

export function create<H>(
  comm: CommHandle,
  make: MakeHandle<H>,
  group: Group,
  options?: WaitOptions,
): Promise<H | null> {
  const { state, localIndex } = comm.seat()
  requireWaitOptions('create', options)
  requireGroup(group)
  // The check of a distributed table waits until the communicator is placed; then all ranks get the error.
  if (state.isPlaced) checkSubset(state, group)
  const call: CollectiveCall<Group, H | null> = {
    signature: { name: 'create' },
    run: async (groups, exchange) => {
      const isForeign = state.wasDistributed && groups.some((group) => !isSubset(state, group))
      const plan = planSplit(state.size, state.processes.count)
      const made = await splitOutcome(state, exchange, colorsOf(state, groups), plan)
      // The result must be the group that was passed. All processes learn of a difference, so that none makes contexts.
      const isWrong = made.parts.some(({ table, hosted }) =>
        hosted.some((index) => compareTables(groups[index].table, table as LocalRankTable) !== 'ident'),
      )
      const verdicts = await allgatherBytes(exchange, Uint8Array.of(isWrong || isForeign ? 1 : 0), agreeStep)
      if (verdicts.some((verdict) => verdict[0] === 1)) {
        const message = 'create: expected every member of a group to pass that group, got different ones'
        return failAllRanks(groups.length, new RankweaveError('ERR_GROUP', message))
      }
      return handlesOf(state, exchange, make, made)
    },
  }
  return state.collectives.call(localIndex, call, group, options)
}

function splitOutcome(
  state: CommState,
  exchange: Exchange,
  request: SplitRequest,
  plan: SplitPlan,
): Promise<SplitOutcome> {
  return new Promise((resolve, reject) => {
    runSplit(state, exchange, request, plan, resolve)?.catch(reject)
  })
}

/** Describes the groups as a split: the color is the first member's rank here, the key the rank in the group. */
function colorsOf(state: CommState, groups: readonly Group[]): SplitRequest {
  const parent = state.wholeTable
  const color = new Int32Array(groups.length).fill(-1)
  const key = new Int32Array(groups.length)
  for (const [index, group] of groups.entries()) {
    const rank = group.table.find(state.worldRank(index))
    if (rank < 0) continue
    color[index] = parent.find(group.table.lookup(0))
    key[index] = rank
  }
  return { color, key }
}

function requireGroup(group: Group): void {
  if (group instanceof Group) return
  throw new RankweaveError('ERR_GROUP', `create: expected a Group, got ${typeof group}`)
}

function checkSubset(state: CommState, group: Group): void {
  const worldRank = nonMemberIn(state, group)
  if (worldRank === undefined) return
  throw new RankweaveError(
    'ERR_GROUP',
    `create: expected a group of this communicator's ranks, got world rank ${worldRank}, which is not in it`,
    { details: { worldRank } },
  )
}

function isSubset(state: CommState, group: Group): boolean {
  return nonMemberIn(state, group) === undefined
}

function nonMemberIn(state: CommState, group: Group): number | undefined {
  if (state.subsets?.has(group)) return undefined
  const parent = state.wholeTable
  const nonMember = worldRanksOf(group.table).find((worldRank) => parent.find(worldRank) < 0)
  if (nonMember === undefined) {
    state.subsets ??= new WeakSet()
    state.subsets.add(group)
  }
  return nonMember
}

export interface DupOptions extends WaitOptions {
  /**
   * The design of the matching queues of this rank, on the copy and on communicators that are made from it. Local, like
   * a hint of MPI: ranks may choose different ones. Default: that of this communicator.
   */
  readonly matchingDesign?: MailboxDesign
}

const dupOptions: OptionTable<DupOptions> = { ...waitOptions, matchingDesign: wordOption(mailboxDesigns) }

export function dup<H>(comm: CommHandle, make: MakeHandle<H>, options?: DupOptions): Promise<H> {
  const { state, localIndex } = comm.seat()
  requireWaitOptions('dup', options, dupOptions)
  const chosen = options?.matchingDesign
  requireOption('dup', 'matchingDesign', dupOptions.matchingDesign, chosen)
  requireMailboxDesigns('dup', chosen)
  const call: CollectiveCall<MailboxDesign | null, H> = {
    signature: { name: 'dup' },
    unplaced: true,
    run: async (hosted, exchange) => {
      const copy = await contextLike(state, exchange, await designsOfCopy(state, hosted))
      return hosted.map((_, index) => make(copy, index))
    },
  }
  return state.collectives.call(localIndex, call, chosen ?? null, options)
}

/** Returns the designs of a communicator, with the choices of its ranks here for the copy. */
async function designsOfCopy(
  state: CommState,
  chosen: readonly (MailboxDesign | null)[],
): Promise<ReadonlyMap<number, MailboxDesign> | undefined> {
  if (chosen.every((design) => design === null)) return state.matchingDesigns
  const designs = new Map(state.matchingDesigns)
  for (const [index, design] of chosen.entries()) {
    if (design === null) continue
    await loadMailboxDesigns(design)
    designs.set(state.worldRank(index), design)
  }
  return designs
}

/**
 * Makes a new context over `table`, which must be the same on every process of the parent; each calls this within the
 * same collective. Returns null if no rank of the table is hosted.
 */
export async function contextOver(
  parent: CommState,
  exchange: Exchange,
  table: LocalRankTable,
): Promise<CommState | null> {
  const { runtime, processes } = parent
  const leader = table.lookup(0)
  const root = processes.processes.indexOf(processOf(runtime.layout, leader))
  const counter = await drawCounterOn(parent, exchange, root)
  if (!processesOf(table, runtime.layout).includes(runtime.process)) return null
  const made = runtime.createContext({ leader, counter }, table, undefined, parent.matchingDesigns)
  made.made = madeIn(parent, exchange)
  return made
}

/**
 * Makes a new context over the ranks of `state`; its table need not be placed. Each process calls this within the same
 * collective.
 *
 * @param matchingDesigns of its ranks here. Default: those of `state`
 */
export async function contextLike(
  state: CommState,
  exchange: Exchange,
  matchingDesigns = state.matchingDesigns,
): Promise<CommState> {
  // Process 0 hosts rank 0, which leads the copy as it leads the original.
  const counter = await drawCounterOn(state, exchange, 0)
  const { table, processes, runtime } = state
  const numbered = state.wasDistributed ? processes.processes : undefined
  const copy = runtime.createContext({ leader: state.leader, counter }, table, numbered, matchingDesigns)
  copy.made = madeIn(state, exchange)
  return copy
}

/** The step of the exchange that a new context takes, distinct from those of the collective around it. */
const contextStep = 1_000

/** Draws a context counter on process `root`, for all processes. */
async function drawCounterOn({ runtime }: CommState, exchange: Exchange, root: number): Promise<number> {
  const drawn = exchange.me === root ? bytesOf(Int32Array.of(runtime.drawCounter())) : null
  return wordsOf(await bcastBytes(exchange, root, drawn, contextStep))[0]
}

/**
 * Makes a communicator of a range of ranks, which each member makes for itself: nothing is sent. Its name follows from
 * the parent's, the range, and how often it was made before, which all its members know.
 */
export async function range<H>(
  comm: CommHandle,
  make: MakeHandle<H>,
  first: number,
  last: number,
  stride: number,
): Promise<H | null> {
  const { state, localIndex, rank } = comm.seat()
  const wanted = rangeOf(state.size, first, last, stride)
  const place = (rank - first) / stride
  if (!Number.isInteger(place) || place < 0 || place >= wanted.size) return null
  const parentTable = await state.place()
  // The call counts only from here, but ranks of one process get here in the order of their calls.
  state.ranges ??= new RangeContexts()
  const child = state.ranges.next(wanted, localIndex, (nth) => {
    const made = state.runtime.createContext(
      nameOf(state.id, wanted, nth),
      tableOf(parentTable, wanted),
      undefined,
      state.matchingDesigns,
    )
    made.made = {
      call: `range(${first}, ${last}${stride === 1 ? '' : `, ${stride}`})`,
      parent: state.id,
      at: '',
    }
    return made
  })
  return make(child, child.localRanks.indexOf(place))
}

function rangeOf(size: number, first: number, last: number, stride: number): RankInterval {
  for (const [name, rank] of [
    ['first', first],
    ['last', last],
  ] as const) {
    if (Number.isInteger(rank) && rank >= 0 && rank < size) continue
    const message = `range: expected ${name} as a rank from 0 to ${size - 1}, got ${shown(rank)}`
    throw new RankweaveError('ERR_RANK', message)
  }
  const leads = Number.isInteger(stride) && stride !== 0 && (last - first) * stride >= 0
  if (!leads)
    throw wrongValue('ERR_ARGUMENT', `range: expected a stride that leads from ${first} to ${last}`, stride)
  const members = Math.floor((last - first) / stride) + 1
  return { first, size: members, stride: members === 1 ? 1 : stride }
}

/** Returns the table of a range: in closed form, O(1) memory, if the parent's table is. */
function tableOf(parent: LocalRankTable, { first, size, stride }: RankInterval): LocalRankTable {
  if (parent.kind === 'strided') return new StridedTable(size, parent.lookup(first), parent.stride * stride)
  return rankTable(Int32Array.from({ length: size }, (_, i) => parent.lookup(first + i * stride)))
}

/**
 * Names a communicator by 52 bits of hash, distinct from all drawn names. If two communicators of one process get the
 * same name, making the second fails with ERR_WORLD; for a thousand communicators at a time the probability is 10^-10.
 */
function nameOf(
  { leader, counter }: ContextId,
  { first, size, stride }: RankInterval,
  nth: number,
): ContextId {
  const values = [leader, counter, first, size, stride, nth]
  return {
    leader: -1 - (mixed(values, 0x2545f491) & 0x1fffff),
    counter: 1 + (mixed(values, 0x9e3779b9) % (2 ** 31 - 1)),
  }
}

function mixed(values: readonly number[], seed: number): number {
  let hash = seed
  for (const value of values) {
    hash = Math.imul(hash ^ value, 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  return hash >>> 0
}
