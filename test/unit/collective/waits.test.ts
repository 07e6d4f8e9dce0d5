import { algorithmOf, opKind, type Schedule, scheduleOf } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'

const alltoall = (requests: number) => algorithmOf('alltoall-linear').with!({ requests })

/** The most messages of one kind that a rank has in the phases that none of them waits for. */
function widestWindow({ opStart, opPhase, opAfter, opKind: kinds }: Schedule, kind: number): number {
  let most = 0
  for (let rank = 0; rank + 1 < opStart.length; rank++) {
    for (let op = opStart[rank]!; op < opStart[rank + 1]!; op++) {
      if (kinds[op] !== kind) continue
      let open = 0
      for (let other = opStart[rank]!; other <= op; other++)
        if (kinds[other] === kind && opPhase[other]! > (opAfter[op] ?? -1)) open++
      most = Math.max(most, open)
    }
  }
  return most
}

describe('alltoall-linear:requests=N', () => {
  it.each([1, 2, 5])('has windows of %i sends and receives, across segments', (requests) => {
    for (const segments of [1, 3]) {
      const schedule = scheduleOf(alltoall(requests), { ranks: 9, segments })
      for (const kind of [opKind.send, opKind.receive]) expect(widestWindow(schedule, kind)).toBe(requests)
    }
  })

  it('waits for nothing with 0, which is the default, and with as many requests as messages', () => {
    expect(alltoall(0)).toBe(algorithmOf('alltoall-linear'))
    expect(scheduleOf(alltoall(0), { ranks: 9 })).toMatchObject({ phases: 1, opAfter: new Int32Array(0) })
    expect(scheduleOf(alltoall(8), { ranks: 9 }).opAfter).toEqual(new Int32Array(0))
    expect(scheduleOf(alltoall(7), { ranks: 9 }).opAfter.length).toBeGreaterThan(0)
  })

  it.each([-1, 0.5, 4097])('refuses %d', (requests) => {
    expect(() => alltoall(requests)).toThrow(expect.objectContaining({ code: 'ERR_ARGUMENT' }))
  })
})

describe('gather-linear-sync', () => {
  it('sends the first segment alone, and what remains in one message', () => {
    for (const segments of [1, 2, 5]) {
      const {
        opStart,
        opKind: kinds,
        entryStart,
        opAfter,
      } = scheduleOf(algorithmOf('gather-linear-sync'), {
        ranks: 4,
        root: 1,
        segments,
      })
      const sizes: number[] = []
      for (let op = opStart[3]!; op < opStart[4]!; op++) {
        if (kinds[op] !== opKind.send) continue
        sizes.push(entryStart[op + 1]! - entryStart[op]!)
        expect(opAfter[op]).toBeGreaterThanOrEqual(0)
      }
      expect(sizes).toEqual(segments === 1 ? [1] : [1, segments - 1])
    }
  })
})
