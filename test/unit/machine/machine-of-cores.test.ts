import * as fc from 'fast-check'
import { checkMachine, clos, routeBetween, torus } from 'rankweave/machine'
import { describe, expect, it } from 'vitest'
import {
  cluster,
  levelOf,
  type Machine,
  machineOfCores,
  nodeOf,
  packageOf,
} from '../../../src/machine/machine.js'
import { clusterOf } from '../../support/cluster-of.js'
import { refusal } from '../../support/refusal.js'

const machines: readonly Machine[] = [
  cluster({ nodes: 3, cores: 4, packages: 2 }),
  clusterOf([1, 3, 2, 6]),
  torus({ dims: [2, 3], cores: 2 }),
  clos({ radix: 4, levels: 2, nodes: 7, cores: 2 }),
]

const coresIn = ({ firstRank, cores }: Machine) => firstRank[cores.length]

describe.each(machines)('machineOfCores of a $kind', (machine) => {
  const someCores = fc.uniqueArray(fc.nat(coresIn(machine) - 1), { minLength: 1 })

  it('retains nodes, levels and routes between the cores, and is a machine', () =>
    fc.assert(
      fc.property(someCores, (some) => {
        const cores = Int32Array.from(some).sort()
        const part = machineOfCores(machine, cores)
        checkMachine(part)
        expect(coresIn(part)).toBe(cores.length)
        const [nodes, packages] = [nodeOf(machine, coresIn(machine)), packageOf(machine, coresIn(machine))]
        expect([...nodeOf(part, cores.length)]).toEqual([...cores].map((core) => nodes[core]))
        // Packages without cores are left out, so their numbers differ.
        const ofPart = packageOf(part, cores.length)
        for (const [i, a] of cores.entries())
          for (const [j, b] of cores.entries()) {
            expect(levelOf(part, i, j)).toBe(levelOf(machine, a, b))
            expect(ofPart[i] === ofPart[j]).toBe(packages[a] === packages[b])
            const route = [...routeBetween(part, nodes[a], nodes[b])]
            expect(route).toEqual([...routeBetween(machine, nodes[a], nodes[b])])
          }
      }),
      { numRuns: 40 },
    ))

  it('is the machine with all its cores', () => {
    expect(
      machineOfCores(
        machine,
        Int32Array.from({ length: coresIn(machine) }, (_, core) => core),
      ),
    ).toEqual(machine)
  })

  it.each([
    ['a core that it does not have', [0, coresIn(machine)]],
    ['a negative core', [-1]],
    ['descending cores', [1, 0]],
    ['a core twice', [1, 1]],
  ])('refuses %s', (_, cores) => {
    expect(() => machineOfCores(machine, Int32Array.from(cores))).toThrow(
      refusal('ERR_MACHINE', 'ascending cores'),
    )
  })
})
