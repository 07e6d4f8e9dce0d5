import { largestOf } from '../../base/search.js'
import { bitFields, bitsByCost } from './bit-order.js'
import { type Box, stridesOf } from './box.js'
import { Cube } from './cube-way.js'
import { type GatherWay, resultOrder, type WayMessage } from './way.js'

/** Rings of positions along a dimension. */
interface RingPhase {
  readonly dimension: number
  /** The first stage. */
  readonly begin: number
  /** The number of stages: at least the steps of the ring, which take equally many each. */
  readonly stages: number
  /** The direction: 1 to the position before, -1 to the position after. */
  readonly step: 1 | -1
}

/**
 * Yields the messages of a position in a ring, through which all pass their sections: a run of `size` for each
 * coordinate, the first at `base`. In step s a position sends the sections of the one s steps ahead to the one behind.
 *
 * @see Sack 2011 chapter 3 (ring)
 */
function* ringMessages(
  { dims }: Box,
  position: number,
  { dimension, begin, stages, step }: RingPhase,
  run: { readonly base: number; readonly size: number },
): Iterable<WayMessage> {
  const extent = dims[dimension]
  const stride = stridesOf(dims)[dimension]
  const coordinate = Math.floor(position / stride) % extent
  const positionAt = (other: number): number => position + (around(other, extent) - coordinate) * stride
  for (let s = 0; s < extent - 1; s++) {
    const common = {
      begin: begin + Math.floor((s * stages) / (extent - 1)),
      stage: begin + Math.ceil(((s + 1) * stages) / (extent - 1)) - 1,
      count: run.size,
    }
    const sent = around(coordinate + step * s, extent)
    const received = around(coordinate + step * (s + 1), extent)
    yield {
      ...common,
      isSent: true,
      peer: positionAt(coordinate - step),
      first: run.base + sent * run.size,
    }
    yield {
      ...common,
      isSent: false,
      peer: positionAt(coordinate + step),
      first: run.base + received * run.size,
    }
  }
}

function around(coordinate: number, extent: number): number {
  return ((coordinate % extent) + extent) % extent
}

/** The dimension of every phase, and the direction of its rings. */
interface RingTurn {
  readonly dimensions: readonly number[]
  readonly step: 1 | -1
}

/**
 * Returns ways of rings, one dimension after the other: each ring passes on what those before brought. Way b begins
 * with dimension b if there are at most as many ways as dimensions. With twice as many, ways 2b and 2b + 1 do, in both
 * directions. In every phase the ways take different dimensions, so that they meet on no link.
 *
 * @see Sack 2011 §3.4.2
 */
export function ringTurns(dimensions: number, ports: number): readonly RingTurn[] {
  const isBoth = ports > dimensions
  return Array.from({ length: ports }, (_, way) => {
    const first = isBoth ? way >> 1 : way
    return {
      dimensions: Array.from({ length: dimensions }, (_, phase) => (first + phase) % dimensions),
      step: isBoth && way % 2 === 1 ? -1 : 1,
    }
  })
}

/**
 * Returns ways in which every phase has as many stages as its longest ring has steps. Shorter rings, whose messages are
 * longer if extents differ, spread their steps over the stages. So a phase takes as long as the slowest of its rings.
 */
export function ringWays(box: Box, ports: number): readonly GatherWay[] {
  const { dims } = box
  const turns = ringTurns(dims.length, ports)
  const spans: RingSpan[] = []
  let begin = 0
  for (let phase = 0; phase < dims.length; phase++) {
    const stages = largestOf(turns.map(({ dimensions }) => dims[dimensions[phase]] - 1))
    spans.push({ begin, stages })
    begin += stages
  }
  return turns.map((turn) => ringWay(box, turn, spans))
}

type RingSpan = Pick<RingPhase, 'begin' | 'stages'>

/** @param spans the stages of every phase */
function ringWay(box: Box, { dimensions, step }: RingTurn, spans: readonly RingSpan[]): GatherWay {
  const { dims, at, of } = box
  const strides = stridesOf(dims)
  const sizes = stridesOf(dimensions.map((d) => dims[d]))
  const result = resultOrder(at, (position) =>
    dimensions.reduce(
      (sum, d, phase) => sum + (Math.floor(position / strides[d]) % dims[d]) * sizes[phase],
      0,
    ),
  )
  return {
    stages: spans.reduce((sum, { stages }) => sum + stages, 0),
    ...result,
    *messages(participant) {
      const offset = result.offsetOf[participant]
      for (const [phase, dimension] of dimensions.entries()) {
        const size = sizes[phase]
        const base = offset - (offset % (size * dims[dimension]))
        const ring = { dimension, ...spans[phase], step }
        for (const message of ringMessages(box, of[participant], ring, { base, size }))
          yield { ...message, peer: at[message.peer] }
      }
    },
  }
}

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
