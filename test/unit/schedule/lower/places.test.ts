import { algorithmOf, scheduleOf } from 'rankweave/schedule'
import { expect, test } from 'vitest'
import { HeldValues } from '../../../../src/schedule/lower/lower-values.js'

/** Of the root, which has two own places and no slot, and of a rank with two slots. */
function placesOfBcast(): HeldValues {
  const schedule = scheduleOf(algorithmOf('bcast-linear'), { ranks: 2, segments: 2 })
  return new HeldValues(schedule, Int32Array.of(0, 1), Int32Array.of(0, 2, 2))
}

test('own places have the own values at first, others none', () => {
  const places = placesOfBcast()
  expect([0, 1, 2].map((place) => places.get(0, place))).toEqual([0, 1, -1])
  expect([0, 1, 2].map((place) => places.get(1, place))).toEqual([-1, -1, -1])
})

test('what is set is in its place only, the first and the last included; slots follow own places', () => {
  const places = placesOfBcast()
  places.set(1, 0, 7)
  places.set(1, 1, 8)
  expect([places.get(1, 0), places.slot(1, 0), places.slot(1, 1)]).toEqual([7, 7, 8])
  expect([places.get(0, 0), places.get(0, 1)]).toEqual([0, 1])
})

test('places that a rank does not have are no places of its neighbors', () => {
  const places = placesOfBcast()
  places.set(0, 2, 5)
  places.set(1, -1, 6)
  expect([places.get(1, 0), places.get(0, 1)]).toEqual([-1, 1])
  expect([places.get(0, 2), places.get(1, -1), places.get(1, 2), places.slot(0, 0)]).toEqual([-1, -1, -1, -1])
})
