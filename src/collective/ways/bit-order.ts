import type { Option } from '../../base/option.js'
import { ceilLog2 } from '../patterns/rank-operations.js'
import type { BoxExtents } from './box.js'

/**
 * The order of the bits of positions. Position numbers have a field of bits for each dimension, that of the first
 * dimension the lowest. So no extent needs to be a power of two.
 *
 * - `network`: the bits that cost most first, while there is little data ({@link bitsByCost});
 * - `doubling`, `halving`: the lowest first, the highest first;
 * - `path`: the highest first, along a path through the nodes;
 * - a list: the bit of every stage, joined by dots.
 */
const words = ['network', 'doubling', 'halving', 'path'] as const

export const bitOrderOption: Option<string> & { readonly default: string } = {
  kind: 'text',
  expected: `one of ${words.join(', ')}, or different bits`,
  written: 'joined by dots',
  help: 'in what order the bits of positions are taken',
  default: 'network',
  words,
  is: (value) => typeof value === 'string' && isOrder(value),
  parse: (text) => (isOrder(text) ? text : undefined),
  format: String,
}

/** The most bits in an order; no grid has more. */
const longestOrder = 48

function isOrder(text: string): boolean {
  if ((words as readonly string[]).includes(text)) return true
  if (!/^\d{1,2}(\.\d{1,2})*$/.test(text)) return false
  const bits = text.split('.').map(Number)
  return bits.length <= longestOrder && new Set(bits).size === bits.length
}

/** The number of bits of the position in every dimension, and the number of the first. */
interface BitFields {
  readonly widths: readonly number[]
  readonly firsts: readonly number[]
  readonly bits: number
}

export function bitFields(dims: readonly number[]): BitFields {
  const widths = dims.map(ceilLog2)
  const firsts: number[] = []
  let bits = 0
  for (const width of widths) {
    firsts.push(bits)
    bits += width
  }
  return { widths, firsts, bits }
}

/** Returns the dimension of a bit, and its height there: 0 for the lowest. */
export function placeOfBit(
  { firsts }: BitFields,
  bit: number,
): { readonly d: number; readonly height: number } {
  let d = firsts.length - 1
  while (firsts[d] > bit) d--
  return { d, height: bit - firsts[d] }
}

/** Returns why an order does not suit a box; null if it does. */
export function orderRefusal(order: string, { dims }: BoxExtents): string | null {
  if ((words as readonly string[]).includes(order)) return null
  const { bits } = bitFields(dims)
  const given = order.split('.').map(Number)
  if (given.length === bits && given.every((bit) => bit < bits)) return null
  return `the order must be of the bits 0 to ${bits - 1}, got ${order}`
}

/** Returns the bit of every stage. */
export function bitsInOrder(order: string, box: BoxExtents): readonly number[] {
  const { bits } = bitFields(box.dims)
  const ascending = Array.from({ length: bits }, (_, bit) => bit)
  switch (order) {
    case 'network':
      return bitsByCost(box, ascending)
    case 'doubling':
      return ascending
    case 'halving':
    case 'path':
      return ascending.reverse()
    default:
      return bits === 0 ? [] : order.split('.').map(Number)
  }
}

/**
 * Orders bits by the number of messages that meet on a link when all exchange at that distance, most first. It is 2^j
 * for bit j of a dimension. For the highest bit of one that wraps it is a quarter of the extent, because these messages
 * take both ways round. Bits inside a node come last. The higher bit of its dimension breaks ties, then the later
 * dimension.
 *
 * @see Sack 2011 §3.4.1
 */
export function bitsByCost(
  { dims, wraps, isFirstInside }: BoxExtents,
  among: readonly number[],
): readonly number[] {
  const fields = bitFields(dims)
  const all = among.map((bit) => {
    const { d, height } = placeOfBit(fields, bit)
    const isTop = wraps[d] && height === fields.widths[d] - 1
    const cost = isTop ? Math.max(1, dims[d] / 4) : 2 ** height
    return { bit, height, cost: isFirstInside && d === 0 ? 0 : cost }
  })
  return all.sort((a, b) => b.cost - a.cost || b.height - a.height || b.bit - a.bit).map(({ bit }) => bit)
}
