import { type Machine, requireMachine } from './machine.js'
import { failMachine } from './profile-figures.js'

/**
 * Returns a machine with some of its cores only: core i of the result is core `cores[i]`. Nodes keep their numbers, and
 * those without any of these cores only forward messages. So nodes, packages and routes between these cores stay the
 * same. Time: proportional to cores, nodes and packages.
 *
 * @param cores ascending
 * @throws ERR_MACHINE for cores that the machine does not have, or in another order
 */
export function machineOfCores(machine: Machine, cores: Int32Array): Machine {
  requireMachine(machine)
  requireAscending(cores, machine.firstRank[machine.cores.length])
  const firstRank = coresBelow(machine.firstRank, cores)
  const ofPackages = coresBelow(machine.packageFirstRank, cores)
  return {
    ...machine,
    cores: machine.cores.map((_, node) => firstRank[node + 1] - firstRank[node]),
    firstRank,
    // Equal bounds would make an empty package.
    packageFirstRank: ofPackages.filter((first, i) => i === 0 || first > ofPackages[i - 1]),
  }
}

/** Returns how many of the cores come before each of these bounds, both ascending. */
function coresBelow(bounds: Int32Array, cores: Int32Array): Int32Array {
  let below = 0
  return bounds.map((bound) => {
    while (below < cores.length && cores[below] < bound) below++
    return below
  })
}

function requireAscending(cores: Int32Array, count: number): void {
  let last = -1
  for (const core of cores) {
    if (core <= last || core >= count)
      failMachine(`expected ascending cores from 0 to ${count - 1}, got ${core} after ${last}`)
    last = core
  }
}
