import { ScheduleBuilder } from '../schedule/builder.js'
import type { Schedule } from '../schedule/ir.js'
import type { Algorithm, Shape } from './algorithm.js'
import { specificationOf } from './specification-of.js'

/**
 * The schedule of an algorithm.
 *
 * @param ranks whose operations are emitted, ascending; what the specification says of others is left empty too.
 *   Default: all.
 */
export function scheduleOf(algorithm: Algorithm, shape: Shape, ranks?: Iterable<number>): Schedule {
  const specification = specificationOf(algorithm, shape, ranks)
  const { id, emit } = algorithm
  const { root = 0, segments = 1 } = shape
  const builder = new ScheduleBuilder({ specification, strategy: id, parameters: { root, segments } })
  for (const rank of ranks ?? Array(shape.ranks).keys()) emit(shape, rank, builder, specification)
  return builder.build()
}
