import { describe, expect, it } from 'vitest'
import {
  areSurvived,
  type ProcessOutcome,
  StateQuery,
} from '../../../../src/launch/processes/started-world.js'
import { ManualClock } from '../../../support/manual-clock.js'

const lost: ProcessOutcome = { kind: 'lost' }
const returned = (...without: number[]): ProcessOutcome => ({ kind: 'returned', results: [], without })

it('losses are survived when all others have returned and agreed to do without each', () => {
  expect(areSurvived([returned(1), lost, returned(1)])).toBe(true)
  expect(areSurvived([lost, returned(2, 0), lost])).toBe(true)
  expect(areSurvived([returned(1), lost, returned()])).toBe(false)
  expect(areSurvived([returned(1), lost, lost])).toBe(false)
  expect(areSurvived([{ kind: 'returned', results: [] }, lost])).toBe(false)
  expect(areSurvived([returned(1), lost, { kind: 'failed' }])).toBe(false)
  expect(areSurvived([returned(1), lost, undefined])).toBe(false)
  expect(areSurvived([lost, lost])).toBe(false)
})

describe('StateQuery', () => {
  it('completes when every process has answered or ended, or after the timeout', async () => {
    const clock = new ManualClock()
    const posted: [number, number][] = []
    const queries = new StateQuery(clock, (process, query) => void posted.push([process, query]))
    const all = queries.ask([0, 1, 2])
    const some = queries.ask([0, 1])
    expect(posted).toEqual(
      [0, 1, 2]
        .map((process) => [process, 1])
        .concat([
          [0, 2],
          [1, 2],
        ]),
    )
    queries.answered(0, 1, undefined)
    queries.answered(0, 2, undefined)
    queries.answered(1, 1, undefined)
    queries.gone(2)
    expect([...(await all).keys()]).toEqual([0, 1])
    clock.pass()
    expect([...(await some).keys()]).toEqual([0])
    // Too late.
    queries.answered(1, 2, undefined)
    expect((await queries.ask([])).size).toBe(0)
  })
})
