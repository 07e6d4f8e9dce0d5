import { bytesOf } from '../../base/bytes.js'
import { packBlocks, unpackBlocks } from '../../base/packing.js'
import { whenThere } from '../../base/turn.js'
import { parseAlgorithm } from '../../collective/algorithm-text.js'
import { algorithms } from '../../collective/algorithms.js'
import type { Algorithm } from '../../collective/patterns/algorithm.js'
import { requireIntact, type TypedArray, typeCode } from '../../messages/datatype/elements.js'
import type { ReceiveBuffer } from '../../messages/datatype/strided-view.js'
import { copyOf, type Exchange, noBytes, parentIn, sendToChildren } from '../exchange/exchange.js'
import type { CollectiveContext, Resolution, Unplanned } from '../plan/collective-plan.js'
import type { Method } from '../plan/method.js'
import { requireMethod, resolve } from '../plan/resolve.js'
import type { TunedCalls } from '../plan/tuned-calls.js'
import { type BoundProgram, filled, type PlannedCall } from '../program/planned-call.js'
import { type Block, deliver, SharedLanding } from '../values/deliver.js'
import { ElementStore } from '../values/element-store.js'
import { joinedBlocks, localIndexOf, processOfRank } from '../values/placement.js'
import { moveBlocks, unitLengths } from './move-blocks.js'

/** The facts of a call that only the root's ranks know. The others get them before the data. */
interface CallHead extends Resolution {
  /** The wire code of the elements. */
  readonly type: number
  /** The number of bytes of every unit of data. */
  readonly sizes: Float64Array
}

/**
 * @param isNamed whether the ranks have named the algorithm; if not, an algorithm without a number is encoded as text
 */
function encodeHead(
  { type, algorithm, segments, sizes }: CallHead,
  tuned?: Pick<TunedCalls, 'numberOf'>,
  isNamed = true,
): Uint8Array {
  const number = numberOf(algorithm, tuned)
  const words = Float64Array.of(type, number, segments)
  const text = isNamed || number >= 0 ? [] : [new TextEncoder().encode(algorithm.id)]
  return packBlocks([bytesOf(words), bytesOf(sizes), ...text])
}

/**
 * Returns the place of an algorithm in the registry, or its place in the tuning file, counted after the registry.
 * Returns -1 for one with parameters that all ranks have named.
 */
function numberOf(algorithm: Algorithm, tuned: Pick<TunedCalls, 'numberOf'> | undefined): number {
  const place = algorithms.indexOf(algorithm)
  if (place >= 0) return place
  const number = tuned?.numberOf(algorithm) ?? -1
  return number < 0 ? -1 : algorithms.length + number
}

/**
 * @param bytes start at a multiple of 8 in their buffer
 * @param named the algorithm that the ranks have named, if any
 */
function decodeHead(
  bytes: Uint8Array,
  named: Algorithm | undefined,
  tuned?: Pick<TunedCalls, 'algorithmOf'>,
): CallHead {
  const blocks = unpackBlocks(bytes)
  const [words, sizes] = blocks
    .slice(0, 2)
    .map((block) => new Float64Array(block.buffer, block.byteOffset, block.byteLength / 8))
  const [type, index, segments] = words
  const algorithm = named ?? algorithmIn(blocks[2], index, tuned)
  return { type, algorithm, segments, sizes }
}

/** @param text of an algorithm that has no number */
function algorithmIn(
  text: Uint8Array | undefined,
  number: number,
  tuned: Pick<TunedCalls, 'algorithmOf'> | undefined,
): Algorithm {
  if (text !== undefined) return parseAlgorithm(new TextDecoder().decode(text), 'bcast').algorithm
  return number < algorithms.length ? algorithms[number] : tuned!.algorithmOf(number - algorithms.length)
}

type TypedBytes = Pick<Block, 'type' | 'bytes'>

export interface BcastContribution {
  /** The root's data and their bytes; other ranks have none. */
  readonly data?: unknown
  readonly block?: TypedBytes
  readonly into?: ReceiveBuffer | undefined
}

type Contributions = readonly (BcastContribution | undefined)[]

/** The step of the heads, before those of a plan. */
const headStep = 0
/** The most processes to which the root sends the head itself. */
const mostInStar = 8
/**
 * The length of the first part of a head. It holds the element type, the setting of online tuning, and whether the
 * payload follows at once; otherwise a {@link CallHead} follows.
 */
const inlineBytes = 8
/** Encodes the number of the setting that online tuning has chosen, otherwise 0. */
const settingBytes = (setting: number): Uint8Array => Uint8Array.of(setting & 255, setting >> 8)
const settingIn = (head: Uint8Array): number => head[2] | (head[3] << 8)
const plannedHead = (setting: number): Uint8Array => {
  const head = Uint8Array.of(0, 1, 0, 0, 0, 0, 0, 0)
  head.set(settingBytes(setting), 2)
  return head
}

/**
 * Returns a bcast. Only the root knows type and size, so it sends a head, down a binomial tree of processes unless they
 * are few. Short data come with the head. Other data follow by the algorithm that the head names, from the root's array
 * into one of each process, whose other ranks copy from it.
 *
 * @throws ERR_ALGORITHM when the method does not take this number of processes
 */
export function bcastCall(
  state: CollectiveContext,
  root: number,
  method: Method | undefined,
): PlannedCall<BcastContribution | undefined> {
  requireMethod(state, method, { isSized: true })
  return {
    signature: { name: 'bcast', root, ...(method === undefined ? {} : { method: method.name }) },
    // A process must know where all ranks are before it can choose.
    unplaced: method?.isAuto !== true,
    run(contributions, exchange) {
      const rootIndex = localIndexOf(state, root)
      if (rootIndex >= 0) {
        const { bytes } = contributions[rootIndex]!.block!
        requireIntact(bytes)
        if (exchange.count === 1) return resultsAtRoot(state, contributions, rootIndex)
        return whenThere(
          resolve(state, { collective: 'bcast', method, sizeBytes: bytes.byteLength }, exchange),
          (resolution) => sendFromRoot(state, contributions, rootIndex, resolution, exchange),
        )
      }
      const found = state.processOfRank(root)
      if (typeof found !== 'number')
        return found.then((process) => receive(state, process, method, contributions, exchange))
      return receive(state, found, method, contributions, exchange)
    },
    bind(contributions) {
      const buffers = contributions.map((each) => each!.block?.bytes ?? bytesOf(each!.into as TypedArray))
      const call = { collective: 'bcast', method, sizeBytes: buffers[0].byteLength } as const
      return whenThere(resolve(state, call), (resolution) => {
        const segments = method?.segments ?? 1
        const chosen = resolution.algorithm === null ? { algorithm: fallback, segments } : resolution
        return boundBcast(state, root, chosen, buffers)
      })
    },
  }
}

/** Binds a bcast whose ranks all have arrays of one type and length, so that no head is sent. */
function boundBcast(
  state: CollectiveContext,
  root: number,
  chosen: Resolution,
  buffers: readonly Uint8Array[],
): BoundProgram {
  const [{ byteLength }] = buffers
  const rootIndex = localIndexOf(state, root)
  const plan = state.plans.movePlan(chosen, processOfRank(state.processes, root))
  const source = buffers[Math.max(0, rootIndex)]
  const lengths = unitLengths(byteLength, plan.parts)
  const store = new ElementStore(plan.program, plan.memory(), typeCode.Uint8Array, lengths, undefined)
  if (rootIndex >= 0) store.bind([source], noBytes)
  else store.bind([noBytes], source)
  return {
    plan,
    store,
    fill() {},
    deliver() {
      for (const bytes of buffers) if (bytes !== source) bytes.set(source)
      return filled
    },
  }
}

function resultsAtRoot(
  state: CollectiveContext,
  contributions: Contributions,
  rootIndex: number,
): readonly unknown[] {
  const { data, block } = contributions[rootIndex]!
  const { type, bytes } = block!
  return Array.from(state.localRanks, (_, localIndex) =>
    localIndex === rootIndex ? data : deliver(state, type, bytes, contributions[localIndex]?.into),
  )
}

function sendFromRoot(
  state: CollectiveContext,
  contributions: Contributions,
  rootIndex: number,
  resolution: Resolution | Unplanned,
  exchange: Exchange,
): undefined {
  const { type, bytes } = contributions[rootIndex]!.block!
  requireIntact(bytes)
  const finish = () => exchange.finish(resultsAtRoot(state, contributions, rootIndex))
  const { me } = exchange
  const chosen = withoutHead(resolution, bytes.byteLength, exchange)
  const setting = state.online?.settingOf(exchange) ?? 0
  if (chosen === null) {
    state.plans.inlineBcasts++
    state.plans.inlineChoice = resolution.choice
    const head = new Uint8Array(inlineBytes + bytes.byteLength)
    head[0] = type
    head.set(settingBytes(setting), 2)
    head.set(bytes, inlineBytes)
    sendHead(state, exchange, me, head)
    finish()
    return undefined
  }
  const head = encodeHead(
    { ...chosen, type, sizes: Float64Array.of(bytes.byteLength) },
    state.online ?? state.plans.tuned,
    chosen.choice?.by !== 'machine',
  )
  sendHead(state, exchange, me, joinedBlocks([plannedHead(setting), head]))
  const plan = state.plans.movePlan(chosen, me)
  moveBlocks(plan, unitLengths(bytes.byteLength, plan.parts), [bytes], noBytes, exchange, finish)
  return undefined
}

/**
 * Sends the head from the root to every process at once if that is no slower. The data come from the root too, so they
 * cannot overtake their head.
 */
function sendHead(state: CollectiveContext, exchange: Exchange, me: number, head: Uint8Array): void {
  const { count } = exchange
  if (!isStarOf(state, exchange)) {
    sendToChildren(exchange, me, head, headStep)
    return
  }
  for (let distance = 1; distance < count; distance++) exchange.send((me + distance) % count, headStep, head)
}

function isStarOf({ plans }: CollectiveContext, { count }: Exchange): boolean {
  return count <= mostInStar && plans.isMemoryShared
}

/** Returns how the data follow their head; null if they travel with it. */
function withoutHead(
  resolution: Resolution | Unplanned,
  sizeBytes: number,
  { eagerLimitBytes }: Exchange,
): Resolution | null {
  const { algorithm, choice } = resolution
  const isInline = inlineBytes + sizeBytes <= eagerLimitBytes
  if (algorithm === null) return isInline ? null : { algorithm: fallback, segments: 1 }
  // The head goes down the same tree.
  const isHead = choice?.by === 'machine' && algorithm === fallback && resolution.segments === 1
  return isInline && isHead ? null : resolution
}

const fallback = algorithms.find(({ id }) => id === 'bcast-binomial')!

function receive(
  state: CollectiveContext,
  root: number,
  method: Method | undefined,
  contributions: Contributions,
  exchange: Exchange,
): undefined {
  const isStar = isStarOf(state, exchange)
  const parent = isStar ? root : parentIn(exchange, root)
  const intos = Array.from(state.localRanks, (_, localIndex) => contributions[localIndex]?.into)
  exchange.take(parent, headStep, (head, owned) => {
    if (!isStar) sendToChildren(exchange, root, head, headStep)
    if (head[1] === 0) {
      state.plans.inlineBcasts++
      const type = head[0]
      // A decoded value may be a view of its bytes.
      const bytes = (owned || type !== typeCode.value ? head : copyOf(head)).subarray(inlineBytes)
      state.online?.arrived(exchange, 'bcast', settingIn(head), bytes.byteLength)
      exchange.finish(intos.map((into) => deliver(state, type, bytes, into)))
      return
    }
    const chosen = decodeHead(
      copyOf(head.subarray(inlineBytes)),
      method?.algorithm,
      state.online ?? state.plans.tuned,
    )
    const sizeBytes = chosen.sizes[0]
    state.online?.arrived(exchange, 'bcast', settingIn(head), sizeBytes)
    const plan = state.plans.movePlan(chosen, root)
    const landing = new SharedLanding(state, chosen.type, sizeBytes, intos)
    moveBlocks(plan, unitLengths(sizeBytes, plan.parts), [noBytes], landing.bytes, exchange, () =>
      exchange.finish(landing.results()),
    )
  })
  return undefined
}
