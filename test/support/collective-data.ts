import { floats, tree, treePrefix } from '../../src/conformance/collective-oracles.js'
import { type CollectiveCase, type Content, lengthsInOrder } from './collective-cases.js'

// What ranks contribute to the cases, as in mpi-collectives.c, and what they must get: computed from the
// definitions.

export type Elements = Int32Array | Float64Array

/** Elements of a unit. */
export const unitOf = (content: Content): number => (content === 'matrices' ? 4 : 1)

/**
 * Elements of the block from one rank to another. Reductions that are not scattered have one block, to rank
 * 0.
 */
export function lengthOf({ lengths, content }: CollectiveCase, src: number, dest: number): number {
  const units = { none: 0, one: 1, equal: 5, varying: (src * 7 + dest * 3 + 1) % 4 }
  return unitOf(content) * units[lengths]
}

/** Elements of block `rank` of a reduction that is scattered. */
export const scatteredLength = (given: CollectiveCase, rank: number): number => lengthOf(given, rank, 0)

/** Well mixed bits of some numbers. */
export function mixed(...numbers: readonly number[]): number {
  let bits = 0x9e3779b9
  for (const number of numbers) {
    bits = Math.imul(bits ^ number, 0x85ebca6b)
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
    bits ^= bits >>> 16
  }
  return bits
}

const slotOf = ({ ranks, lengths }: CollectiveCase): number => ranks * 4 + lengthsInOrder.indexOf(lengths)

function elements(given: CollectiveCase, src: number, dest: number, length: number): Elements {
  if (given.content === 'doubles') return floats(slotOf(given), src, length)
  if (given.content === 'wholes')
    return Float64Array.from({ length }, (_, i) => mixed(slotOf(given), src, dest, i))
  const words = new Int32Array(length)
  for (let i = 0; i < length; i++) {
    const word = mixed(slotOf(given), src, dest, i)
    words[i] = given.content === 'matrices' ? ofMatrix(word, i % 4) : word
  }
  return words
}

/** Odd determinants, so that no product forgets a factor. */
const ofMatrix = (word: number, place: number): number =>
  place === 0 || place === 3 ? word | 1 : place === 1 ? word & ~1 : word

/** What a rank sends to another; of bcast, allgather and reductions that are not scattered, `dest` is 0. */
export function blockOf(given: CollectiveCase, src: number, dest: number): Elements {
  return elements(given, src, dest, lengthOf(given, src, dest))
}

/** What a rank contributes to a reduction. */
export function contributionOf(given: CollectiveCase, rank: number): Elements {
  return elements(given, rank, 0, reducedLength(given))
}

function reducedLength(given: CollectiveCase): number {
  if (given.collective !== 'reduce-scatter')
    return given.lengths === 'varying' ? 11 * unitOf(given.content) : lengthOf(given, 0, 0)
  let total = 0
  for (let rank = 0; rank < given.ranks; rank++) total += scatteredLength(given, rank)
  return total
}

/** Bytes of what MPI's count describes in a reduction: of the block of one rank where it is scattered. */
export function unitBytesOf(given: CollectiveCase): number {
  const elementBytes = given.content === 'doubles' || given.content === 'wholes' ? 8 : 4
  const sizeBytes = elementBytes * reducedLength(given)
  return given.collective === 'reduce-scatter' ? Math.ceil(sizeBytes / given.ranks) : sizeBytes
}

export function joined(blocks: readonly Elements[]): Int32Array {
  const all = new Int32Array(blocks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const block of blocks) {
    all.set(block, at)
    at += block.length
  }
  return all
}

/** `left` times `right`, which is put to the left. */
export function multiply(left: Int32Array, right: Int32Array): Int32Array {
  for (let i = 0; i < left.length; i += 4) {
    const [a, b, c, d] = [left[i], left[i + 1], left[i + 2], left[i + 3]]
    const [e, f, g, h] = [right[i], right[i + 1], right[i + 2], right[i + 3]]
    left[i] = Math.imul(a, e) + Math.imul(b, g)
    left[i + 1] = Math.imul(a, f) + Math.imul(b, h)
    left[i + 2] = Math.imul(c, e) + Math.imul(d, g)
    left[i + 3] = Math.imul(c, f) + Math.imul(d, h)
  }
  return left
}

function combined({ content }: CollectiveCase, left: Elements, right: Elements): Elements {
  const result = left.slice()
  if (content === 'matrices') return multiply(result as Int32Array, right as Int32Array)
  for (let i = 0; i < result.length; i++) result[i] += right[i]
  return result
}

const ranksOf = ({ ranks }: CollectiveCase) => Array.from({ length: ranks }, (_, rank) => rank)

/** What a rank must get; null for nothing at all. */
export function expectedOf(given: CollectiveCase, rank: number): Elements | null {
  const { collective, root, ranks } = given
  switch (collective) {
    case 'barrier':
      return null
    case 'bcast':
      return blockOf(given, root, 0)
    case 'scatter':
      return blockOf(given, root, rank)
    case 'gather':
      return rank === root ? joined(ranksOf(given).map((src) => blockOf(given, src, root))) : null
    case 'allgather':
      return joined(ranksOf(given).map((src) => blockOf(given, src, 0)))
    case 'alltoall':
      return joined(ranksOf(given).map((src) => blockOf(given, src, rank)))
    case 'reduce':
      return rank === root ? prefix(given, ranks) : null
    case 'allreduce':
      return prefix(given, ranks)
    case 'reduce-scatter': {
      let first = 0
      for (let before = 0; before < rank; before++) first += scatteredLength(given, before)
      return prefix(given, ranks)!.slice(first, first + scatteredLength(given, rank))
    }
    case 'scan':
      return inclusive(given, rank)
    case 'exscan':
      return prefix(given, rank)
    default:
      throw new Error(`expected a collective without a topology, got ${collective}`)
  }
}

function inclusive(given: CollectiveCase, rank: number): Elements {
  const before = prefix(given, rank)
  const own = contributionOf(given, rank)
  return before === null ? own : combined(given, before, own)
}

/** The latest: all ranks of a process, and all algorithms, ask for the same few. */
const prefixes = new Map<string, Elements | null>()
const mostPrefixes = 1000

/** The combination of all ranks below `end`: one after the other, and doubles as the tree demands. */
function prefix(given: CollectiveCase, end: number): Elements | null {
  if (end === 0) return null
  const { collective, ranks, content, lengths } = given
  const key = `${collective === 'reduce-scatter'} ${ranks} ${content} ${lengths} ${end}`
  const found = prefixes.get(key)
  if (found !== undefined) return found
  const leaf = (rank: number): Elements => contributionOf(given, rank)
  const combine = (left: Elements, right: Elements): Elements => combined(given, left, right)
  const made =
    content === 'doubles'
      ? end === ranks
        ? tree(ranksOf(given), leaf, combine)
        : treePrefix(ranks, end, leaf, combine)
      : end === 1
        ? leaf(0)
        : combine(prefix(given, end - 1)!, leaf(end - 1))
  if (prefixes.size >= mostPrefixes) prefixes.clear()
  prefixes.set(key, made)
  return made
}
