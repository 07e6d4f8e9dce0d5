import { hopsBetween, parseMachine } from 'rankweave/machine'
import { expect, it } from 'vitest'
import { interiorOf } from '../../../src/machine/network.js'
import { refusal } from '../../support/refusal.js'

it.each([
  ['torus:dims=4x3x5,cores=1', 0],
  ['mesh:dims=4x3,cores=2', 0],
  ['torus:dims=4x4,wrap=10,cores=1', 0],
  ['torus:dims=2x1x3,cores=1', 0],
  // The switches on a way are one more than the links between them.
  ['clos:radix=4,levels=3,nodes=13,cores=1', 1],
  ['clos:radix=6,levels=2,taper=2,cores=1', 1],
  ['cluster:nodes=5,cores=1', 1],
])('hops between nodes of %s are those of the shortest way', (text, more) => {
  const machine = parseMachine(text)
  const hops = hopsBetween(machine)
  const interior = interiorOf(machine)
  const links = new Int32Array(interior.longestPath)
  const nodes = machine.cores.length
  for (let a = 0; a < nodes; a++)
    for (let b = 0; b < nodes; b++) {
      const way = a === b ? 0 : interior.path(a, b, 0, links, 0) + more
      expect(hops(a, b)).toBe(way)
    }
})

it('refuses what is no machine', () => {
  expect(() => hopsBetween({} as never)).toThrow(refusal('ERR_MACHINE'))
})
