import { hashIntegers, hashText } from '../base/hash.js'
import { algorithmText } from '../collective/algorithm-text.js'
import { algorithms, type ServedCalls, servedCalls } from '../collective/algorithms.js'
import type { Algorithm } from '../collective/patterns/algorithm.js'
import { shapeLimits } from '../collective/patterns/check-shape.js'
import { typeName } from '../messages/datatype/elements.js'
import { operationNames } from '../messages/datatype/operation.js'
import { signatureWords } from '../messages/process/frames.js'

/**
 * The facts on which all ranks of a collective must agree. They are compared between the ranks of a process when they
 * join, and between processes by words in every frame's header. A difference is ERR_COLLECTIVE_MISMATCH, which names
 * both calls. The caller leaves out fields that MPI lets differ between ranks, such as the count of a gatherv.
 */
export interface Signature {
  readonly name: CollectiveName
  readonly root?: number
  /** The wire code of the element type. */
  readonly type?: number
  readonly count?: number
  /** The name of the reduction operation; for a topology, of the strategy. */
  readonly op?: string
  /** A hash of anything else that must agree, e.g. of a topology. */
  readonly extra?: number
  /** The name of the method, if the ranks have chosen it: algorithm, segments, order. */
  readonly method?: string
}

/** The name of a collective operation, as signatures and error messages show it. */
export type CollectiveName = (typeof collectiveNames)[number]

/** The place of a name is its code in the headers of frames. */
const collectiveNames = [
  'barrier',
  'bcast',
  'reduce',
  'allreduce',
  'gather',
  'gatherv',
  'scatter',
  'scatterv',
  'allgather',
  'allgatherv',
  'alltoall',
  'alltoallv',
  'reduceScatter',
  'scan',
  'exscan',
  'split',
  'splitType',
  'dup',
  'create',
  'free',
  'createTopology',
  'neighborAllgather',
  'neighborAllgatherv',
  'neighborAllgatherInit',
  'planLines',
  'barrierInit',
  'bcastInit',
  'allgatherInit',
  'allreduceInit',
  'reduceInit',
  'gatherInit',
  'scatterInit',
  'alltoallInit',
  'reduceScatterInit',
  'scanInit',
  'exscanInit',
  'neighborAlltoall',
  'neighborAlltoallv',
  'neighborAlltoallw',
  'neighborReduce',
  'neighborAlltoallInit',
  'neighborAlltoallvInit',
  'neighborAlltoallwInit',
  'neighborReduceInit',
  'gathervInit',
  'scattervInit',
  'allgathervInit',
  'alltoallvInit',
  'createCart',
  'createGraph',
  'createDistGraph',
  'createDistGraphAdjacent',
] as const

/** The calls that make a communicator with a topology. */
export const topologyCalls = [
  'createTopology',
  'createCart',
  'createGraph',
  'createDistGraph',
  'createDistGraphAdjacent',
] as const satisfies readonly CollectiveName[]
const areTopologyCalls: ReadonlySet<string | undefined> = new Set(topologyCalls)

const word = { name: 0, root: 1, type: 2, countLow: 3, countHigh: 4, op: 5, extra: 6 } as const

const codeOfName = new Map(collectiveNames.map((name, code) => [name, code]))

// These bits of the name word, above the name's code, mark the fields that are present.
const hasRoot = 1 << 16
const hasType = 1 << 17
const hasCount = 1 << 18
const hasOp = 1 << 19
const hasExtra = 1 << 20
const hasMethod = 1 << 21
const nameMask = 0xffff

/** Writes a signature into `into[at .. at + signatureWords - 1]`. */
export function encodeSignature(signature: Signature, into: Int32Array, at: number): void {
  const { name, root, type, count, op, extra, method } = signature
  into[at + word.name] =
    codeOfName.get(name)! |
    (root === undefined ? 0 : hasRoot) |
    (type === undefined ? 0 : hasType) |
    (count === undefined ? 0 : hasCount) |
    (op === undefined ? 0 : hasOp) |
    (extra === undefined ? 0 : hasExtra) |
    (method === undefined ? 0 : hasMethod)
  into[at + word.root] = root ?? 0
  into[at + word.type] = type ?? 0
  into[at + word.countLow] = count ?? 0
  into[at + word.countHigh] = count === undefined ? 0 : Math.floor(count / 2 ** 32)
  into[at + word.op] = op === undefined ? 0 : hashText(op)
  into[at + word.extra] = method === undefined ? (extra ?? 0) : methodHash(extra ?? 0, method)
}

export function nameInWords(words: Int32Array, at: number): CollectiveName | undefined {
  return collectiveNames[words[at + word.name] & nameMask]
}

export function sameWords(a: Int32Array, atA: number, b: Int32Array, atB: number): boolean {
  for (let i = 0; i < signatureWords; i++) if (a[atA + i] !== b[atB + i]) return false
  return true
}

export function sameSignature(a: Signature, b: Signature): boolean {
  return (
    a === b ||
    (a.name === b.name &&
      a.root === b.root &&
      a.type === b.type &&
      a.count === b.count &&
      a.op === b.op &&
      a.extra === b.extra &&
      a.method === b.method)
  )
}

/** Returns the call as the user would write it, e.g. `allreduce(sum, 3 x float64)`. */
export function describeSignature(signature: Signature): string {
  const parts: string[] = []
  if (signature.root !== undefined) parts.push(`root ${signature.root}`)
  if (signature.op !== undefined) parts.push(signature.op)
  const type = signature.type === undefined ? '' : typeName(signature.type)
  if (signature.count !== undefined) parts.push(`${signature.count} x ${type || 'element'}`)
  else if (type) parts.push(type)
  if (signature.method !== undefined) parts.push(signature.method)
  if (signature.extra !== undefined) parts.push(`#${(signature.extra >>> 0).toString(16)}`)
  return `${signature.name}(${parts.join(', ')})`
}

/**
 * Returns the call that signature words of another process describe; a user-defined operation travels as a hash only.
 */
export function describeWords(words: Int32Array, at: number): string {
  const flags = words[at + word.name]
  return describeSignature({
    name: collectiveNames[flags & nameMask] ?? ('?' as CollectiveName),
    ...(flags & hasRoot ? { root: words[at + word.root] } : {}),
    ...(flags & hasType ? { type: words[at + word.type] } : {}),
    ...(flags & hasCount
      ? { count: (words[at + word.countLow] >>> 0) + words[at + word.countHigh] * 2 ** 32 }
      : {}),
    ...(flags & hasOp ? { op: opName(words[at + word.op], collectiveNames[flags & nameMask]) } : {}),
    ...methodOrExtra(flags, collectiveNames[flags & nameMask], words[at + word.extra]),
  })
}

/** Returns the method if its hash is that of a usual name; a method travels as a hash. */
function methodOrExtra(
  flags: number,
  name: CollectiveName | undefined,
  hash: number,
): Pick<Signature, 'extra' | 'method'> {
  if ((flags & hasMethod) === 0) return flags & hasExtra ? { extra: hash } : {}
  const isKnown = (flags & hasExtra) === 0 && name !== undefined
  const found = isKnown ? methodNamed(name, (method) => methodHash(0, method) === hash) : undefined
  return { method: found ?? `method #${(hash >>> 0).toString(16)}` }
}

function methodHash(extra: number, method: string): number {
  return hashIntegers([extra, hashText(method)])
}

const builtinOfHash = new Map<number, string>(operationNames.map((name) => [hashText(name), name]))

function opName(hash: number, name: CollectiveName | undefined): string {
  const what = areTopologyCalls.has(name) ? 'strategy' : 'operation'
  return builtinOfHash.get(hash) ?? `${what} #${(hash >>> 0).toString(16)}`
}

export interface ChosenMethod {
  readonly id?: string | undefined
  readonly segments?: number | undefined
  /** The bytes of a segment; only with an algorithm. */
  readonly segmentBytes?: number | undefined
  readonly isAnyOrder?: boolean
}

/** Names a method by its line of text: equal methods have equal names. The name is empty if nothing is chosen. */
export function methodName({ id, segments, segmentBytes, isAnyOrder = false }: ChosenMethod): string {
  const isCut = segments !== undefined || segmentBytes !== undefined
  const named = id !== undefined && isCut ? algorithmText(id, { segments, segmentBytes }) : id
  const name = named ?? (segments === undefined ? '' : `${segments} segments`)
  if (!isAnyOrder) return name
  return name === '' ? 'order any' : `${name}, order any`
}

const callsByCollective = Object.entries<ServedCalls>(servedCalls)

/**
 * The most values of a parameter that a look-up tries, alone and together with a cut. A look-up tries about 10,000
 * names.
 */
const most = { values: 4097, cut: 16 } as const
const powers = Array.from({ length: 31 }, (_, exponent) => 2 ** exponent)
const cuts: readonly ChosenMethod[] = [
  ...Array.from({ length: 64 }, (_, i) => ({ segments: i + 1 })),
  ...powers.filter((count) => count > 64 && count <= shapeLimits.segments).map((segments) => ({ segments })),
  ...powers.map((segmentBytes) => ({ segmentBytes })),
]

/**
 * Finds the name of a call's method by its hash. It tries algorithms with one parameter that is not at its default. It
 * tries up to 64 segments or a power of two, and segments of a power of two bytes.
 *
 * @returns undefined if none of these names has the hash
 */
function methodNamed(call: string, isHashed: (name: string) => boolean): string | undefined {
  const served = callsByCollective.find(([, { calls }]) => calls.includes(call.replace(/Init$/, '')))
  if (served === undefined) return undefined
  const known = algorithms.filter(({ collective }) => collective === served[0])
  const orders = known.some(({ order }) => order !== undefined) ? [false, true] : [false]
  for (const chosen of chosenMethods(known)) {
    for (const isAnyOrder of orders) {
      const name = methodName({ ...chosen, isAnyOrder })
      if (name !== '' && isHashed(name)) return name
    }
  }
  return undefined
}

function* chosenMethods(known: readonly Algorithm[]): Generator<ChosenMethod> {
  yield { id: 'auto' }
  for (const algorithm of known) for (const id of idsOf(algorithm, most.values)) yield { id }
  for (const cut of [{}, ...cuts]) {
    if (cut.segmentBytes === undefined) yield cut
    for (const algorithm of known) for (const id of idsOf(algorithm, most.cut)) yield { ...cut, id }
  }
}

function* idsOf({ id, parameters = {} }: Algorithm, count: number): Generator<string> {
  yield id
  for (const [name, option] of Object.entries(parameters)) {
    const least = option.least ?? 0
    for (let value = least; value < least + count && option.is(value); value++)
      if (value !== option.default) yield `${id}:${option.word ?? name}=${option.format(value)}`
  }
}
