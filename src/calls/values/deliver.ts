import { bytesOf, overlap } from '../../base/bytes.js'
import { concatenate } from '../../base/packing.js'
import { isRankweaveError, RankweaveError, wrongValue } from '../../errors.js'
import { elementSizeBytes, newArray, type TypedArray, typeCode } from '../../messages/datatype/elements.js'
import {
  type Landing,
  landing,
  misfit,
  payloadOf,
  requireReceiveBuffer,
} from '../../messages/datatype/payload.js'
import { copyElements, pack, type ReceiveBuffer, StridedView } from '../../messages/datatype/strided-view.js'
import { decodeValue } from '../../messages/datatype/value-reader.js'
import { encodeValue } from '../../messages/datatype/value-writer.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { RankFailure } from '../matching/collective-call.js'
import type { Gathered } from './placement.js'

/** The contribution of one rank: its elements, contiguous, or one encoded value. The bytes may be the user's own. */
export interface Block {
  readonly type: number
  /** The number of elements; 1 for a value. */
  readonly countElems: number
  readonly bytes: Uint8Array
}

/** @throws ERR_TYPE, ERR_CLONE, ERR_COUNT for data that cannot be sent */
export function blockOf(call: string, data: unknown): Block {
  const payload = payloadOf(data, call)
  return { type: payload.type, countElems: payload.countElems, bytes: bytesOf(packedElements(payload.data)) }
}

export function packedElements(data: Parameters<typeof pack>[0]): TypedArray {
  return ArrayBuffer.isView(data) ? (data as TypedArray) : pack(data)
}

/**
 * Returns a rank's contribution, with a copy of the bytes if `into` overlaps them. Results are written rank by rank,
 * while other ranks of the same process still read these bytes.
 */
export function copyIfAliased<P extends { readonly bytes: Uint8Array }>(into: unknown, part: P): P {
  if (into === undefined) return part
  const target = into instanceof StridedView ? into.array : (into as TypedArray)
  return overlap(target, part.bytes) ? { ...part, bytes: part.bytes.slice() } : part
}

/** Delivers one block to a rank: a fresh array or value, or `into` filled; a failure when it does not fit. */
export function deliver(
  state: CommContext,
  type: number,
  bytes: Uint8Array,
  into: ReceiveBuffer | undefined,
): unknown {
  const countElems = type === typeCode.value ? 1 : bytes.byteLength / elementSizeBytes(type)
  const error = misfit(type, countElems, into)
  if (error !== undefined) return new RankFailure(error)
  state.runtime.processCounters.bytesCopied += bytes.byteLength
  if (type === typeCode.value) return decodeValue(bytes)
  const target = landing(type, countElems, bytes.byteLength, into)
  target.bytes.set(bytes)
  return target.finish()
}

/** Delivers like {@link deliver}, for elements or an encoded value; cheap for the few elements of most reductions. */
export function deliverData(
  state: CommContext,
  type: number,
  data: TypedArray,
  into: ReceiveBuffer | undefined,
): unknown {
  if (type === typeCode.value) return deliver(state, type, data as Uint8Array, into)
  const error = misfit(type, data.length, into)
  if (error !== undefined) return new RankFailure(error)
  state.runtime.processCounters.bytesCopied += data.byteLength
  if (into === undefined) return pack(data)
  copyElements(data, into)
  return into
}

/** Delivers the result of a gather to a rank: the typed blocks as one array, or the list of values. */
export function deliverAll(
  state: CommContext,
  type: number,
  flat: Uint8Array | null,
  blocks: readonly Uint8Array[],
  into: ReceiveBuffer | undefined,
): unknown {
  if (type !== typeCode.value) return deliver(state, type, flat!, into)
  const error = misfit(type, 1, into)
  return error === undefined ? blocks.map(decodeValue) : new RankFailure(error)
}

interface LayoutOptions {
  readonly into?: TypedArray
  readonly counts?: ArrayLike<number>
  readonly displs?: ArrayLike<number>
}

/** The layout that a rank wants for blocks of varying lengths. */
export interface Layout {
  readonly into: TypedArray | undefined
  readonly counts: Int32Array | undefined
  readonly displs: Int32Array | undefined
}

/**
 * Delivers blocks of varying lengths in the layout a rank asked for, with counts and offsets; a failure when they do
 * not fit.
 */
export function deliverBlocks(
  state: CommContext,
  type: number,
  blocks: readonly Uint8Array[],
  layout: Layout,
): Gathered | RankFailure {
  const gathered = roomForBlocks(
    type,
    blocks.map((block) => block.byteLength),
    layout,
  )
  if (gathered instanceof RankFailure) return gathered
  blocks.forEach((block, rank) => {
    placeOf(gathered, rank, block.byteLength).set(block)
    state.runtime.processCounters.bytesCopied += block.byteLength
  })
  return gathered
}

/** Makes the memory for {@link deliverBlocks} before the blocks arrive; a failure when they will not fit. */
export function roomForBlocks(
  type: number,
  sizesBytes: readonly number[],
  { into, counts: expected, displs: wanted }: Layout,
): GatheredArray | RankFailure {
  const elemBytes = elementSizeBytes(type)
  const counts = Int32Array.from(sizesBytes, (sizeBytes) => sizeBytes / elemBytes)
  for (let rank = 0; expected !== undefined && rank < counts.length; rank++) {
    if (expected[rank] === counts[rank]) continue
    const message = `expected ${expected[rank]} elements of rank ${rank}, got ${counts[rank]}`
    return new RankFailure(new RankweaveError('ERR_COUNT', message, { details: { rank } }))
  }
  const displs = wanted?.slice() ?? packedDispls(counts)
  let end = 0
  counts.forEach((count, rank) => {
    if (count > 0) end = Math.max(end, displs[rank] + count)
  })
  const error = misfit(type, end, into)
  if (error !== undefined) return new RankFailure(error)
  const data = into ?? roomFor(type, end)
  return data instanceof RankFailure ? data : { data, counts, displs }
}

type GatheredArray = Gathered<TypedArray>

/** Returns the bytes of rank r's block in the memory of {@link roomForBlocks}. */
export function placeOf({ data, displs }: GatheredArray, rank: number, sizeBytes: number): Uint8Array {
  const { BYTES_PER_ELEMENT, buffer, byteOffset } = data
  // The start of an empty block may lie outside.
  if (sizeBytes === 0) return nothing
  return new Uint8Array(buffer, byteOffset + displs[rank] * BYTES_PER_ELEMENT, sizeBytes)
}

const nothing = new Uint8Array(0)

/** Makes the result of a rank. Its layout may need more memory than there is; then only that rank fails. */
function roomFor(type: number, countElems: number): TypedArray | RankFailure {
  try {
    return newArray(type, countElems)
  } catch (error) {
    if (isRankweaveError(error)) return new RankFailure(error)
    throw error
  }
}

export function packedDispls(counts: Int32Array): Int32Array {
  const displs = new Int32Array(counts.length)
  for (let i = 1; i < counts.length; i++) displs[i] = displs[i - 1] + counts[i - 1]
  return displs
}

/**
 * Copies a list with a number of elements for each of `size` blocks.
 *
 * @param per what has a block: `rank`, `source`
 * @throws ERR_COUNT unless there is one integer from 0 to 2^31 - 1 for each
 */
export function countsOf(what: string, list: ArrayLike<number>, size: number, per = 'rank'): Int32Array {
  if (typeof list !== 'object' || list === null || list.length !== size) {
    const got = list === null || typeof list !== 'object' ? list : list.length
    throw wrongValue('ERR_COUNT', `${what}: expected ${size} numbers, one per ${per}`, got)
  }
  const counts = new Int32Array(size)
  for (let block = 0; block < size; block++) {
    const count = list[block]
    if (!Number.isInteger(count) || count < 0 || count > 0x7fffffff) {
      const expected = `${what}[${block}] must be an integer from 0 to 2^31 - 1`
      throw wrongValue('ERR_COUNT', expected, count, per === 'rank' ? { rank: block } : { slot: block })
    }
    counts[block] = count
  }
  return counts
}

/**
 * Returns the layout that a rank wants, in copies of its lists.
 *
 * @throws ERR_COUNT as {@link countsOf}
 */
export function layoutOf(
  name: string,
  options: LayoutOptions | undefined,
  size: number,
  per = 'rank',
): Layout {
  const { into, counts, displs } = options ?? {}
  return {
    into,
    counts: counts === undefined ? undefined : countsOf(`${name}: counts`, counts, size, per),
    displs: displs === undefined ? undefined : countsOf(`${name}: displs`, displs, size, per),
  }
}

/** @throws ERR_TYPE unless `into` is a buffer that results can fill */
export function intoOf(options: Pick<LayoutOptions, 'into'> | undefined): TypedArray | undefined {
  if (options?.into !== undefined) requireReceiveBuffer(options.into)
  return options?.into
}

/** @throws ERR_RANK */
export function requireRoot(root: unknown, size: number): void {
  if (Number.isInteger(root) && (root as number) >= 0 && (root as number) < size) return
  throw wrongValue('ERR_RANK', `root must be a rank from 0 to ${size - 1}`, root)
}

/** @throws ERR_TYPE unless the elements are those of a typed array */
export function requireElements(what: string, type: number): void {
  if (type !== typeCode.value) return
  throw new RankweaveError('ERR_TYPE', `${what} needs a typed array or a strided view`)
}

/**
 * The destination that a rank has for a result: a buffer to be filled, undefined for a fresh array, null for nothing.
 */
export type Wanted = ReceiveBuffer | undefined | null

/**
 * The memory in which a result of several ranks of a process arrives: the buffer of one of them. A process with one
 * rank thus copies nothing; otherwise the others get copies.
 */
export class SharedLanding {
  /** The memory, to be filled before {@link results}. */
  readonly bytes: Uint8Array
  readonly #state: CommContext
  readonly #type: number
  readonly #wanted: readonly Wanted[]
  readonly #landing: Landing | undefined
  /** The local index of the rank whose buffer it is; -1 if the result fits none. */
  readonly #owner: number

  /**
   * @param wanted by local index
   * @param mayFill whether the buffer of a rank may be filled before all its ranks' data have been read
   */
  constructor(
    state: CommContext,
    type: number,
    sizeBytes: number,
    wanted: readonly Wanted[],
    mayFill: (localIndex: number) => boolean = () => true,
  ) {
    const countElems = countOf(type, sizeBytes)
    this.#state = state
    this.#type = type
    this.#wanted = wanted
    this.#owner = wanted.findIndex(
      (into, i) => into !== null && misfit(type, countElems, into) === undefined && mayFill(i),
    )
    if (this.#owner >= 0)
      this.#landing = landing(type, countElems, sizeBytes, wanted[this.#owner] ?? undefined)
    this.bytes = this.#landing?.bytes ?? new Uint8Array(sizeBytes)
  }

  /** Returns the result of each rank, by local index: null for those that want nothing. */
  results(): unknown[] {
    return this.#wanted.map((into, localIndex) => {
      if (into === null) return null
      if (localIndex !== this.#owner) return deliver(this.#state, this.#type, this.bytes, into)
      return this.#landing!.finish()
    })
  }
}

/** Returns the memory for blocks that only one rank gets: a failure if they do not fit. */
export function landingOf(type: number, sizeBytes: number, into: ReceiveBuffer | undefined) {
  const countElems = countOf(type, sizeBytes)
  const error = misfit(type, countElems, into)
  return error === undefined ? landing(type, countElems, sizeBytes, into) : new RankFailure(error)
}

function countOf(type: number, sizeBytes: number): number {
  return type === typeCode.value ? 1 : sizeBytes / elementSizeBytes(type)
}

/**
 * The data that one rank sends to all ranks: block r is `sizes[r]` bytes from `starts[r]`. The bytes may be the user's
 * own.
 */
export interface SendBlocks {
  readonly type: number
  readonly bytes: Uint8Array
  readonly starts: Float64Array
  readonly sizes: Float64Array
}

/**
 * Returns equal blocks of a typed array or strided view, or the elements of an ordinary array as values.
 *
 * @throws ERR_COUNT when a typed array does not divide by `size`, or an array does not have one value per rank
 * @throws ERR_TYPE for anything else
 */
export function equalBlocks(what: string, data: unknown, size: number): SendBlocks {
  if (!ArrayBuffer.isView(data) && !(data instanceof StridedView)) return valueBlocks(what, data, size)
  const payload = payloadOf(data)
  requireElements(what, payload.type)
  if (payload.countElems % size !== 0) {
    const expected = `${what}: expected a multiple of ${size} elements, one block per rank`
    throw wrongValue('ERR_COUNT', expected, payload.countElems)
  }
  const blockBytes = payload.sizeBytes / size
  return {
    type: payload.type,
    bytes: bytesOf(packedElements(payload.data)),
    starts: Float64Array.from({ length: size }, (_, rank) => rank * blockBytes),
    sizes: new Float64Array(size).fill(blockBytes),
  }
}

/**
 * Returns blocks of the given lengths.
 *
 * @param side the beginning of the names of the lists: `sendCounts`, `counts`
 * @throws ERR_COUNT when they reach beyond the data
 */
export function countedBlocks(
  what: string,
  side: 'send' | '',
  data: unknown,
  counts: ArrayLike<number>,
  displs: ArrayLike<number> | undefined,
  size: number,
): SendBlocks {
  const payload = payloadOf(data)
  requireElements(what, payload.type)
  const [countsName, displsName] = side === 'send' ? ['sendCounts', 'sendDispls'] : ['counts', 'displs']
  const lengths = countsOf(`${what}: ${countsName}`, counts, size)
  const firsts =
    displs === undefined ? packedDispls(lengths) : countsOf(`${what}: ${displsName}`, displs, size)
  const elemBytes = elementSizeBytes(payload.type)
  for (let rank = 0; rank < size; rank++) {
    const end = firsts[rank] + lengths[rank]
    if (lengths[rank] === 0 || (end <= payload.countElems && firsts[rank] >= 0)) continue
    throw new RankweaveError(
      'ERR_COUNT',
      `${what}: the block of rank ${rank} ends at element ${end}, but the data has ${payload.countElems}`,
      { details: { rank } },
    )
  }
  return {
    type: payload.type,
    bytes: bytesOf(packedElements(payload.data)),
    starts: Float64Array.from(firsts, (first) => first * elemBytes),
    sizes: Float64Array.from(lengths, (length) => length * elemBytes),
  }
}

function valueBlocks(what: string, data: unknown, size: number): SendBlocks {
  if (!Array.isArray(data)) {
    const got = data === null ? 'null' : typeof data
    const message = `${what}: expected a typed array or an array of ${size} values, got ${got}`
    throw new RankweaveError('ERR_TYPE', message)
  }
  if (data.length !== size)
    throw wrongValue('ERR_COUNT', `${what}: expected ${size} values, one per rank`, data.length)
  const blocks = data.map((value) => encodeValue(value, what))
  const sizes = Float64Array.from(blocks, (block) => block.byteLength)
  const starts = new Float64Array(size)
  for (let rank = 1; rank < size; rank++) starts[rank] = starts[rank - 1] + sizes[rank - 1]
  return { type: typeCode.value, bytes: concatenate(blocks), starts, sizes }
}

/** Returns the block of one rank, not copied. */
export function blockFor(sendBlocks: SendBlocks, rank: number): Uint8Array {
  return sendBlocks.bytes.subarray(sendBlocks.starts[rank], sendBlocks.starts[rank] + sendBlocks.sizes[rank])
}

/** Returns, for each rank here in turn, its blocks for `ranks`. */
export function blocksFor(
  all: readonly { readonly sendBlocks: SendBlocks }[],
  ranks: readonly number[],
): Uint8Array[] {
  return all.flatMap(({ sendBlocks }) => ranks.map((rank) => blockFor(sendBlocks, rank)))
}
