import type { ParticipantGrid } from '../patterns/participant-grid.js'
import { bitFields, bitsInOrder, placeOfBit } from './bit-order.js'
import { type Box, boxExtents, boxOf, pathBox, stridesOf } from './box.js'
import { type GatherWay, resultOrder, type WayMessage } from './way.js'

/**
 * Returns ways by recursive doubling along an order of bits, at most one for each dimension. Ways after the first
 * prefer the next dimension if two bits cost the same; on a path they take the next dimension first.
 *
 * @see Sack 2011 chapter 3
 */
export function cubeWays(
  grid: ParticipantGrid | undefined,
  ranks: number,
  order: string,
  ports: number,
): readonly GatherWay[] {
  return Array.from({ length: ports }, (_, turn) => {
    const box = order === 'path' ? pathBox(grid, ranks, turn) : boxOf(grid, ranks)
    const bits = bitsInOrder(order, box)
    return cubeWay(box, order === 'path' ? bits : turned(box, bits, turn))
  })
}

/** Returns the number of ways that {@link cubeWays} has. */
export function mostCubeWays(grid: ParticipantGrid | undefined, ranks: number, order: string): number {
  if (order === 'path') return grid?.dims.length ?? 1
  return Math.max(1, boxExtents(grid, ranks).dims.length)
}

/** Returns the order with the dimensions rotated: each bit moves to the dimension that comes so many later. */
function turned(box: Box, bits: readonly number[], turn: number): readonly number[] {
  if (turn === 0) return bits
  const { dims } = box
  const fields = bitFields(dims)
  // Bits of equal rank in their dimensions trade places; others stay.
  const rounds: number[][] = []
  const taken = new Int32Array(dims.length)
  for (const bit of bits) {
    const round = taken[placeOfBit(fields, bit).d]++
    rounds[round] ??= []
    rounds[round].push(bit)
  }
  return rounds.flatMap((round) => [
    ...round.slice(turn % round.length),
    ...round.slice(0, turn % round.length),
  ])
}

function cubeWay(box: Box, order: readonly number[]): GatherWay {
  const cube = new Cube(box, order)
  const { at, of } = box
  const result = resultOrder(at, (position) => cube.offsetOf(position))
  return {
    stages: cube.stages,
    ...result,
    *messages(participant): Iterable<WayMessage> {
      for (const message of cube.messages(of[participant]))
        yield { ...message, begin: message.stage, peer: at[message.peer] }
    },
  }
}

/** The sections that a position sends another in a stage, as a run of the result of a {@link Cube}. */
interface CubeMessage {
  readonly stage: number
  readonly peer: number
  readonly isSent: boolean
  readonly first: number
  readonly count: number
}

/**
 * Recursive doubling along an order of bits in some dimensions of a box. It runs at the same time in every part of the
 * box in which the coordinates of the other dimensions are equal. In stage s a corner of the cube and the one that
 * differs in the s-th bit of the order exchange their sections. Corners beyond an extent have no data. The position
 * whose coordinate has the highest bit cleared acts for them, and no message brings what its receiver has. So a
 * position sends at most two messages in a stage of a dimension.
 *
 * Corners are named by their place in the order: bit s of x is the corner's bit `order[s]`. So the corners whose
 * sections it has before stage s agree with it in the bits of x from s on: a run.
 *
 * @see Sack 2011 §3.4.1
 */
export class Cube {
  readonly #dims: readonly number[]
  readonly #strides: readonly number[]
  readonly #firsts: readonly number[]
  readonly #widths: readonly number[]
  readonly #inCube: readonly number[]
  readonly #order: readonly number[]
  /** The dimension and height of the bit of every stage. */
  readonly #places: readonly { readonly d: number; readonly height: number }[]
  /** The number of positions with a smaller x. Length 2^bits + 1. */
  readonly #before: Int32Array
  readonly #hosted: (readonly number[] | undefined)[] = []

  /** @param order the bits of the fields of some dimensions, all of each */
  constructor({ dims }: Box, order: readonly number[]) {
    const fields = bitFields(dims)
    const { widths, firsts } = fields
    this.#dims = dims
    this.#strides = stridesOf(dims)
    this.#firsts = firsts
    this.#widths = widths
    this.#order = order
    this.#places = order.map((bit) => placeOfBit(fields, bit))
    this.#inCube = [...new Set(this.#places.map(({ d }) => d))]
    const corners = 2 ** order.length
    this.#before = new Int32Array(corners + 1)
    for (let x = 0; x < corners; x++) this.#before[x + 1] = this.#before[x] + (this.#isReal(x) ? 1 : 0)
  }

  get stages(): number {
    return this.#order.length
  }

  /** The number of positions in each part of the box. */
  get size(): number {
    return this.#before[this.#before.length - 1]
  }

  /** Returns the offset of a position in the result of its part. */
  offsetOf(position: number): number {
    return this.#before[this.#cornerOf(position)]
  }

  *messages(position: number): Iterable<CubeMessage> {
    const own = this.#hostedBy(position)
    for (let stage = 0; stage < this.stages; stage++) {
      for (const x of own) {
        if (this.#lacks(own, x, stage)) {
          const peer = this.#hostOf(x ^ (2 ** stage), position)
          yield* this.#message(stage, peer, false, (x >>> stage) ^ 1)
        }
        const to = this.#hostOf(x ^ (2 ** stage), position)
        if (to !== position && this.#lacks(this.#hostedBy(to), x ^ (2 ** stage), stage))
          yield* this.#message(stage, to, true, x >>> stage)
      }
    }
  }

  *#message(stage: number, peer: number, isSent: boolean, part: number): Iterable<CubeMessage> {
    const first = this.#before[part << stage]
    const count = this.#before[(part + 1) << stage] - first
    if (count > 0) yield { stage, peer, isSent, first, count }
  }

  /**
   * Whether a position that acts for some corners, x among them, gets in a stage what x's partner has. It does if x is
   * the first of its corners with the same sections, and no other corner has those of the partner.
   */
  #lacks(corners: readonly number[], x: number, stage: number): boolean {
    const part = x >>> stage
    const isFirst = corners.find((other) => other >>> stage === part) === x
    return isFirst && !corners.some((other) => other >>> stage === (part ^ 1))
  }

  /** Lists the corners for which a position acts, its own first. */
  #hostedBy(position: number): readonly number[] {
    const own = this.#cornerOf(position)
    const known = this.#hosted[own]
    if (known !== undefined) return known
    let corners = [own]
    for (const d of this.#inCube) {
      const top = 2 ** (this.#widths[d] - 1)
      const coordinate = Math.floor(position / this.#strides[d]) % this.#dims[d]
      if (coordinate >= top || coordinate + top < this.#dims[d]) continue
      const bit = 2 ** this.#order.indexOf(this.#firsts[d] + this.#widths[d] - 1)
      corners = [...corners, ...corners.map((corner) => corner | bit)]
    }
    this.#hosted[own] = corners
    return corners
  }

  #cornerOf(position: number): number {
    let corner = 0
    for (const [s, { d, height }] of this.#places.entries())
      if (((Math.floor(position / this.#strides[d]) % this.#dims[d]) >> height) & 1) corner |= 1 << s
    return corner
  }

  /** Returns the position that acts for a corner, in the part of the box that contains a position. */
  #hostOf(corner: number, near: number): number {
    const coordinates = this.#coordinatesOf(corner)
    let host = near
    for (const d of this.#inCube) {
      const before = Math.floor(near / this.#strides[d]) % this.#dims[d]
      const extent = this.#dims[d]
      const at = coordinates[d] < extent ? coordinates[d] : coordinates[d] - 2 ** (this.#widths[d] - 1)
      host += (at - before) * this.#strides[d]
    }
    return host
  }

  #isReal(corner: number): boolean {
    const coordinates = this.#coordinatesOf(corner)
    return this.#inCube.every((d) => coordinates[d] < this.#dims[d])
  }

  /** Returns the coordinates by dimension; 0 in those that the cube does not have. */
  #coordinatesOf(corner: number): number[] {
    const coordinates = new Array<number>(this.#dims.length).fill(0)
    for (const [s, { d, height }] of this.#places.entries()) coordinates[d] |= ((corner >>> s) & 1) << height
    return coordinates
  }
}
