import { parseStrategy, plan, planStatistics, simulate, verify } from 'rankweave/schedule'
import { expect, test } from 'vitest'
import { simgridFast, simgridSlow } from '../../../../src/machine/built-in-profiles.js'
import { cluster, nodeOf } from '../../../../src/machine/machine.js'
import { mooreTopology } from '../../../../src/topology/generate/stencil.js'
import { thrown } from '../../topology/thrown.js'

const machine = cluster({ nodes: 16, cores: 16, profile: simgridFast })
const slow = cluster({ nodes: 16, cores: 16, profile: simgridSlow })
const grid = mooreTopology({ dims: [16, 16], radius: 2 })

test('blocks that have come are spread while others are on their way', () => {
  const { schedule, ...rest } = plan(grid, parseStrategy('pipelined:steps=1.1,inside=16'), { machine })
  expect(verify(schedule, grid).violations).toEqual([])
  // Of a row per node: two hops of two messages between nodes; four messages inside after none, one and two
  // hops.
  expect(planStatistics({ schedule, ...rest }, nodeOf(machine, 256))).toMatchObject({
    messages: { maxPerRank: 2 * 2 + 3 * 4, interNode: 256 * 4 },
    volumeBlocks: 256 * 24,
  })
  const inTurn = plan(grid, parseStrategy('cartesian:windows=5/5')).schedule
  const timeOf = (of: typeof schedule): number => simulate(of, machine, { bytes: 4096 }).timeUs
  expect(timeOf(schedule)).toBeLessThan(0.8 * timeOf(inTurn))
})

test('other steps behind than ahead: the last messages are half as many, and are spread sooner', () => {
  const timeOf = (text: string): number =>
    simulate(plan(grid, parseStrategy(text), { machine: slow }).schedule, slow, { bytes: 4096 }).timeUs
  const [both, back] = ['', 'back=2,'].map((option) => timeOf(`pipelined:steps=1.1,${option}inside=16`))
  expect(back).toBeLessThan(0.98 * both)
})

test('impossible parameters are ERR_STRATEGY', () => {
  const attempt = (text: string) => () => plan(grid, parseStrategy(text), { machine })
  for (const text of [
    'between=2,inside=16',
    'inside=3.3',
    'steps=1.1,between=16',
    'steps=0',
    'back=2',
    'between=16,back=2',
  ])
    expect(thrown(attempt(`pipelined:${text}`)).code).toBe('ERR_STRATEGY')
  expect(thrown(() => plan(grid, { kind: 'pipelined' })).code).toBe('ERR_STRATEGY')
})
