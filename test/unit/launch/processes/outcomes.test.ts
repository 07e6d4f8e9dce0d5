import { expect, it } from 'vitest'
import { areSurvived, type ProcessOutcome } from '../../../../src/launch/processes/launcher.js'

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
