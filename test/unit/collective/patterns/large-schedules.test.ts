import { type Algorithm, algorithmOf, algorithms } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { leastSize, scheduleOf } from '../../../../src/collective/patterns/schedule-of.js'
import { isRankweaveError } from '../../../../src/errors.js'

/** Ranks that an algorithm was asked for. */
function watched(id: string): { readonly algorithm: Algorithm; readonly emitted: Set<number> } {
  const algorithm = algorithmOf(id)
  const emitted = new Set<number>()
  const emit: Algorithm['emit'] = (shape, rank, operations, specification) => {
    emitted.add(rank)
    algorithm.emit(shape, rank, operations, specification)
  }
  return { algorithm: { ...algorithm, emit }, emitted }
}

function codeOf(make: () => unknown): string {
  try {
    make()
    return 'none'
  } catch (error) {
    if (isRankweaveError(error)) return error.code
    throw error
  }
}

describe('the size of a schedule', () => {
  it.each(algorithms.map((algorithm) => [algorithm.id, algorithm] as const))(
    'of %s is at least what a sample tells, and not much more where all ranks do alike',
    (_, algorithm) => {
      for (const [ranks, segments] of [
        [21, 3],
        [32, 1],
      ] as const) {
        const shape = { ranks, segments, root: ranks - 1 }
        if ((algorithm.refuses?.(shape) ?? null) !== null) continue
        const schedule = scheduleOf(algorithm, shape)
        const { ownBlock, slotTerm } = schedule.specification
        const all = [schedule.opKind.length, schedule.entryBlock.length, ownBlock.length + slotTerm.length]
        const least = leastSize(algorithm, shape, undefined)
        const found = [least.operations, least.entries, least.held]
        for (const [n, size] of all.entries()) expect(found[n]).toBeLessThanOrEqual(size)
        if (/^(allgather|allreduce|reduce-scatter)-ring$/.test(algorithm.id))
          expect(found).toEqual(all.map((size) => Math.floor(0.75 * size)))
      }
    },
  )

  it.each([
    ['allreduce-ring', { ranks: 8192 }, 'ERR_SCHEDULE'],
    ['allgather-linear', { ranks: 2 ** 17 }, 'ERR_ARGUMENT'],
    ['reduce-chain', { ranks: 2 ** 20, segments: 100 }, 'ERR_SCHEDULE'],
    ['bcast-chain', { ranks: 2 ** 12, segments: 2 ** 17 }, 'ERR_ARGUMENT'],
    ['alltoall-bruck', { ranks: 8192 }, 'ERR_SCHEDULE'],
  ] as const)('of %s for %j is refused after 64 ranks at most', (id, shape, code) => {
    const { algorithm, emitted } = watched(id)
    expect(codeOf(() => scheduleOf(algorithm, shape))).toBe(code)
    expect(emitted.size).toBeLessThanOrEqual(64)
  })

  it('of some ranks is that of those alone', () => {
    const { algorithm, emitted } = watched('allreduce-ring')
    const few = Array.from({ length: 1024 }, (_, i) => 7 * i)
    const { operations } = leastSize(algorithm, { ranks: 8192 }, few)
    // Of 8,191 steps to combine, each a send, a receive and a combination, and as many to pass the results
    // on.
    expect(operations).toBe(0.75 * 1024 * 5 * 8191)
    expect([...emitted].every((rank) => rank % 7 === 0)).toBe(true)
  })

  it('of fewer than 1,024 ranks is not sampled', () => {
    const algorithm = algorithmOf('bcast-binomial')
    let calls = 0
    const counting: Algorithm = {
      ...algorithm,
      emit(...given) {
        calls++
        algorithm.emit(...given)
      },
    }
    scheduleOf(counting, { ranks: 1023 })
    expect(calls).toBe(1023)
    scheduleOf(counting, { ranks: 1024 })
    expect(calls).toBe(1023 + 64 + 1024)
  })
})
