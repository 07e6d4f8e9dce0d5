import { algorithmOf, scheduleOf, simulate } from 'rankweave/schedule'
import { expect, test } from 'vitest'
import { gridOfMachine } from '../../../../src/collective/ways/machine-grid.js'
import { predictNetwork } from '../../../../src/cost/models/network-cost.js'
import { parseMachine } from '../../../../src/machine/machine-text.js'
import { refusal } from '../../../support/refusal.js'

test.each([
  ['torus:dims=4x4x4,profile=bluegene-p', 'allgather'],
  ['torus:dims=4x4x4,profile=bluegene-p', 'allreduce'],
  ['clos:radix=10,levels=2,taper=4,nodes=64,profile=niagara', 'allgather'],
] as const)(
  'long blocks on %s: closed costs of %s are those of the simulator, within 12 percent',
  (text, collective) => {
    const machine = parseMachine(text)
    const ranks = machine.cores.length
    const bytes = collective === 'allreduce' ? ranks * 600_000 : 600_000
    const predictions = predictNetwork(collective, machine, bytes)
    const times = predictions.map(({ timeUs }) => timeUs)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    const grid = gridOfMachine(machine, null, ranks)!
    for (const { algorithm, timeUs } of predictions.filter((one) => !one.algorithm.includes('order'))) {
      const known = algorithmOf(algorithm)
      const schedule = scheduleOf(known, { ranks, segments: known.sections ?? 1, grid })
      const simulated = simulate(schedule, machine, { bytes }).timeUs
      expect([algorithm, Math.abs(timeUs / simulated - 1) < 0.12]).toEqual([algorithm, true])
    }
  },
)

test('stages of 8 x 8 x 8 are those of Sack 2011: doubling 949, halving 730, least 574, rings 511', () => {
  const machine = parseMachine('torus:dims=8x8x8,profile=bluegene-p')
  const unitsOf = new Map(
    predictNetwork('allgather', machine, 8).map(({ algorithm, units }) => [
      algorithm.replace('allgather-', ''),
      units,
    ]),
  )
  const settings = [
    'reordered:order=doubling',
    'reordered:order=halving',
    'reordered',
    'bucket',
    'reordered:shuffle=1',
  ]
  expect(settings.map((setting) => unitsOf.get(setting))).toEqual([949, 730, 574, 511, 576])
  // Buckets alone where an extent is no power of two.
  const odd = predictNetwork('allgather', parseMachine('torus:dims=6x4,profile=bluegene-p'), 8)
  expect(odd.every(({ algorithm }) => algorithm.startsWith('allgather-bucket'))).toBe(true)
})

test.each([
  ['cluster:nodes=4,cores=1,profile=niagara', 'ERR_MODEL'],
  ['mesh:dims=4x4,profile=niagara', 'ERR_MODEL'],
  ['torus:dims=4x4', 'ERR_MACHINE'],
])('%s is refused', (text, code) => {
  expect(() => predictNetwork('allgather', parseMachine(text), 8)).toThrow(refusal(code))
})
