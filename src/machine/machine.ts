import { RankweaveError } from '../errors.js'
import { topologyLimits } from '../topology/limits.js'

/**
 * Where ranks live. `cluster`: nodes of cores, ranks are placed in consecutive blocks, node 0 first. Nodes may differ
 * in cores.
 */
export interface Machine {
  readonly kind: 'cluster'
  /** Cores of every node; `firstRank[i]` to `firstRank[i + 1] - 1` are the ranks on node i. */
  readonly cores: Int32Array
  readonly firstRank: Int32Array
}

/** Whether a value has the fields of a machine; their contents are not checked. */
export function isMachine(value: unknown): value is Machine {
  const { kind, cores, firstRank } = Object(value) as Partial<Machine>
  return kind === 'cluster' && cores instanceof Int32Array && firstRank instanceof Int32Array
}

/** A cluster of equal nodes. @throws ERR_MACHINE */
export function cluster({ nodes, cores }: { readonly nodes: number; readonly cores: number }): Machine {
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > topologyLimits.ranks)
    fail(`expected 1 to ${topologyLimits.ranks} nodes, got ${nodes}`)
  return clusterOf(new Array<number>(nodes).fill(cores))
}

/** A cluster whose node i has `coresPerNode[i]` cores, at least one each. @throws ERR_MACHINE */
export function clusterOf(coresPerNode: ArrayLike<number>): Machine {
  const nodes = coresPerNode.length
  if (nodes === 0) fail('expected at least one node, got none')
  const cores = new Int32Array(nodes)
  const firstRank = new Int32Array(nodes + 1)
  let total = 0
  for (let node = 0; node < nodes; node++) {
    const count = coresPerNode[node]
    if (!Number.isInteger(count) || count < 1) fail(`node ${node}: expected at least 1 core, got ${count}`)
    total += count
    if (total > topologyLimits.ranks)
      fail(`expected at most ${topologyLimits.ranks} cores in all, got more up to node ${node}`)
    cores[node] = count
    firstRank[node + 1] = total
  }
  return { kind: 'cluster', cores, firstRank }
}

/**
 * The node of every rank: rank 0 on the first core of node 0, and so on. Cores may stay idle.
 *
 * @throws ERR_MACHINE when there are fewer cores than ranks
 */
export function nodeOf(machine: Machine, ranks: number): Int32Array {
  const { cores, firstRank } = machine
  if (!Number.isInteger(ranks) || ranks < 0) fail(`expected an integer of ranks, got ${ranks}`)
  if (ranks > firstRank[cores.length])
    fail(`expected at least ${ranks} cores for ${ranks} ranks, got ${firstRank[cores.length]}`)
  const nodes = new Int32Array(ranks)
  for (let node = 0; node < cores.length && firstRank[node] < ranks; node++)
    nodes.fill(node, firstRank[node], Math.min(firstRank[node + 1], ranks))
  return nodes
}

/**
 * A machine from its line of text: `cluster:nodes=103,cores=40` for equal nodes, `cluster:cores=40+40+16` for uneven
 * ones, where `102x40` stands for 102 nodes of 40 cores: `cluster:cores=102x40+16`.
 *
 * @throws ERR_MACHINE with what was expected and at which character
 */
export function parseMachine(text: string): Machine {
  const prefix = 'cluster:'
  if (!text.startsWith(prefix)) failAt(text, 0, `'${prefix}'`)
  const body = text.slice(prefix.length)
  const even = /^nodes=(\d+),cores=(\d+)$/.exec(body)
  if (even !== null) return cluster({ nodes: Number(even[1]), cores: Number(even[2]) })
  if (!body.startsWith('cores='))
    failAt(text, prefix.length, "'nodes=N,cores=C' or 'cores=C+C+...' with integers")
  const coresPerNode: number[] = []
  let at = prefix.length + 'cores='.length
  for (const part of text.slice(at).split('+')) {
    const match = /^(?:(\d+)x)?(\d+)$/.exec(part)
    if (match === null) failAt(text, at, "a number of cores such as '40', or nodes and cores such as '3x40'")
    const nodes = Number(match[1] ?? 1)
    if (coresPerNode.length + nodes > topologyLimits.ranks)
      failAt(text, at, `at most ${topologyLimits.ranks} nodes in all`)
    for (let i = 0; i < nodes; i++) coresPerNode.push(Number(match[2]))
    at += part.length + 1
  }
  return clusterOf(coresPerNode)
}

/** The line of text that {@link parseMachine} reads. */
export function formatMachine({ cores }: Machine): string {
  const runs: { nodes: number; cores: number }[] = []
  for (const count of cores) {
    const last = runs.at(-1)
    if (last?.cores === count) last.nodes++
    else runs.push({ nodes: 1, cores: count })
  }
  if (runs.length === 1) return `cluster:nodes=${runs[0].nodes},cores=${runs[0].cores}`
  return `cluster:cores=${runs.map((run) => (run.nodes === 1 ? '' : `${run.nodes}x`) + run.cores).join('+')}`
}

function failAt(text: string, at: number, expected: string): never {
  const got = at < text.length ? `'${text.slice(at)}'` : 'the end'
  return fail(`machine '${text}', character ${at + 1}: expected ${expected}, got ${got}`, { text, at })
}

function fail(message: string, details: Record<string, string | number> = {}): never {
  throw new RankweaveError('ERR_MACHINE', message, { details })
}
