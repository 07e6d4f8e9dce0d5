import { nodeOf, parseMachine } from 'rankweave/machine'
import { type ChosenOperation, parseStrategy } from 'rankweave/schedule'
import { buildTopology, topologyFromEdges } from 'rankweave/topology'
import { expect, it } from 'vitest'
import { candidatesOf } from '../../src/neighborhood/choose/candidates.js'
import { lowerBound } from '../../src/neighborhood/choose/lower-bound.js'
import { simulated } from '../../src/neighborhood/choose/simulated.js'
import { cases } from '../support/soak.js'

const machines = [
  'cluster:nodes=4,cores=16,profile=simgrid-fast',
  'cluster:nodes=13,cores=5,profile=simgrid-slow',
  'cluster:nodes=8,cores=8,packages=2,profile=niagara',
  'torus:dims=4x4,cores=4,profile=simgrid-fast',
  'cluster:nodes=64,cores=1,profile=graham',
  'cluster:nodes=1,cores=64,profile=simgrid-slow',
].map((text) => parseMachine(text))

const topologies = [
  'moore:8x8:r=1',
  'moore:4x4x4:r=1',
  'er:64:d=0.2:seed=2',
  'er:61:d=0.7:seed=3',
  'rgg:64:r=0.3:seed=1',
  'powerlaw:64:d=6:gamma=2.2:seed=1',
].map((text) => buildTopology(text))
/** All send to rank 5, which sends to itself and twice to rank 6. */
const star = topologyFromEdges(40, {
  sources: [...Array(40).keys(), 5, 5],
  destinations: [...Array<number>(40).fill(5), 6, 6],
})

const settingOf = (seed: number, operation: ChosenOperation) => {
  const topology = seed % 7 === 6 ? star : topologies[seed % 7]
  const machine = machines[seed % machines.length]
  const bytes = [0, 4, 256, 4096, 65_536, 2 ** 20][Math.floor(seed / 5) % 6]
  const facts = { topology, nodeOf: nodeOf(machine, topology.ranks) }
  return { facts, machine, operation, bytes, now: () => 0 }
}

it.each([
  ['neighbor-allgather', cases(72, 9)],
  ['neighbor-alltoall', cases(24, 4)],
  ['neighbor-reduce-any', cases(24, 4)],
] as const)('a bound never exceeds the simulated time of a strategy of %s, %i cases', (operation, count) => {
  for (let seed = 0; seed < count; seed++) {
    const setting = settingOf(seed, operation)
    const boundUs = lowerBound(setting)
    const candidates = candidatesOf(setting.facts.topology, setting.facts.nodeOf)
    const stride = 1 + Math.floor(candidates.length / 12)
    for (const [i, strategy] of candidates.entries()) {
      if (i % stride !== seed % stride && !('mode' in strategy)) continue
      const { timeUs, text } = simulated(strategy, setting)
      expect(boundUs(strategy), `${text}, case ${seed}`).toBeLessThanOrEqual(timeUs)
    }
  }
})

it('a bound of one message is its time', () => {
  const topology = topologyFromEdges(17, { sources: [0], destinations: [16] })
  const machine = machines[0]
  const facts = { topology, nodeOf: nodeOf(machine, 17) }
  const setting = { facts, machine, operation: 'neighbor-allgather' as const, bytes: 4096, now: () => 0 }
  const direct = parseStrategy('direct')
  expect(lowerBound(setting)(direct)).toBeCloseTo(simulated(direct, setting).timeUs, 6)
})

it('a bound of a route knows a rank that passes on what others send', () => {
  const setting = { ...settingOf(6, 'neighbor-allgather'), machine: machines[0], bytes: 4096 }
  const facts = { topology: star, nodeOf: nodeOf(machines[0], 40) }
  const routed = parseStrategy('routed:radices=40')
  const boundUs = lowerBound({ ...setting, facts })(routed)
  expect(boundUs).toBeGreaterThan(0.5 * simulated(routed, { ...setting, facts }).timeUs)
})
