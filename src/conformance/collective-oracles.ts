import { seededRandom } from '../base/random.js'
import { algorithms } from '../collective/algorithms.js'
import { type ErrorCode, isRankweaveError } from '../errors.js'
import type { Communicator } from '../handles/communicator.js'
import { type TypedArray, typedArrays } from '../messages/datatype/elements.js'
import type { Collective } from '../schedule/specification.js'
import type { DecisionNode, DecisionTree } from '../tuning/models/decision-tree.js'
import { formatTuningFile, readTuningFile } from '../tuning/models/read-tuning-file.js'
import type { TuningFile } from '../tuning/models/tuning-file.js'
import type { TuningSetting } from '../tuning/settings/setting.js'

// These functions compute what the checks of collectives send and must receive, from the definitions, by one rank
// alone.

export const types = typedArrays

export interface Text {
  readonly text: string
  readonly parts: readonly number[]
}

export function ranksOf(comm: Communicator): number[] {
  return Array.from({ length: comm.size }, (_, rank) => rank)
}

/** Reduces along the tree by its definition: halves at multiples of powers of two. */
export function tree<V>(ranks: readonly number[], leaf: (rank: number) => V, op: (a: V, b: V) => V): V {
  if (ranks.length === 1) return leaf(ranks[0])
  const half = 2 ** Math.ceil(Math.log2(ranks.length) - 1)
  return op(tree(ranks.slice(0, half), leaf, op), tree(ranks.slice(half), leaf, op))
}

/** Returns the exclusive prefix of a rank: down the tree, each left half that is passed. */
export function treePrefix<V>(
  size: number,
  rank: number,
  leaf: (rank: number) => V,
  op: (a: V, b: V) => V,
): V | null {
  let before: V | null = null
  let first = 0
  let ranks = Array.from({ length: size }, (_, i) => i)
  while (ranks.length > 1) {
    const half = 2 ** Math.ceil(Math.log2(ranks.length) - 1)
    if (rank - first < half) {
      ranks = ranks.slice(0, half)
      continue
    }
    const left = tree(ranks.slice(0, half), leaf, op)
    before = before === null ? left : op(before, left)
    ranks = ranks.slice(half)
    first += half
  }
  return before
}

export function addFloats<T extends Float32Array | Float64Array>(a: T, b: T): T {
  const sum = a.slice() as T
  for (let i = 0; i < sum.length; i++) sum[i] = sum[i] + b[i]
  return sum
}

/** Returns floats of random magnitudes, so that every other association of the sum gives other bits. */
export function floats(slot: number, rank: number, length: number): Float64Array {
  const start = mix(slot, rank)
  const array = new Float64Array(length)
  for (let i = 0; i < length; i++) {
    const bits = mixIn(start, i)
    array[i] = (bits / 2 ** 32 - 0.5) * magnitudes[bits % magnitudes.length]
  }
  return array
}

const magnitudes = Float64Array.from({ length: 13 }, (_, exponent) => 10 ** exponent)

export function elements(
  type: (typeof types)[number],
  slot: number,
  src: number,
  dest: number,
  length: number,
): TypedArray {
  const start = mix(slot, src, dest)
  if (type === BigInt64Array || type === BigUint64Array) {
    const array = new type(length)
    for (let i = 0; i < length; i++) array[i] = (BigInt(mixIn(start, i)) << 31n) | BigInt(src)
    return array
  }
  // The array's constructor converts them: a loop over arrays of eleven types takes ten times as long.
  const words = new Uint32Array(length)
  for (let i = 0; i < length; i++) words[i] = mixIn(start, i)
  return new (type as Uint32ArrayConstructor)(words)
}

export function labeledText(slot: number, rank: number): Text {
  return { text: `<${slot}:${rank}>`, parts: [slot, rank] }
}

export function lengthsOf(blocks: readonly TypedArray[]): Int32Array {
  return Int32Array.from(blocks, (block) => block.length)
}

/** Returns varying lengths, some of them 0. */
export function lengthOf(rank: number, length: number): number {
  return (rank % 3) * length
}

export function concatenatedBlocks(type: (typeof types)[number], blocks: readonly TypedArray[]): TypedArray {
  const all = new type(blocks.reduce((sum, block) => sum + block.length, 0))
  let at = 0
  for (const block of blocks) {
    ;(all as Float64Array).set(block as Float64Array, at)
    at += block.length
  }
  return all
}

/** Returns 32 well mixed bits of some numbers. */
function mix(...numbers: readonly number[]): number {
  return numbers.reduce(mixIn, 0x9e3779b9)
}

function mixIn(bits: number, number: number): number {
  let hash = Math.imul(bits ^ number, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

export function same(actual: unknown, expected: unknown, what: string): void {
  if (isSame(actual, expected)) return
  throw new Error(`${what}: expected ${show(expected)}, got ${show(actual)}`)
}

function isSame(a: unknown, b: unknown): boolean {
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b)) {
    if (a.constructor !== b.constructor || a.byteLength !== b.byteLength) return false
    const bytes = (view: ArrayBufferView) => Buffer.from(view.buffer, view.byteOffset, view.byteLength)
    return bytes(a).equals(bytes(b))
  }
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, i) => isSame(each, b[i]))
  return a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b))
}

function show(value: unknown): string {
  if (ArrayBuffer.isView(value))
    return `${value.constructor.name}(${[...(value as Float64Array).slice(0, 8)]})`
  return JSON.stringify(value)
}

/** @throws unless the promise rejects with one of the codes */
export async function refused(
  promise: Promise<unknown>,
  what: string,
  ...codes: ErrorCode[]
): Promise<ErrorCode> {
  try {
    await promise
  } catch (error) {
    if (isRankweaveError(error, ...codes)) return error.code
    throw new Error(`${what}: expected ${codes.join(' or ')}, got ${String(error)}`, { cause: error })
  }
  throw new Error(`${what}: expected ${codes.join(' or ')}, but it was accepted`)
}

/** Draws an integer below a bound; the same on all ranks for the same words. */
export type Draw = (below: number) => number

export function drawn(...words: readonly number[]): Draw {
  let seed = 0
  for (const word of words) seed = (Math.imul(seed ^ word, 0x9e3779b1) + 0x7f4a7c15) | 0
  const random = seededRandom(seed)
  return (below) => Math.floor(random() * below)
}

export function shuffled<T>(items: T[], draw: Draw): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = draw(i + 1)
    const held = items[i]!
    items[i] = items[j]!
    items[j] = held
  }
  return items
}

/** The collectives without data to cut, or with lengths that not all ranks know. */
const uncut: readonly Collective[] = ['barrier', 'scatter']

/**
 * Returns a tuning file that no measurement gives. It names every algorithm of a collective in turn, by bytes, also
 * with a parameter that differs from its default and segments of 24 bytes. Then it names one that no version has, so it
 * also chooses settings that cannot serve.
 */
export function oddTuning(): TuningFile {
  const collectives = [...new Set(algorithms.map(({ collective }) => collective))]
  const decisions = Object.fromEntries(collectives.map((name) => [name, oddTree(name)]))
  return readTuningFile(formatTuningFile({ kind: 'formula', name: 'odd', machine: 'any' }, decisions))
}

function oddTree(collective: Collective): DecisionTree {
  const segment = uncut.includes(collective) ? {} : { segment: 24 }
  const settings: TuningSetting[] = algorithms
    .filter((algorithm) => algorithm.collective === collective)
    .flatMap(({ id, parameters = {} }) => {
      const others = Object.fromEntries(Object.keys(parameters).map((name) => [name, 3]))
      return [{}, { ...others, ...segment }].map((values) => ({
        collective,
        algorithm: id,
        parameters: values,
      }))
    })
  settings.push({ collective, algorithm: `${collective}-unknown`, parameters: {} })
  const leaf = (setting: number) => ({ kind: 'leaf', setting, cases: 0, errors: 0 }) as const
  const root = settings.reduceRight<DecisionNode>(
    (above, _, i) => ({ kind: 'threshold', attribute: 'bytes', atMost: 4 * 2 ** i, below: leaf(i), above }),
    leaf(settings.length - 1),
  )
  return { settings, root }
}
