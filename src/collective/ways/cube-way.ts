import type { ParticipantGrid } from '../patterns/participant-grid.js'
import { bitFields, bitsInOrder, placeOfBit } from './bit-order.js'
import { type Box, boxExtents, boxOf, pathBox } from './box.js'
import { Cube } from './cube.js'
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
