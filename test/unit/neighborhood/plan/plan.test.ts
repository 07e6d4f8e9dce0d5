import { formatStrategy, parseStrategy, plan, planStatistics, type Strategy } from 'rankweave/schedule'
import { erdosRenyiTopology, mooreTopology } from 'rankweave/topology'
import { expect, test } from 'vitest'
import { cluster, nodeOf } from '../../../../src/machine/machine.js'
import { refusal } from '../../../support/refusal.js'
import { thrown } from '../../topology/thrown.js'

const grid = mooreTopology({ dims: [8, 8], radius: 2 })
const machine = cluster({ nodes: 8, cores: 8 })
const aware: Strategy = { kind: 'common-neighbor', k: 2, mode: 'aware' }
const agnostic = { kind: 'common-neighbor', k: 2, mode: 'agnostic' } as const

test('a machine and its nodes give the same plan, and the same twice', () => {
  const { schedule, groups } = plan(grid, aware, { machine })
  expect(groups?.count).toBeGreaterThan(0)
  expect(plan(grid, aware, { machine }).schedule).toEqual(schedule)
  expect(plan(grid, aware, { nodeOf: nodeOf(machine, 64) }).schedule).toEqual(schedule)
})

test('planning time is measured with the given clock', () => {
  let now = 0
  expect(plan(grid, { kind: 'direct' }, { now: () => (now += 7) }).planMs).toBe(7)
  expect(plan(grid, { kind: 'direct' }).planMs).toBeGreaterThanOrEqual(0)
})

test('statistics of the direct plan are those of the topology', () => {
  const planned = plan(grid, { kind: 'direct' })
  expect(planStatistics(planned)).toEqual({
    ranks: 64,
    strategy: 'direct',
    k: null,
    theta: null,
    groups: 0,
    steps: 0,
    messages: { direct: 64 * 24, planned: 64 * 24, meanPerRank: 24, maxPerRank: 24, interNode: null },
    volumeBlocks: 64 * 24,
  })
  // A node is a row of the grid: 4 of the 24 neighbors are in it.
  expect(planStatistics(planned, nodeOf(machine, 64)).messages.interNode).toBe(64 * 20)
})

test('statistics of a combined plan name k, theta, groups and steps', () => {
  const planned = plan(grid, aware, { machine })
  const { groups } = planned
  expect(planStatistics(planned)).toMatchObject({
    k: 2,
    theta: 2,
    groups: groups?.count,
    steps: groups?.steps,
  })
})

test.each([
  [
    { kind: 'common-neighbor', k: 1, mode: 'agnostic' },
    'ERR_STRATEGY',
    /k, an integer from 2 to 1048576, got 1/,
  ],
  [{ kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: -3 }, 'ERR_STRATEGY', /got -3/],
  [aware, 'ERR_STRATEGY', /pass a machine/],
  [undefined, 'ERR_STRATEGY', /expected a strategy such as \{ kind: 'routed' \}, got undefined/],
  ['routed', 'ERR_STRATEGY', /expected a strategy such as \{ kind: 'routed' \}, got 'routed'/],
  [
    { kind: 'telepathy' },
    'ERR_STRATEGY',
    /expected strategy direct, common-neighbor.* or .*, got 'telepathy'/,
  ],
])('plan rejects %j', (strategy, code, message) => {
  expect(() => plan(grid, strategy as Strategy)).toThrow(refusal(code, message))
})

test('a machine that is too small is refused', () => {
  expect(thrown(() => plan(grid, aware, { machine: cluster({ nodes: 7, cores: 9 }) })).code).toBe(
    'ERR_MACHINE',
  )
})

test('statistics refuse nodes for another number of ranks', () => {
  const planned = plan(grid, { kind: 'direct' })
  expect(thrown(() => planStatistics(planned, new Int32Array(63))).code).toBe('ERR_ARGUMENT')
})

test.each([
  ['direct', { kind: 'direct' }],
  ['common-neighbor:k=4,mode=aware', { kind: 'common-neighbor', k: 4, mode: 'aware' }],
  [
    'common-neighbor:k=3,mode=agnostic,theta=0,dedupe=false,elide=true',
    { kind: 'common-neighbor', k: 3, mode: 'agnostic', theta: 0, dedupe: false, elide: true },
  ],
  ['common-neighbor:k=2,mode=agnostic,labels=7', { ...agnostic, labelSeed: 7 }],
  ['routed', { kind: 'routed' }],
  ['routed:radices=4.3,first=highest', { kind: 'routed', radices: [4, 3], first: 'highest' }],
] as [string, Strategy][])('parseStrategy and formatStrategy round-trip %s', (text, strategy) => {
  expect(parseStrategy(text)).toEqual(strategy)
  expect(formatStrategy(strategy)).toBe(text)
})

test('a signal ends a plan: before it begins, and inside the search for friend groups', () => {
  const topology = erdosRenyiTopology({ ranks: 200, density: 0.5, seed: 1 })
  const aborted = expect.objectContaining({ code: 'ERR_ABORTED' })
  expect(() => plan(topology, { kind: 'direct' }, { signal: AbortSignal.abort() })).toThrow(aborted)
  for (const strategy of ['common-neighbor:k=3,theta=30', 'descending:ks=3', 'cumulative:k=3']) {
    const controller = new AbortController()
    const { signal } = controller
    const onProgress = () => controller.abort()
    expect(() => plan(topology, parseStrategy(strategy), { signal, onProgress }), strategy).toThrow(aborted)
  }
})

test.each([
  ['', /expected direct, common-neighbor.* or .*, got ''/],
  ['indirect', /got 'indirect'/],
  ['direct:k=2', /direct without options, got ':k=2'/],
  ['common-neighbor:', /k, mode, theta, dedupe, elide, engine or labels, got ''/],
  ['common-neighbor:k=1', /k, an integer from 2 to 1048576, got '1'/],
  ['common-neighbor:k=2x', /got '2x'/],
  ['common-neighbor:k=4=5', /got '4=5'/],
  ['common-neighbor:k=', /got ''/],
  ['common-neighbor:k=99999999999999999999', /got '9+'/],
  ['common-neighbor:theta=-1', /theta, an integer from 0 to 2147483647, got '-1'/],
  ['common-neighbor:mode=both', /mode=aware or mode=agnostic, got 'mode=both'/],
  ['common-neighbor:dedupe=yes', /dedupe=true or dedupe=false, got 'dedupe=yes'/],
  [
    'common-neighbor:engine=best',
    /engine=greedy, engine=distributed, engine=improved, engine=exact, got 'engine=best'/,
  ],
  ['common-neighbor:labels=x', /labels, an integer from 0 to 4294967295, got 'x'/],
  ['common-neighbor:k=2,k=3', /k once, got 'k=3'/],
  ['common-neighbor:speed=9', /got 'speed'/],
  ['routed:radices=4.1', /radices, integers >= 2 joined by dots, got '4.1'/],
  ['routed:radices', /got ''/],
  ['routed:first=last', /first=lowest or first=highest, got 'first=last'/],
  ['toString', /got 'toString'/],
])("parseStrategy rejects '%s'", (text, message) => {
  expect(() => parseStrategy(text)).toThrow(refusal('ERR_STRATEGY', message))
})
