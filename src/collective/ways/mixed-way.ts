import { largestOf } from '../../base/search.js'
import { bitFields, bitsByCost } from './bit-order.js'
import { type Box, stridesOf } from './box.js'
import { Cube } from './cube.js'
import { type RingPhase, ringMessages, ringTurns } from './ring-way.js'
import { type GatherWay, resultOrder } from './way.js'

/**
 * Returns the ways of {@link ringWays} with recursive doubling in place of all rings except those in the last
 * dimension. In every stage each way doubles along another dimension, so that few meet. Two ways that differ only in
 * direction double together, in one message.
 *
 * @see Sack 2011 chapter 3 (hybrid)
 */
export function mixedWays(box: Box, ports: number): readonly GatherWay[] {
  const { dims } = box
  const lasts = ringTurns(dims.length, ports).map(({ dimensions, step }) => ({
    dimension: dimensions[dimensions.length - 1],
    step,
  }))
  const cubes = new Map(
    lasts.map(({ dimension }) => [dimension, new Cube(box, staggeredBits(box, dimension))]),
  )
  const begin = largestOf([...cubes.values()].map(({ stages }) => stages))
  const steps = Math.max(0, largestOf(lasts.map(({ dimension }) => dims[dimension] - 1)))
  return lasts.map((ring) => mixedWay(box, cubes.get(ring.dimension)!, { ...ring, begin, stages: steps }))
}

/**
 * Orders the bits of all dimensions but one: a bit of each in turn, from the dimension after it on, the costliest
 * first.
 */
function staggeredBits(box: Box, ringDimension: number): readonly number[] {
  const { dims } = box
  const { widths, firsts } = bitFields(dims)
  const queues = dims.slice(1).map((_, i) => {
    const d = (ringDimension + 1 + i) % dims.length
    return bitsByCost(
      box,
      Array.from({ length: widths[d] }, (_, height) => firsts[d] + height),
    )
  })
  const rounds = largestOf([0, ...queues.map(({ length }) => length)])
  return Array.from({ length: rounds }, (_, round) =>
    queues.flatMap((queue) => queue.slice(round, round + 1)),
  ).flat()
}

function mixedWay(box: Box, cube: Cube, ring: RingPhase): GatherWay {
  const { dimension, begin } = ring
  const { dims, at, of } = box
  const stride = stridesOf(dims)[dimension]
  const { size } = cube
  const baseOf = (position: number): number => (Math.floor(position / stride) % dims[dimension]) * size
  const result = resultOrder(at, (position) => baseOf(position) + cube.offsetOf(position))
  return {
    stages: begin + ring.stages,
    ...result,
    *messages(participant) {
      const position = of[participant]
      for (const { first, ...message } of cube.messages(position))
        yield {
          ...message,
          begin: message.stage,
          peer: at[message.peer],
          first: baseOf(position) + first,
        }
      for (const message of ringMessages(box, position, ring, { base: 0, size }))
        yield { ...message, peer: at[message.peer] }
    },
  }
}
