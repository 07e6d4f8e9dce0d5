import { nodesOfRanks } from '../calibrate/calibrate.js'
import { isRankweaveError } from '../errors.js'
import type { Communicator } from '../handles/communicator.js'
import type { TypedArray } from '../messages/datatype/elements.js'
import type { Collective } from '../schedule/specification.js'
import type { ElementType, MeasurementSource } from '../tuning/measured/measurement.js'
import { ownAlgorithms, ownSettings } from '../tuning/settings/own-settings.js'
import { defaultAlgorithm, settingLine, type TuningSetting } from '../tuning/settings/setting.js'
import { callProcesses, isReduction, type TuningCall } from '../tuning/settings/tuning-call.js'
import {
  elementBytes,
  largestSpread,
  measuredOperation,
  membersOf,
  type PlacedSpread,
  spreadText,
} from './grid.js'
import { type CallVerdict, defaultSetting, type Meter } from './meter.js'

/** An order of rank 0 to all ranks. Orders travel as text. */
type Order =
  | { readonly kind: 'begin'; readonly call: TuningCall }
  | { readonly kind: 'verify'; readonly setting: TuningSetting }
  | { readonly kind: 'time'; readonly setting: TuningSetting; readonly repetitions: number }
  | { readonly kind: 'end' }
  | { readonly kind: 'close' }

export interface WorldMeterOptions {
  readonly source: MeasurementSource
  readonly elementType: ElementType
  /** The lengths of segments in bytes; 0 for whole data. */
  readonly segments: readonly number[]
}

interface WorldMeter extends Meter {
  readonly spread: PlacedSpread
  /** Lets the other ranks return. */
  close(): Promise<void>
}

/**
 * Measures Rankweave's own collectives on a world with one rank in every process. Every rank calls it. Ranks other than
 * 0 follow the orders of rank 0 until that closes its meter, and get null.
 */
export async function worldMeter(
  world: Communicator,
  { source, elementType, segments }: WorldMeterOptions,
): Promise<WorldMeter | null> {
  const spread = largestSpread(await nodesOfRanks(world))
  const state: RankState = { world, spread, elementType, comm: null, spreadNow: '', call: null }
  if (world.rank !== 0) {
    for (;;) {
      const order = JSON.parse(await world.bcast('', 0)) as Order
      if (order.kind === 'close') return null
      await follow(state, order)
    }
  }
  const command = async (order: Order): Promise<Followed> => {
    await world.bcast(JSON.stringify(order), 0)
    return order.kind === 'close' ? nothing : await follow(state, order)
  }
  return {
    ...{ source, spread, isComputed: false },
    algorithms: worldAlgorithms,
    settings: (call) => [defaultSetting(call), ...ownSettings(call, segments)],
    begin: async (call) => void (await command({ kind: 'begin', call })),
    verify: async (setting) => verdicts[(await command({ kind: 'verify', setting })).worst],
    time: async (setting, repetitions) => {
      const { longestUs } = await command({ kind: 'time', setting, repetitions })
      return { callUs: longestUs.slice(0, repetitions), barrierUs: longestUs.slice(repetitions) }
    },
    end: async () => void (await command({ kind: 'end' })),
    close: async () => void (await command({ kind: 'close' })),
  }
}

/** Returns the names of the algorithms of a collective that a world measures. */
export function worldAlgorithms(collective: Collective): readonly string[] {
  return [defaultAlgorithm, ...ownAlgorithms(collective)]
}

/** The state of a rank during the call that is measured. */
interface RankState {
  readonly world: Communicator
  readonly spread: PlacedSpread
  readonly elementType: ElementType
  /** The communicator of the members of the spread; null on other ranks. */
  comm: Communicator | null
  spreadNow: string
  call: { readonly is: TuningCall; readonly data: MeasuredCall | null } | null
}

interface Followed {
  /** The index in {@link verdicts}. */
  readonly worst: number
  /** The times of the call, then of the barrier, by repetition, each in the process that took longest. */
  readonly longestUs: readonly number[]
}

const nothing: Followed = { worst: 0, longestUs: [] }
/** The verdicts, from good to bad. */
const verdicts: readonly CallVerdict[] = ['right', 'wrong', 'refused']

async function follow(state: RankState, order: Order): Promise<Followed> {
  const { world } = state
  switch (order.kind) {
    case 'begin':
      await begin(state, order.call)
      return nothing
    case 'verify': {
      const verdict = verdicts.indexOf(await verdictOf(state, order.setting))
      const worst = await world.allreduce(Int32Array.of(verdict), 'max')
      return { worst: worst[0], longestUs: [] }
    }
    case 'time': {
      const own = await timesOf(state, order.setting, order.repetitions)
      return { worst: 0, longestUs: [...(await world.allreduce(own, 'max'))] }
    }
    default:
      state.call = null
      return nothing
  }
}

/**
 * The bounds on calls of the default algorithm that make a collective's code compiled, and the bytes that they move.
 */
const [mostWarming, leastWarming, warmingBytes] = [256, 2, 2 ** 23]

async function begin(state: RankState, call: TuningCall): Promise<void> {
  const { world, spread, elementType } = state
  const name = spreadText(call)
  if (state.spreadNow !== name) {
    await state.comm?.free()
    const place = membersOf(spread, call).indexOf(world.rank)
    state.comm = await world.split(place < 0 ? null : 0, place)
    state.spreadNow = name
  }
  const data = state.comm === null ? null : measuredCall(state.comm, call, elementType)
  state.call = { is: call, data }
  const moved = callProcesses(call) * Math.max(call.bytes, 4096)
  const calls = Math.min(mostWarming, Math.max(leastWarming, Math.floor(warmingBytes / moved)))
  for (let i = 0; i < calls; i++) await data?.once(methodOf(call, defaultSetting(call)))
}

function methodOf({ order }: TuningCall, setting: TuningSetting): CallMethod {
  return {
    ...(setting.algorithm === defaultAlgorithm ? {} : { algorithm: settingLine(setting) }),
    ...(order === undefined ? {} : { order: order === 'any' ? 'any' : 'tree' }),
  }
}

/** Tries a call. A communicator that refuses it does so on all ranks before any message. */
async function verdictOf({ call }: RankState, setting: TuningSetting): Promise<CallVerdict> {
  if (call === null || call.data === null) return 'right'
  const { data, is } = call
  data.clear()
  try {
    await data.once(methodOf(is, setting))
  } catch (error) {
    if (isRankweaveError(error, 'ERR_ALGORITHM')) return 'refused'
    throw error
  }
  return data.isRight() ? 'right' : 'wrong'
}

const dissemination = { algorithm: 'barrier-dissemination' } as const

async function timesOf(
  { comm, call }: RankState,
  setting: TuningSetting,
  repetitions: number,
): Promise<Float64Array> {
  const timesUs = new Float64Array(2 * repetitions)
  const data = call?.data ?? null
  if (comm === null || call === null || data === null) return timesUs
  const method = methodOf(call.is, setting)
  await comm.barrier(dissemination)
  for (let i = 0; i < repetitions; i++) {
    const before = performance.now()
    await comm.barrier(dissemination)
    const entered = performance.now()
    await data.once(method)
    await comm.barrier(dissemination)
    timesUs[i] = (performance.now() - entered) * 1000
    timesUs[repetitions + i] = (entered - before) * 1000
  }
  return timesUs
}

interface CallMethod {
  /** The line of text of an algorithm; undefined for the library's default. */
  readonly algorithm?: string
  readonly order?: 'tree' | 'any'
}

/** A call on the ranks of a communicator, with its data. All ranks make it together. */
interface MeasuredCall {
  once(method: CallMethod): Promise<unknown>
  /** Makes the result wrong, so that a call which does nothing is found. */
  clear(): void
  /** Returns whether the result of this rank is right. */
  isRight(): boolean
}

/** Returns byte `i` of the block that one rank has for another. */
function byteOf(srcRank: number, dstRank: number, i: number): number {
  return (srcRank * 89 + dstRank * 31 + i * 7 + (i >>> 8) * 13 + 5) % 251
}

/** Returns element `i` of a rank's contribution: sums over 2^22 ranks are exact in every type of element. */
function termOf(rank: number, i: number): number {
  return ((rank * 7 + i * 3) % 101) + 1
}

/** @param call whose processes are the ranks of the communicator */
export function measuredCall(comm: Communicator, call: TuningCall, elementType: ElementType): MeasuredCall {
  return isReduction(call.collective) ? reductionOf(comm, call, elementType) : movementOf(comm, call)
}

const root = 0

function movementOf(comm: Communicator, { collective, bytes }: TuningCall): MeasuredCall {
  const { rank, size } = comm
  const isRoot = rank === root
  const all = Array.from({ length: size }, (_, other) => other)
  const blocks = (ofBlock: (other: number) => readonly [src: number, dst: number]) => {
    const data = new Uint8Array(bytes * size)
    for (const other of all) {
      const [src, dst] = ofBlock(other)
      fillBytes(data.subarray(other * bytes, (other + 1) * bytes), src, dst)
    }
    return data
  }
  const block = (src: number, dst: number) => fillBytes(new Uint8Array(bytes), src, dst)
  switch (collective) {
    case 'barrier':
      return { once: (method) => comm.barrier(method), clear() {}, isRight: () => true }
    case 'bcast': {
      const data = isRoot ? block(root, root) : null
      return received(isRoot ? null : new Uint8Array(bytes), block(root, root), (into, method) =>
        comm.bcast(data, root, into === null ? method : { into, ...method }),
      )
    }
    case 'scatter': {
      const data = isRoot ? blocks((other) => [root, other]) : null
      return received(new Uint8Array(bytes), block(root, rank), (into, method) =>
        comm.scatter(data, root, { into: into!, ...method }),
      )
    }
    case 'gather': {
      const data = block(rank, root)
      const into = isRoot ? new Uint8Array(bytes * size) : null
      const expected = isRoot ? blocks((other) => [other, root]) : new Uint8Array(0)
      return received(into, expected, (array, method) =>
        comm.gather(data, root, array === null ? method : { into: array, ...method }),
      )
    }
    case 'allgather': {
      const data = block(rank, 0)
      return received(
        new Uint8Array(bytes * size),
        blocks((other) => [other, 0]),
        (into, method) => comm.allgather(data, { into: into!, ...method }),
      )
    }
    case 'alltoall': {
      const data = blocks((other) => [rank, other])
      return received(
        new Uint8Array(bytes * size),
        blocks((other) => [other, rank]),
        (into, method) => comm.alltoall(data, { into: into!, ...method }),
      )
    }
    default:
      throw new TypeError(`no call of ${collective} is measured`)
  }
}

function reductionOf(comm: Communicator, call: TuningCall, elementType: ElementType): MeasuredCall {
  const { collective, bytes } = call
  const { rank, size } = comm
  const count = bytes / elementBytes(elementType)
  const ofLength = (length: number) =>
    elementType === 'float64' ? new Float64Array(length) : new Int32Array(length)
  const length = collective === 'reduce-scatter' ? count * size : count
  const data = filled(ofLength(length), (i) => termOf(rank, i))
  /** Returns element `i` of the sum over the ranks from 0 to `ranks - 1`. */
  const sum = (ranks: number, i: number) => {
    let total = 0
    for (let other = 0; other < ranks; other++) total += termOf(other, i)
    return total
  }
  const into = ofLength(count)
  const expect = (ranks: number, first = 0) => filled(ofLength(count), (i) => sum(ranks, first + i))
  const op = measuredOperation
  switch (collective) {
    case 'reduce': {
      const expected = rank === root ? expect(size) : ofLength(0)
      return received(rank === root ? into : null, expected, (array, method) =>
        comm.reduce(data, op, root, array === null ? method : { into: array as never, ...method }),
      )
    }
    case 'allreduce':
      return received(into, expect(size), (array, method) =>
        comm.allreduce(data, op, { into: array as never, ...method }),
      )
    case 'reduce-scatter':
      return received(into, expect(size, rank * count), (array, method) =>
        comm.reduceScatter(data, op, { into: array as never, ...method }),
      )
    case 'scan':
      return received(into, expect(rank + 1), (array, method) =>
        comm.scan(data, op, { into: array as never, ...method }),
      )
    case 'exscan': {
      const expected = rank === 0 ? ofLength(0) : expect(rank)
      return received(rank === 0 ? null : into, expected, (array, method) =>
        comm.exscan(data, op, array === null ? method : { into: array as never, ...method }),
      )
    }
    default:
      throw new TypeError(`no reduction ${collective} is measured`)
  }
}

/** Returns a call with a result in an array, on ranks that have one. */
function received<T extends TypedArray>(
  into: T | null,
  expected: T,
  once: (into: T | null, method: CallMethod) => Promise<unknown>,
): MeasuredCall {
  return {
    once: (method) => once(into, method),
    clear: () => void into?.fill(0 as never),
    isRight: () => into === null || expected.every((value: unknown, i: number) => value === into[i]),
  }
}

function fillBytes(array: Uint8Array, srcRank: number, dstRank: number): Uint8Array {
  for (let i = 0; i < array.length; i++) array[i] = byteOf(srcRank, dstRank, i)
  return array
}

function filled<T extends Float64Array | Int32Array>(array: T, of: (i: number) => number): T {
  for (let i = 0; i < array.length; i++) array[i] = of(i)
  return array
}
