import { topologyLimits } from '../topology/limits.js'
import { builtInProfiles } from './built-in-profiles.js'
import { type Clause, ClauseReader } from './clause-reader.js'
import { equalPackages, type Machine } from './machine.js'
import { mostPackages, type NodeRun, type Nodes, nodesOf } from './nodes.js'
import type { Profile } from './profile.js'

export interface MachineTextOptions {
  /** The profiles that the text may name; default: {@link builtInProfiles}. */
  readonly profiles?: readonly Profile[]
}

/**
 * A machine from its line of text:
 * - `cluster:nodes=103,cores=40`: equal nodes
 * - `cluster:cores=40+40+16`: uneven ones, where `102x40` stands for 102 nodes of 40 cores: `cluster:cores=102x40+16`
 *
 * More clauses:
 * - `packages=2`: every node's cores are divided equally among two packages; `cores=20/20+8` gives each package's cores
 * - `profile=simgrid-fast`: what messages cost; without it they have no cost, and only planning takes the machine
 *
 * @throws ERR_MACHINE with what was expected and at which character
 */
export function parseMachine(text: string, { profiles = builtInProfiles }: MachineTextOptions = {}): Machine {
  const reader = new ClauseReader(text, ['cluster'])
  const nodes = clusterNodes(reader)
  const profile = profileIn(reader, profiles)
  reader.end()
  return { kind: 'cluster', ...nodes, profile }
}

function clusterNodes(reader: ClauseReader): Nodes {
  const count = reader.take('nodes')
  const cores = reader.take('cores')
  const packages = reader.take('packages')
  if (cores === null) return reader.fail("'nodes=N,cores=C' or 'cores=C+C+...'")
  const nodes = count === null ? null : reader.whole(count, 1, topologyLimits.ranks)
  return nodesOf(nodeRuns(reader, nodes, cores, packages))
}

/** Of `nodes` equal nodes, or, where that is null, of those listed. */
function nodeRuns(
  reader: ClauseReader,
  nodes: number | null,
  cores: Clause,
  packages: Clause | null,
): NodeRun[] {
  const runs = nodes === null ? listedRuns(reader, cores) : [{ nodes, packages: packagesOf(reader, cores) }]
  if (packages === null) return runs
  const count = reader.whole(packages, 1, mostPackages)
  return runs.map((run) => {
    if (run.packages.length > 1) reader.fail("packages either here or as '/' in cores", packages.at)
    if (run.packages[0] % count !== 0) reader.fail(`a divisor of ${run.packages[0]} cores`, packages.at)
    return { nodes: run.nodes, packages: equalPackages(run.packages[0], count) }
  })
}

function listedRuns(reader: ClauseReader, { value, at: start }: Clause): NodeRun[] {
  const runs: NodeRun[] = []
  let [at, nodes] = [start, 0]
  for (const part of value.split('+')) {
    const times = /^\d+x/.exec(part)?.[0] ?? ''
    const count = times === '' ? 1 : Number(times.slice(0, -1))
    nodes += count
    if (nodes > topologyLimits.ranks) reader.fail(`at most ${topologyLimits.ranks} nodes in all`, at)
    const packages = packagesOf(reader, { value: part.slice(times.length), at: at + times.length })
    runs.push({ nodes: count, packages })
    at += part.length + 1
  }
  return runs
}

/** Cores of one node's packages: `40`, `20/20`. */
function packagesOf(reader: ClauseReader, { value, at }: Clause): number[] {
  if (!/^\d+(\/\d+)*$/.test(value))
    reader.fail("a number of cores such as '40', of packages '20/20', or nodes and cores such as '3x40'", at)
  return value.split('/').map((part) => {
    const cores = Number(part)
    if (cores > topologyLimits.ranks) reader.fail(`at most ${topologyLimits.ranks} cores in all`, at)
    return cores
  })
}

function profileIn(reader: ClauseReader, profiles: readonly Profile[]): Profile | null {
  const clause = reader.take('profile')
  if (clause === null) return null
  const found = profiles.find((profile) => profile.name === clause.value)
  return (
    found ??
    reader.fail(`one of the profiles ${profiles.map((profile) => profile.name).join(', ')}`, clause.at)
  )
}

/** The line of text that {@link parseMachine} reads; of the profile only its name is in it. */
export function formatMachine(machine: Machine): string {
  const clauses = nodeClauses(machine)
  if (machine.profile !== null) clauses.push(`profile=${machine.profile.name}`)
  return `cluster:${clauses.join(',')}`
}

function nodeClauses(nodes: Nodes): string[] {
  const runs = runsOf(nodes)
  const even = runs.every(({ packages }) => packages.every((cores) => cores === packages[0]))
  const packages = runs[0].packages.length
  const isDivided = even && packages > 1 && runs.every((run) => run.packages.length === packages)
  const coresOf = (run: NodeRun) => (isDivided ? String(packages * run.packages[0]) : run.packages.join('/'))
  const clauses =
    runs.length === 1
      ? [`nodes=${runs[0].nodes}`, `cores=${coresOf(runs[0])}`]
      : [`cores=${runs.map((run) => (run.nodes === 1 ? '' : `${run.nodes}x`) + coresOf(run)).join('+')}`]
  if (isDivided) clauses.push(`packages=${packages}`)
  return clauses
}

/** Equal nodes that follow each other, as one run. */
function runsOf({ cores, firstRank, packageFirstRank }: Nodes): NodeRun[] {
  const runs: { nodes: number; packages: number[] }[] = []
  let at = 0
  for (let node = 0; node < cores.length; node++) {
    const packages: number[] = []
    for (; packageFirstRank[at] < firstRank[node + 1]; at++)
      packages.push(packageFirstRank[at + 1] - packageFirstRank[at])
    const last = runs.at(-1)
    if (last !== undefined && isSame(last.packages, packages)) last.nodes++
    else runs.push({ nodes: 1, packages })
  }
  return runs
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i])
}
