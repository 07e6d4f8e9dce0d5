import { topologyLimits } from '../topology/limits.js'
import type { Clause, ClauseReader } from './clause-reader.js'
import { equalPackages } from './machine.js'
import { mostPackages, type NodeOutline, type NodeRun, outlineOf } from './nodes.js'

/** Reads and counts the nodes that {@link readNodeRuns} returns. @throws ERR_MACHINE */
export function readNodes(reader: ClauseReader, nodes: number | null): NodeOutline {
  const clause = reader.peek('cores')
  const runs = readNodeRuns(reader, nodes)
  return clause === null ? outlineOf(runs) : reader.located(clause, () => outlineOf(runs))
}

/**
 * Reads the nodes that the clauses `cores` and `packages` describe. One number of cores is that of every node.
 *
 * @throws ERR_MACHINE, also if their number is not `nodes`; null accepts as many as are listed
 */
function readNodeRuns(reader: ClauseReader, nodes: number | null): NodeRun[] {
  const cores = reader.take('cores')
  const packages = reader.take('packages')
  if (cores === null) {
    if (packages !== null) reader.fail("'cores=C' with packages", packages.at)
    return [{ nodes: nodes ?? 1, packages: [1] }]
  }
  const runs =
    nodes !== null && !/[+x]/.test(cores.value)
      ? [{ nodes, packages: packagesOf(reader, cores) }]
      : listedRuns(reader, cores)
  const listed = runs.reduce((sum, run) => sum + run.nodes, 0)
  if (nodes !== null && listed !== nodes) reader.fail(`cores of ${nodes} nodes`, cores.at)
  if (packages === null) return runs
  const count = reader.whole(packages, 1, mostPackages)
  // The packages by the number of cores. A line of text may list a thousand nodes of a thousand packages each, so equal
  // ones are shared.
  const divided = new Map<number, readonly number[]>()
  return runs.map((run) => {
    const [cores] = run.packages
    if (run.packages.length > 1) reader.fail("packages either here or as '/' in cores", packages.at)
    if (cores % count !== 0) reader.fail(`a divisor of ${cores} cores`, packages.at)
    const equal = divided.get(cores) ?? equalPackages(cores, count)
    divided.set(cores, equal)
    return { nodes: run.nodes, packages: equal }
  })
}

function listedRuns(reader: ClauseReader, { value, at: start }: Clause): NodeRun[] {
  const runs: NodeRun[] = []
  let [at, nodes] = [start, 0]
  for (const part of value.split('+')) {
    const times = /^\d+x/.exec(part)?.[0] ?? ''
    const count = times === '' ? 1 : Number(times.slice(0, -1))
    if (count < 1) reader.fail('at least 1 node', at)
    nodes += count
    if (nodes > topologyLimits.ranks) reader.fail(`at most ${topologyLimits.ranks} nodes in all`, at)
    const packages = packagesOf(reader, { value: part.slice(times.length), at: at + times.length })
    runs.push({ nodes: count, packages })
    at += part.length + 1
  }
  return runs
}

/** Reads the cores of one node's packages: `40`, `20/20`. */
function packagesOf(reader: ClauseReader, { value, at }: Clause): number[] {
  if (!/^\d+(\/\d+)*$/.test(value))
    reader.fail("a number of cores such as '40', of packages '20/20', or nodes and cores such as '3x40'", at)
  return value.split('/').map((part) => {
    const cores = Number(part)
    if (cores > topologyLimits.ranks) reader.fail(`at most ${topologyLimits.ranks} cores in all`, at)
    return cores
  })
}
