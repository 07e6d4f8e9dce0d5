import { requireKnownOptions } from '../base/known-options.js'
import { type Option, type OptionTable, uncheckedOptions, valueOption } from '../base/option.js'
import { rangeAt } from '../base/search.js'
import { shown } from '../errors.js'
import type { Grid, Tree } from './interior.js'
import { mostPackages, type Nodes, nodesOf, type PortOptions, portsField, requireCores } from './nodes.js'
import { failMachine, type Level, type Profile } from './profile.js'

interface NodesAndCosts extends Nodes {
  /** The costs of messages; null if only nodes and cores matter, as in planning. */
  readonly profile: Profile | null
  /** The most messages that a node sends into the network at once, 1 to 2^16. Absent or null: no limit. */
  readonly ports?: number | null
}

/** Nodes behind one switch that never blocks: messages of two nodes wait for each other at network interfaces only. */
export interface ClusterMachine extends NodesAndCosts {
  readonly kind: 'cluster'
}

/** A grid with a node at every router; a mesh if no dimension wraps. */
export interface TorusMachine extends NodesAndCosts, Grid {
  readonly kind: 'torus'
}

/** Nodes below switches in levels: a folded Clos network, a fat tree if nothing is tapered. */
export interface ClosMachine extends NodesAndCosts, Tree {
  readonly kind: 'clos'
}

/**
 * The places of ranks and the costs of messages between them. Plain data, which structured cloning copies. Ranks are
 * placed in consecutive blocks, node 0 first; nodes may differ in cores.
 */
export type Machine = ClusterMachine | TorusMachine | ClosMachine

const machineKinds = ['cluster', 'torus', 'clos'] as const satisfies readonly Machine['kind'][]

/** Returns whether a value has the fields of a machine; their contents are not checked. */
export function isMachine(value: unknown): value is Machine {
  const { kind, cores, firstRank } = Object(value) as Partial<Machine>
  return machineKinds.includes(kind!) && cores instanceof Int32Array && firstRank instanceof Int32Array
}

/** @throws ERR_MACHINE unless it has the fields of a machine */
export function requireMachine(value: unknown): asserts value is Machine {
  if (!isMachine(value)) failMachine(`expected a machine, such as parseMachine returns, got ${shown(value)}`)
}

interface ClusterOptions extends PortOptions {
  readonly nodes: number
  readonly cores: number
  readonly packages?: number
  readonly profile?: Profile | null
}

const knownOptions: OptionTable<ClusterOptions> = uncheckedOptions(
  'nodes',
  'cores',
  'packages',
  'profile',
  'ports',
)

/**
 * Returns a cluster of equal nodes; each node's cores are divided equally among its packages, one unless given.
 *
 * @throws ERR_MACHINE; ERR_ARGUMENT unless `options` is an object
 */
export function cluster(options: ClusterOptions): ClusterMachine {
  requireKnownOptions('cluster', options, knownOptions)
  const { nodes, cores, packages = 1, profile = null } = options
  const inNodes = nodesOf([{ nodes, packages: equalPackages(cores, packages) }])
  return { kind: 'cluster', ...inNodes, profile, ...portsField(options) }
}

/** @throws ERR_MACHINE */
export function equalPackages(cores: number, packages: number): number[] {
  if (!Number.isInteger(packages) || packages < 1 || packages > mostPackages)
    failMachine(`expected 1 to ${mostPackages} packages per node, got ${shown(packages)}`)
  if (!Number.isInteger(cores) || cores < 1)
    failMachine(`expected at least 1 core per node, got ${shown(cores)}`)
  if (packages > 1 && cores % packages !== 0)
    failMachine(`expected a number of cores that ${packages} packages divide, got ${cores}`)
  return new Array<number>(packages).fill(cores / packages)
}

/**
 * Returns the node of every rank: rank 0 is on the first core of node 0, and so on. Cores may stay idle.
 *
 * @throws ERR_MACHINE when there are fewer cores than ranks
 */
export function nodeOf(machine: Machine, ranks: number): Int32Array {
  requireMachine(machine)
  return rangeOfEach(machine.firstRank, ranks)
}

/**
 * Returns the package of every rank, counted over all nodes.
 *
 * @throws ERR_MACHINE when there are fewer cores than ranks
 */
export function packageOf(machine: Machine, ranks: number): Int32Array {
  requireMachine(machine)
  return rangeOfEach(machine.packageFirstRank, ranks)
}

function rangeOfEach(first: Int32Array, ranks: number): Int32Array {
  const ranges = first.length - 1
  if (!Number.isInteger(ranks) || ranks < 0) failMachine(`expected an integer of ranks, got ${shown(ranks)}`)
  requireCores(ranks, first[ranges])
  const result = new Int32Array(ranks)
  for (let range = 0; range < ranges && first[range] < ranks; range++)
    result.fill(range, first[range], Math.min(first[range + 1], ranks))
  return result
}

/**
 * Returns the level of messages between two ranks: `process` for a rank and itself.
 *
 * @throws ERR_MACHINE for a rank without a core
 */
export function levelOf(machine: Machine, rankA: number, rankB: number): Level {
  requireMachine(machine)
  const cores = machine.firstRank[machine.firstRank.length - 1]
  for (const rank of [rankA, rankB])
    if (!Number.isInteger(rank) || rank < 0 || rank >= cores)
      failMachine(`expected a rank from 0 to ${cores - 1}, got ${shown(rank)}`)
  if (rankA === rankB) return 'process'
  if (rangeAt(machine.packageFirstRank, rankA) === rangeAt(machine.packageFirstRank, rankB)) return 'package'
  return rangeAt(machine.firstRank, rankA) === rangeAt(machine.firstRank, rankB) ? 'node' : 'network'
}

/** An option that takes a machine, whose contents its user checks. */
export const machineOption: Option<Machine> = valueOption(
  'a machine, such as parseMachine returns',
  isMachine,
  { code: 'ERR_MACHINE' },
)

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
