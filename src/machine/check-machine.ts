import { topologyLimits } from '../topology/limits.js'
import { checkRoom, checkTree } from './clos.js'
import { type Machine, requireMachine } from './machine.js'
import { mostPackages, type Nodes, portsField, requireCores } from './nodes.js'
import { checkProfile, failMachine } from './profile.js'
import { checkGrid } from './torus.js'

/**
 * Checks all that a machine promises, for machines that were made by hand, cloned or read from JSON. Machines that this
 * library returns pass. Time: proportional to nodes and packages.
 *
 * - `cores` has one number per node, 0 for a node that only forwards messages, `firstRank` their running sums from 0
 * - `packageFirstRank` ascends strictly from 0 to the number of ranks and begins a package where a node begins
 * - a torus has as many nodes as the product of its extents, a Clos network no more than it has room for
 * - ports, if they are limited, are 1 to 2^16
 * - all sizes are within the documented bounds, all costs of the profile are finite and not negative
 *
 * @throws ERR_MACHINE with the first that does not hold
 */
export function checkMachine(machine: Machine): void {
  requireMachine(machine)
  checkNodes(machine)
  const nodes = machine.cores.length
  if (machine.kind === 'torus') {
    const expected = checkGrid(machine)
    if (nodes !== expected) failMachine(`expected ${expected} nodes for the extents, got ${nodes}`)
  }
  if (machine.kind === 'clos') {
    checkTree(machine)
    checkRoom(machine, nodes)
  }
  portsField(machine)
  // JSON may leave the profile out, so it may be undefined.
  if ((machine.profile ?? null) !== null) checkProfile(machine.profile!)
}

/**
 * Checks the machine of a world, whose rank r is on core r.
 *
 * @throws ERR_MACHINE as {@link checkMachine}, and for fewer cores than ranks
 */
export function checkWorldMachine(machine: Machine, ranks: number): void {
  checkMachine(machine)
  requireCores(ranks, machine.firstRank[machine.cores.length])
}

function checkNodes({ cores, firstRank, packageFirstRank }: Nodes): void {
  const nodes = cores.length
  if (nodes < 1) failMachine('expected at least one node, got none')
  if (!(packageFirstRank instanceof Int32Array)) failMachine('expected packageFirstRank to be an Int32Array')
  if (firstRank.length !== nodes + 1)
    failMachine(`firstRank: expected ${nodes + 1} elements, got ${firstRank.length}`)
  if (firstRank[0] !== 0 || packageFirstRank[0] !== 0)
    failMachine('firstRank, packageFirstRank: expected 0 first')
  let at = 0
  for (let node = 0; node < nodes; node++) {
    const end = firstRank[node] + cores[node]
    if (cores[node] < 0) failMachine(`node ${node}: expected at least 0 cores, got ${cores[node]}`)
    if (end > topologyLimits.ranks)
      failMachine(`expected at most ${topologyLimits.ranks} cores in all, got more up to node ${node}`)
    if (firstRank[node + 1] !== end)
      failMachine(`firstRank[${node + 1}]: expected ${end}, got ${firstRank[node + 1]}`)
    const before = at
    while (packageFirstRank[at] < end) {
      if (!(packageFirstRank[at + 1] > packageFirstRank[at]))
        failMachine(
          `packageFirstRank: expected ascending ranks, got ${packageFirstRank[at + 1]} after ${packageFirstRank[at]}`,
        )
      at++
    }
    if (packageFirstRank[at] !== end)
      failMachine(`packageFirstRank: expected a package that ends with node ${node}, at rank ${end}`)
    if (at - before > mostPackages)
      failMachine(`node ${node}: expected at most ${mostPackages} packages, got ${at - before}`)
  }
  if (firstRank[nodes] === 0) failMachine('expected at least one core, got none')
  if (packageFirstRank.length !== at + 1)
    failMachine(`packageFirstRank: expected ${at + 1} elements, got ${packageFirstRank.length}`)
}
