import { equalNumbers } from '../base/search.js'
import { shown } from '../errors.js'
import { topologyLimits } from '../topology/limits.js'
import { failMachine } from './profile.js'

/** Nodes with their packages (sockets) of cores. Ranks fill cores in order, node 0 first. */
export interface Nodes {
  /**
   * The cores of every node, 0 if it only forwards messages; `firstRank[i]` to `firstRank[i + 1] - 1` are the ranks on
   * node i. Length: nodes.
   */
  readonly cores: Int32Array
  /** The first rank of every node. Length: nodes + 1. */
  readonly firstRank: Int32Array
  /**
   * The first rank of every package, counted over all nodes: `packageFirstRank[p]` to `packageFirstRank[p + 1] - 1` are
   * the ranks of package p. No package is on two nodes or empty. Length: packages + 1; the same array as `firstRank` if
   * every node is one package.
   */
  readonly packageFirstRank: Int32Array
}

/** The most packages of one node. */
export const mostPackages = 1024

/** A run of equal nodes: their number, and the cores of each one's packages. */
export interface NodeRun {
  readonly nodes: number
  readonly packages: readonly number[]
}

/** Nodes in runs of equal ones, with totals. Its size is in proportion to runs, not to nodes. */
export interface NodeOutline {
  readonly runs: readonly NodeRun[]
  readonly nodes: number
  readonly packages: number
  readonly cores: number
}

/**
 * Counts nodes, packages and cores in runs of equal nodes.
 *
 * @throws ERR_MACHINE without nodes or cores, and beyond {@link topologyLimits} ranks
 */
export function outlineOf(runs: readonly NodeRun[]): NodeOutline {
  let [nodes, packages, cores] = [0, 0, 0]
  // Many runs may share one list, so each list is summed once.
  const sums = new Map<readonly number[], number>()
  for (const run of runs) {
    if (!Number.isInteger(run.nodes) || run.nodes < 0 || run.nodes > topologyLimits.ranks)
      failMachine(`expected 1 to ${topologyLimits.ranks} nodes, got ${shown(run.nodes)}`)
    const coresOfNode = sums.get(run.packages) ?? checkedCores(run.packages, nodes)
    sums.set(run.packages, coresOfNode)
    cores += run.nodes * coresOfNode
    if (cores > topologyLimits.ranks)
      failMachine(
        `expected at most ${topologyLimits.ranks} cores in all, got more up to node ${nodes + run.nodes - 1}`,
      )
    nodes += run.nodes
    packages += run.nodes * run.packages.length
  }
  if (nodes === 0) failMachine('expected at least one node, got none')
  return { runs, nodes, packages, cores }
}

/** Returns the cores of a node with such packages. @throws ERR_MACHINE naming the node */
function checkedCores(packages: readonly number[], node: number): number {
  if (packages.length < 1 || packages.length > mostPackages)
    failMachine(`node ${node}: expected 1 to ${mostPackages} packages, got ${packages.length}`)
  for (const cores of packages)
    if (!Number.isInteger(cores) || cores < 1)
      failMachine(`node ${node}: expected at least 1 core, got ${shown(cores)}`)
  return coresOf(packages)
}

function coresOf(packages: readonly number[]): number {
  return packages.reduce((sum, cores) => sum + cores, 0)
}

/** Returns nodes from runs of equal ones. @throws ERR_MACHINE as {@link outlineOf}, before anything is allocated */
export function nodesOf(runs: readonly NodeRun[]): Nodes {
  return laidOut(outlineOf(runs))
}

/** Returns the nodes of an outline. Time and memory: proportional to nodes and packages. */
export function laidOut({ runs, nodes, packages }: NodeOutline): Nodes {
  return packages === nodes ? ofOnePackage(runs, nodes) : ofPackages(runs, nodes, packages)
}

/**
 * Returns the node of every rank, as `nodeOf` does for the nodes of an outline. Time: proportional to ranks and runs.
 *
 * @throws ERR_MACHINE when there are fewer cores than ranks
 */
export function nodeOfOutline({ runs, cores }: NodeOutline, ranks: number): Int32Array {
  requireCores(ranks, cores)
  const result = new Int32Array(ranks)
  let [node, rank] = [0, 0]
  for (const { nodes, packages } of runs) {
    const size = coresOf(packages)
    for (const end = node + nodes; node < end && rank < ranks; node++, rank += size)
      result.fill(node, rank, Math.min(rank + size, ranks))
    if (rank >= ranks) break
  }
  return result
}

/** Returns the runs of equal nodes that follow each other. */
export function nodeRuns({ cores, firstRank, packageFirstRank }: Nodes): NodeRun[] {
  const runs: { nodes: number; packages: number[] }[] = []
  let at = 0
  for (let node = 0; node < cores.length; node++) {
    const packages: number[] = []
    for (; packageFirstRank[at] < firstRank[node + 1]; at++)
      packages.push(packageFirstRank[at + 1] - packageFirstRank[at])
    const last = runs.at(-1)
    if (last !== undefined && equalNumbers(last.packages, packages)) last.nodes++
    else runs.push({ nodes: 1, packages })
  }
  return runs
}

/** @throws ERR_MACHINE when there are fewer cores than ranks */
export function requireCores(ranks: number, cores: number): void {
  if (ranks > cores) failMachine(`expected at least ${ranks} cores for ${ranks} ranks, got ${cores}`)
}

function ofOnePackage(runs: readonly NodeRun[], nodes: number): Nodes {
  const cores = new Int32Array(nodes)
  const firstRank = new Int32Array(nodes + 1)
  let node = 0
  for (const run of runs) {
    for (const end = node + run.nodes; node < end; node++) {
      cores[node] = run.packages[0]
      firstRank[node + 1] = firstRank[node] + cores[node]
    }
  }
  return { cores, firstRank, packageFirstRank: firstRank }
}

function ofPackages(runs: readonly NodeRun[], nodes: number, packages: number): Nodes {
  const cores = new Int32Array(nodes)
  const firstRank = new Int32Array(nodes + 1)
  const packageFirstRank = new Int32Array(packages + 1)
  let [node, at] = [0, 0]
  for (const run of runs) {
    for (const end = node + run.nodes; node < end; node++) {
      for (const count of run.packages) {
        packageFirstRank[at + 1] = packageFirstRank[at] + count
        at++
      }
      firstRank[node + 1] = packageFirstRank[at]
      cores[node] = firstRank[node + 1] - firstRank[node]
    }
  }
  return { cores, firstRank, packageFirstRank }
}

/** The most messages that a node may send into the network at once. */
export const mostNodePorts = 2 ** 16

/** The options of a machine that limit how many messages its nodes send at once. */
export interface PortOptions {
  /** The number of messages that a node sends into the network at once, 1 to 2^16. Default null: no limit. */
  readonly ports?: number | null
}

/** Returns the field `ports` of a machine, absent if there is no limit. @throws ERR_MACHINE */
export function portsField({ ports = null }: PortOptions): { readonly ports?: number } {
  if (ports === null) return {}
  if (!Number.isInteger(ports) || ports < 1 || ports > mostNodePorts)
    failMachine(`expected 1 to ${mostNodePorts} ports per node, got ${shown(ports)}`)
  return { ports }
}

/** Returns how many messages a node of the machine sends at once; Infinity without a limit. */
export function portsOf({ ports }: PortOptions): number {
  return ports ?? Number.POSITIVE_INFINITY
}
