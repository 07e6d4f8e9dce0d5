import { expect, test } from 'vitest'
import {
  BoundCollective,
  type BoundStart,
  type PersistentContext,
} from '../../../../src/calls/program/bound-collective.js'
import { PersistentRequest } from '../../../../src/calls/program/persistent-request.js'

const start: BoundStart = { signature: { name: 'barrierInit' } as never, run: () => undefined }

/** A context that counts, for two ranks of this process. */
function countingContext() {
  const log: string[] = []
  const active = { now: false }
  const collectives = {
    callsOf: () => 1,
    openLane: () => 7,
    closeLane: (lane: number) => log.push(`close ${lane}`),
    countStartsToCome: (count: number) => log.push(`to come ${count}`),
    start: (lane: number, localIndex: number) => {
      log.push(`start ${lane} of ${localIndex}`)
      return Promise.resolve()
    },
    isActive: (lane: number, localIndex: number) => lane === 7 && localIndex === 1 && active.now,
  }
  const state = { localRanks: [0, 1], collectives } as unknown as PersistentContext
  return { state, log, active }
}

test('the lane is closed when the last rank of the process frees its request, once', () => {
  const { state, log } = countingContext()
  const bound = new BoundCollective(state, undefined as never, start)
  bound.release()
  expect(log).toEqual([])
  bound.release()
  expect(log).toEqual(['close 7'])
})

test('a start after the setup joins the lane at once; one before waits for the setup, announced', async () => {
  const { state, log, active } = countingContext()
  const bound = new BoundCollective(state, undefined as never, start)
  const handle = { rank: 1, size: 2, seat: (): never => seat as never, placeIn: () => 1 }
  const seat = { state, localIndex: 1, rank: 1, handle } as never
  const request = new PersistentRequest(seat, Promise.resolve(bound), [])
  const before = request.start()
  expect(log).toEqual(['to come 1'])
  await before
  expect(log.splice(0)).toEqual(['to come 1', 'start 7 of 1', 'to come -1'])
  const after = request.start()
  expect(log).toEqual(['start 7 of 1'])
  await after
  active.now = true
  await expect(request.start()).rejects.toMatchObject({ code: 'ERR_REQUEST' })
  expect(() => request.free()).toThrow('free: this persistent request is active')
})
