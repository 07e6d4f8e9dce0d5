import { algorithmOf, lower, scheduleOf } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { area, type MemoryOptions, valueMemory } from '../../../../src/schedule/lower/value-memory.js'

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
