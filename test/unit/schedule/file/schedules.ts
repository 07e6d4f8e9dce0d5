import { bcastBinomial } from '../../../../src/collective/bcast/bcast-binomial.js'
import { scheduleOf, specificationOf } from '../../../../src/collective/patterns/schedule-of.js'
import { ScheduleBuilder } from '../../../../src/schedule/builder.js'
import { type NeighborSchedule, partialResult, type Schedule } from '../../../../src/schedule/ir.js'
import { neighborAllgatherSpecification, type Specification } from '../../../../src/schedule/specification.js'
import { buildTopology } from '../../../../src/topology/files/topology-from-spec.js'
import { builderFor, directSchedule, friendsSchedule, topologyOf } from '../fixtures.js'

/** Parallel edges and self loops. */
export const multigraph = topologyOf(4, '0 1, 0 1, 2 2, 1 0, 2 2, 0 1')

/** Neighbor allgathers, which both versions of the format express. */
export const neighborSchedules: Readonly<Record<string, NeighborSchedule>> = {
  friends: friendsSchedule(),
  'parallel edges and self loops': directSchedule(multigraph),
  'a Cartesian grid': directSchedule(buildTopology('cart:3x1x2:periodic')),
  'no edges': directSchedule(topologyOf(3, [])),
  'one rank': directSchedule(topologyOf(1, [[0, 0]])),
  'no phases': builderFor(topologyOf(2, []), 0).build(),
}

/** Rank 0 combines the blocks of three ranks in rank order, then sends the result to the others. */
export function allreduceOfThree(): Schedule {
  const specification = specificationOf({ collective: 'allreduce' }, { ranks: 3 })
  const builder = new ScheduleBuilder({ specification, strategy: 'example' })
  const staged = builder.stage(0, 3)
  for (const rank of [1, 2]) {
    builder.send(rank, 0, 0).add(rank, 0)
    builder.receive(0, 0, rank).add(rank, staged + rank - 1)
    builder.send(0, 1, rank).add(partialResult(0), builder.slot(0, 0))
    builder.receive(rank, 1, 0).add(partialResult(0), builder.slot(rank, 0))
  }
  builder.combine(0, 0, 0, 0, staged, staged + 2)
  builder.combine(0, 0, 0, staged + 2, staged + 1, builder.slot(0, 0))
  return builder.build()
}

/** An inclusive scan of two parts over two ranks; one message carries a block and a partial result. */
function scanWithMixedMessage(): Schedule {
  const specification = specificationOf({ collective: 'scan' }, { ranks: 3, segments: 2 })
  const builder = new ScheduleBuilder({ specification, strategy: 'mixed' })
  const [first, second] = [builder.slot(0, 0), builder.slot(0, 1)]
  builder.copy(0, 0).add(0, 0, first).add(1, 1, second)
  builder.send(0, 1, 1).add(0, first).add(1, second)
  const staged = builder.stage(1, 2)
  builder
    .receive(1, 1, 0)
    .add(0, staged)
    .add(1, staged + 1)
  builder.combine(1, 1, 0, staged, 0, builder.slot(1, 0))
  builder.combine(1, 1, 1, staged + 1, 1, builder.slot(1, 1))
  builder.send(1, 2, 2, 7).add(partialResult(0), builder.slot(1, 0)).add(3, 1)
  builder.receive(2, 2, 1, 7).add(partialResult(0), builder.stage(2)).add(3, builder.stage(2))
  return builder.build()
}

/** Blocks of several lengths of rows, a slot over two runs, and operations without entries. */
function handMade(): Schedule {
  const specification: Specification = {
    collective: 'reduce',
    ranks: 3,
    partStart: Int32Array.of(0, 2, 2, 5),
    ownStart: Int32Array.of(0, 2, 2, 5),
    ownBlock: Int32Array.of(0, 1, 4, 3, 2),
    slotStart: Int32Array.of(0, 3, 4, 5),
    slotTerm: Int32Array.of(~0, 4, ~1, ~1, ~0),
    reductions: {
      isIdempotent: true,
      runStart: Int32Array.of(0, 2, 3),
      first: Int32Array.of(0, 2, 1),
      count: Int32Array.of(2, 3, 1),
      stride: Int32Array.of(1, 1, 0),
    },
  }
  const builder = new ScheduleBuilder({ specification, strategy: 'hand-made', phases: 9 })
  builder.send(0, 5, 0)
  builder.receive(0, 7, 0)
  builder.copy(0, 7)
  return builder.build()
}

/** Schedules that only version 2 expresses. */
export const otherSchedules: Readonly<Record<string, Schedule>> = {
  'a bcast in segments': scheduleOf(bcastBinomial, { ranks: 7, root: 3, segments: 4 }),
  'a bcast of one rank': scheduleOf(bcastBinomial, { ranks: 1 }),
  'an allreduce': allreduceOfThree(),
  'a scan': scanWithMixedMessage(),
  'runs of blocks': handMade(),
  'a neighbor allgather without its topology': {
    ...friendsSchedule(),
    topology: null,
    specification: neighborAllgatherSpecification(friendsSchedule().topology),
  },
}
