import { bytesOf, wordsOf } from '../../base/bytes.js'
import { RankweaveError, shown } from '../../errors.js'
import { type CollectiveCall, Refusal } from '../calls/collective-call.js'
import type { CollectiveName } from '../calls/collective-name.js'
import type { Exchange } from '../calls/exchange.js'
import { allgatherBytes, bcastBytes } from '../calls/exchange-patterns.js'
import { hashIntegers } from '../calls/signature.js'
import type { WaitOptions } from '../process/wait-options.js'
import { processOf } from '../process/world-layout.js'
import type { CommTable } from '../table/comm-table.js'
import { compareTables } from '../table/compare-tables.js'
import type { Comparison } from '../table/group.js'
import { Group, requireList } from '../table/group.js'
import { type LocalRankTable, processTable, worldRanksOf } from '../table/rank-table.js'
import type { CommState } from './comm-state.js'
import type { CommHandle, MakeHandle } from './handle.js'
import type { ColorAndKey } from './planned-split.js'
import type { SplitRequest } from './split/plan/split-call.js'
import {
  agreedWords,
  checkSplitOptions,
  planSplit,
  type SplitOptions,
  type SplitPlan,
  sameSplitOptions,
} from './split/plan/split-plan.js'
import { runSplit, type SplitOutcome } from './split/run-split.js'

const maxColor = 0x7fffffff

// These throw what is wrong with their arguments; the methods of a communicator make rejections of it.

export function split<H>(
  comm: CommHandle,
  make: MakeHandle<H>,
  color: number | null,
  key: number,
  options?: SplitOptions,
): Promise<H | null> {
  if (color !== null && (!Number.isInteger(color) || color < 0 || color > maxColor)) {
    throw new RankweaveError(
      'ERR_COLOR',
      `split: expected a color from 0 to ${maxColor}, or null, got ${shown(color)}`,
    )
  }
  return callSplit(comm, make, 'split', { color: color ?? -1, key: checkKey(key) }, options)
}

export function splitType<H>(
  comm: CommHandle,
  make: MakeHandle<H>,
  type: 'node',
  key: number,
  options?: WaitOptions,
): Promise<H> {
  if (type !== 'node') {
    throw new RankweaveError('ERR_ARGUMENT', `splitType: expected 'node', got ${shown(type)}`)
  }
  const { layout, process } = comm.seat().state.runtime
  const color = layout.nodeOfProcess[process]!
  return callSplit(comm, make, 'splitType', { color, key: checkKey(key) }, options) as Promise<H>
}

function callSplit<H>(
  comm: CommHandle,
  make: MakeHandle<H>,
  name: CollectiveName,
  contribution: ColorAndKey,
  options: SplitOptions | undefined,
): Promise<H | null> {
  const { state, localIndex } = comm.seat()
  const call = plannedCall(state, make, name, options)
  return state.collectives.call(localIndex, call, contribution, options) as Promise<H | null>
}

function plannedCall<H>(
  state: CommState,
  make: MakeHandle<H>,
  name: CollectiveName,
  options: SplitOptions | undefined,
): CollectiveCall<ColorAndKey, unknown> {
  const last = state.plannedSplit
  if (last !== undefined && last.name === name && sameSplitOptions(last.options, options)) return last.call
  const { count } = state.processes
  checkSplitOptions(options, count)
  const plan = planSplit(state.size, count, options)
  const agreed = agreedWords(options)
  const call: CollectiveCall<ColorAndKey, unknown> = {
    signature: { name, ...(agreed === undefined ? {} : { extra: hashIntegers(agreed) }) },
    unplaced: true,
    run: (rows, exchange) => {
      const color = new Int32Array(rows.length)
      const key = new Int32Array(rows.length)
      for (let i = 0; i < rows.length; i++) {
        color[i] = rows[i]!.color
        key[i] = rows[i]!.key
      }
      return runSplit(state, exchange, { color, key }, plan, (outcome) => {
        exchange.finish(handlesOf(state, make, outcome))
      })
    },
  }
  // A copy: the caller's object may change.
  state.plannedSplit = { name, options: options === undefined ? undefined : { ...options }, call }
  return call
}

function checkKey(key: number): number {
  if (!Number.isInteger(key) || key !== (key | 0)) {
    throw new RankweaveError('ERR_ARGUMENT', `split: expected a signed 32-bit key, got ${shown(key)}`)
  }
  return key
}

/** Makes the contexts, and gives every local rank of the parent its handle, or null. */
function handlesOf<H>(parent: CommState, make: MakeHandle<H>, { parts, origin }: SplitOutcome): (H | null)[] {
  parent.lastSplit = origin
  const handles: (H | null)[] = new Array(parent.localRanks.length).fill(null)
  for (const { id, table, hosted, processes } of parts) {
    const state = parent.runtime.createContext(id, table, processes)
    state.origin = origin
    for (let index = 0; index < hosted.length; index++) {
      handles[hosted[index]!] = make(state, index)
    }
  }
  return handles
}

export function dup<H>(comm: CommHandle, make: MakeHandle<H>, options?: WaitOptions): Promise<H> {
  const { state, localIndex } = comm.seat()
  const call: CollectiveCall<null, H> = {
    signature: { name: 'dup' },
    unplaced: true,
    run: async (hosted, exchange) => {
      // Process 0 hosts rank 0, which leads the copy as it leads this one.
      const counter = await drawnBy(state, exchange, 0)
      const { table, processes, runtime } = state
      const numbered = state.isSpread ? processes.processes : undefined
      const copy = runtime.createContext({ leader: state.leader, counter }, table, numbered)
      return hosted.map((_, index) => make(copy, index))
    },
  }
  return state.collectives.call(localIndex, call, null, options)
}

/**
 * A new context over `table`, which every process of the parent must choose alike: called by each of them from within
 * one collective. Null where no rank of the table is hosted.
 */
export async function contextOver(
  parent: CommState,
  exchange: Exchange,
  table: LocalRankTable,
): Promise<CommState | null> {
  const { runtime, processes } = parent
  const leader = table.lookup(0)
  const root = processes.processes.indexOf(processOf(runtime.layout, leader))
  const counter = await drawnBy(parent, exchange, root)
  const hosts = processTable(table, runtime.layout).processes
  return hosts.includes(runtime.process) ? runtime.createContext({ leader, counter }, table) : null
}

/** A context counter of process `root`, on all processes. */
async function drawnBy({ runtime }: CommState, exchange: Exchange, root: number): Promise<number> {
  const drawn = exchange.me === root ? bytesOf(Int32Array.of(runtime.drawCounter())) : null
  return wordsOf(await bcastBytes(exchange, root, drawn, contextStep))[0]
}

/** The result of a collective that all its processes refuse alike: every rank fails, the communicator lives on. */
export function refuseAll<R>(ranks: number, error: RankweaveError): readonly R[] {
  const refusals: unknown[] = new Array(ranks).fill(new Refusal(error))
  return refusals as R[]
}

/** Steps of an exchange that construction uses, apart from those of the collective around it. */
const contextStep = 1_000
const agreeStep = 1_001

export function create<H>(
  comm: CommHandle,
  make: MakeHandle<H>,
  group: Group,
  options?: WaitOptions,
): Promise<H | null> {
  const { state, localIndex } = comm.seat()
  requireGroup(group)
  // Where the ranks are not known here, this has to wait until they are: then all ranks hear of it.
  if (state.isPlaced) checkSubset(state, group)
  const call: CollectiveCall<Group, H | null> = {
    signature: { name: 'create' },
    run: async (groups, exchange) => {
      const misfits = state.isSpread && groups.some((group) => !isSubset(state, group))
      const plan = planSplit(state.size, state.processes.count)
      const made = await splitOutcome(state, exchange, colorsOf(state, groups), plan)
      // What arrived must be what was asked for; all processes hear of a difference, so that none makes contexts.
      const isWrong = made.parts.some(({ table, hosted }) =>
        hosted.some((index) => compareTables(groups[index]!.table, table as LocalRankTable) !== 'ident'),
      )
      const verdicts = await allgatherBytes(exchange, Uint8Array.of(isWrong || misfits ? 1 : 0), agreeStep)
      if (verdicts.some((verdict) => verdict[0] === 1)) {
        const message = 'create: expected every member of a group to pass that group, got different ones'
        return refuseAll(groups.length, new RankweaveError('ERR_GROUP', message))
      }
      return handlesOf(state, make, made)
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

/** As a split: the color is the first member's rank here, the key the rank in the group. */
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
  const worldRank = strangerIn(state, group)
  if (worldRank === undefined) return
  throw new RankweaveError(
    'ERR_GROUP',
    `create: expected a group of this communicator's ranks, got world rank ${worldRank}, which is not in it`,
    { details: { worldRank } },
  )
}

function isSubset(state: CommState, group: Group): boolean {
  return strangerIn(state, group) === undefined
}

/** A world rank of the group that is not in the communicator. */
function strangerIn(state: CommState, group: Group): number | undefined {
  if (group.subsetOf === state) return undefined
  const parent = state.wholeTable
  const stranger = worldRanksOf(group.table).find((worldRank) => parent.find(worldRank) < 0)
  if (stranger === undefined) group.subsetOf = state
  return stranger
}

export async function compare(a: CommState, b: CommState): Promise<Comparison> {
  if (a === b) return 'ident'
  if (sameRows(a.table, b.table)) return 'congruent'
  const ranks = compareTables(await a.place(), await b.place())
  return ranks === 'ident' ? 'congruent' : ranks
}

/** The same part of one distributed table, as a copy has. */
function sameRows(a: CommTable, b: CommTable): boolean {
  return a.kind === 'distributed' && b.kind === 'distributed' && a.slices === b.slices && a.start === b.start
}

export async function groupOf(comm: CommHandle): Promise<Group> {
  const { state } = comm.seat()
  await state.place()
  return state.group
}

export async function worldRanks(comm: CommHandle, ranks: ArrayLike<number>): Promise<Int32Array> {
  const { table } = comm.seat().state
  const found = Array.from(requireList(ranks, 'worldRanks'), (rank) => {
    if (Number.isInteger(rank) && rank >= 0 && rank < table.size) return table.lookup(rank)
    const said = `worldRanks: expected ranks from 0 to ${table.size - 1}, got ${shown(rank)}`
    throw new RankweaveError('ERR_RANK', said)
  })
  // Most tables are here: a promise is made only where one has to be waited for.
  const isHere = (each: number | Promise<number>) => typeof each === 'number'
  return Int32Array.from(found.every(isHere) ? (found as number[]) : await Promise.all(found))
}
