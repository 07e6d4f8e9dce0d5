import { ScheduleBuilder } from '../../schedule/builder.js'
import type { Schedule } from '../../schedule/ir.js'
import type { Algorithm, Shape } from './algorithm.js'
import { checkShape, ranksWithin } from './check-shape.js'
import { leastEstimated, requireSize } from './schedule-size.js'
import { specificationOf } from './specification-of.js'

/**
 * The schedule of an algorithm.
 *
 * @param ranks whose operations are emitted; what the specification says of others is left empty too.
 *   Default: all.
 * @throws ERR_ARGUMENT when the shape is out of range or the algorithm refuses it, and for values of other
 *   types
 * @throws ERR_RANK when the root or one of `ranks` is out of range
 * @throws ERR_SCHEDULE for more than 2^27 operations or 2^28 entries, with 1,024 ranks or more before they
 *   are emitted unless it is by less than a third
 */
export function scheduleOf(algorithm: Algorithm, shape: Shape, ranks?: Iterable<number>): Schedule {
  checkShape(algorithm, shape)
  const rows = ranks === undefined ? undefined : rowsOf(shape, ranks)
  if ((rows?.length ?? shape.ranks) >= leastEstimated) requireSize(algorithm, shape, rows)
  const specification = specificationOf(algorithm, shape, rows)
  const { root = 0, segments = 1 } = shape
  const parameters = { root, segments }
  const builder = new ScheduleBuilder({ specification, strategy: algorithm.id, parameters })
  for (const rank of rows ?? Array(shape.ranks).keys()) algorithm.emit(shape, rank, builder, specification)
  return builder.build()
}

/** Distinct, ascending. */
function rowsOf(shape: Shape, asked: Iterable<number>): readonly number[] {
  return [...new Set(ranksWithin(shape, asked))].sort((a, b) => a - b)
}
