import { describe, expect, it } from 'vitest'
import { algorithmOf } from '../../../../src/collective/algorithms.js'
import { scheduleOf } from '../../../../src/collective/patterns/schedule-size.js'
import { specificationOf } from '../../../../src/collective/patterns/specification-of.js'
import { ScheduleBuilder } from '../../../../src/schedule/builder.js'
import { partialResult } from '../../../../src/schedule/ir.js'
import { lower } from '../../../../src/schedule/lower/lower.js'
import { area, type MemoryOptions, valueMemory } from '../../../../src/schedule/lower/value-memory.js'
import { verify } from '../../../../src/schedule/verify/verify.js'

/** Where the values of rank 1 of a schedule with one rank per process are. */
function memoryOf(id: string, ranks: number, options: MemoryOptions, segments = 1) {
  const algorithm = algorithmOf(id)
  const shape = { ranks, segments }
  const placement = Int32Array.from({ length: ranks }, (_, rank) => rank)
  const program = lower(scheduleOf(algorithm, shape), placement).programs[1]
  const parts = algorithm.parts?.(shape) ?? segments
  return { program, memory: valueMemory(program, { ...options, ...(options.isTotal ? { parts } : {}) }) }
}

const allreduce = { isShared: true, isTotal: true }

describe('the memory of values', () => {
  it('of a ring allreduce needs nothing besides contribution and result', () => {
    expect(memoryOf('allreduce-ring', 4, allreduce).memory.scratchTerm).toHaveLength(0)
  })

  it('of a ring allreduce in place needs memory for what is not combined yet', () => {
    const { memory } = memoryOf('allreduce-ring', 4, { ...allreduce, isInPlace: true })
    expect(memory.isSafeInPlace).toBe(true)
    expect(memory.scratchTerm).toHaveLength(3)
  })

  it('of recursive doubling is not safe in place: contributions are sent and combined', () => {
    expect(memoryOf('allreduce-recursive-doubling', 4, allreduce).memory.isSafeInPlace).toBe(false)
  })

  it('of a contribution that is sent once is not safe in place where its slot is filled by a combination', () => {
    const specification = specificationOf({ collective: 'allreduce' }, { ranks: 2 })
    const builder = new ScheduleBuilder({ specification, strategy: 'by hand' })
    // Rank 0 sends rank 1 its contribution back, next to its own.
    builder.send(1, 0, 0).add(1, 0)
    builder.receive(0, 0, 1).add(1, builder.stage(0))
    builder.combine(0, 0, 0, 0, 2, builder.slot(0, 0))
    builder.send(0, 1, 1).add(0, 0).add(1, 2)
    builder.receive(1, 1, 0).add(0, builder.stage(1)).add(1, builder.stage(1))
    builder.combine(1, 1, 0, 2, 3, builder.slot(1, 0))
    const schedule = builder.build()
    expect(verify(schedule).ok).toBe(true)
    const program = lower(schedule, Int32Array.of(0, 1)).programs[1]
    expect(valueMemory(program, { ...allreduce, parts: 1 }).isSafeInPlace).toBe(false)
  })

  it('of a contribution that is sent, and its slot filled by a combination without it, is not safe in place', () => {
    const specification = specificationOf({ collective: 'allreduce' }, { ranks: 3 })
    const builder = new ScheduleBuilder({ specification, strategy: 'by hand' })
    const [at0, at1, at2] = [0, 1, 2].map((rank) => builder.stage(rank)) as [number, number, number]
    builder.send(1, 0, 0).add(1, 0)
    builder.receive(0, 0, 1).add(1, at0)
    const sum = builder.stage(0)
    builder.combine(0, 0, 0, 0, at0, sum)
    const last = builder.stage(1)
    for (const [rank, place] of [
      [1, at1],
      [2, at2],
    ] as const) {
      builder.send(0, 1, rank).add(partialResult(0), sum)
      builder.receive(rank, 1, 0).add(partialResult(0), place)
    }
    builder.send(2, 0, 1).add(2, 0)
    builder.receive(1, 0, 2).add(2, last)
    builder.combine(1, 1, 0, at1, last, builder.slot(1, 0))
    builder.combine(2, 1, 0, at2, 0, builder.slot(2, 0))
    builder.send(2, 2, 0).add(partialResult(0), builder.slot(2, 0))
    builder.receive(0, 2, 2).add(partialResult(0), builder.slot(0, 0))
    const schedule = builder.build()
    expect(verify(schedule).violations).toEqual([])
    const { programs } = lower(schedule, Int32Array.of(0, 1, 2))
    const isSafe = programs.map((program) => valueMemory(program, { ...allreduce, parts: 1 }).isSafeInPlace)
    // Rank 0 combines its own once and sends nothing of it; rank 2 sends its own and combines it.
    expect(isSafe).toEqual([true, false, false])
  })

  it('of a contribution that two frames carry is not safe in place where the result arrives', () => {
    const specification = specificationOf({ collective: 'allreduce' }, { ranks: 3 })
    const builder = new ScheduleBuilder({ specification, strategy: 'by hand' })
    const places = [0, 1].map(() => builder.stage(0)) as [number, number]
    for (const rank of [1, 2]) {
      builder.send(rank, 0, 0).add(rank, 0)
      builder.receive(0, 0, rank).add(rank, places[rank - 1])
    }
    const pair = builder.stage(0)
    builder.combine(0, 0, 0, 0, places[0], pair)
    builder.combine(0, 0, 0, pair, places[1], builder.slot(0, 0))
    for (const rank of [1, 2]) {
      builder.send(0, 1, rank).add(partialResult(0), builder.slot(0, 0))
      builder.receive(rank, 1, 0).add(partialResult(0), builder.slot(rank, 0))
    }
    // Rank 2 may still be reading this when the result reaches rank 1.
    builder.send(1, 0, 2).add(1, 0)
    builder.receive(2, 0, 1).add(1, builder.stage(2))
    const { programs } = lower(builder.build(), Int32Array.of(0, 1, 2))
    const isSafe = programs.map((program) => valueMemory(program, { ...allreduce, parts: 1 }).isSafeInPlace)
    expect(isSafe).toEqual([true, false, true])
  })

  it('of several ranks, or of one that gets less than it contributes, is not safe in place', () => {
    const isSafe = (id: string, placement: readonly number[]) =>
      lower(
        scheduleOf(algorithmOf(id), { ranks: placement.length }),
        Int32Array.from(placement),
      ).programs.map((program) => valueMemory(program, { ...allreduce, parts: 1 }).isSafeInPlace)
    expect(isSafe('allreduce-linear', [0, 0, 1])).toEqual([false, true])
    expect(isSafe('reduce-linear', [0, 1, 2])).toEqual([true, false, false])
  })

  it('of one rank alone is safe in place: its contribution is the result', () => {
    const program = lower(scheduleOf(algorithmOf('allreduce-ring'), { ranks: 1 }), Int32Array.of(0))
      .programs[0]
    expect(valueMemory(program, { ...allreduce, parts: 1 }).isSafeInPlace).toBe(true)
  })

  it('of a broadcast is the receive buffer', () => {
    const { memory } = memoryOf('bcast-chain', 3, { isShared: true }, 4)
    expect([...memory.area]).toEqual(new Array(4).fill(area.slot))
    expect(memory.scratchTerm).toHaveLength(0)
  })

  it('of an allgather takes the own block in its slot, so that it is sent next to others', () => {
    const { memory } = memoryOf('allgather-recursive-doubling', 4, { isShared: true })
    expect([...memory.ownCopy]).toEqual([0])
    expect([...memory.ownCopyTo]).toEqual([1])
    expect(memory.copy).toHaveLength(0)
  })
})
