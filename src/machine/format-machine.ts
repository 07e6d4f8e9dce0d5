import { type ClosMachine, type Machine, requireMachine, type TorusMachine } from './machine.js'
import { type NodeRun, type Nodes, nodeRuns } from './nodes.js'

/**
 * Returns the line of text that `parseMachine` reads; it contains only the name of the profile. `parseMachine` refuses
 * it if nodes differ so often that it exceeds 2^20 characters, or if some have no cores.
 *
 * @throws ERR_MACHINE unless it has the fields of a machine
 */
export function formatMachine(machine: Machine): string {
  requireMachine(machine)
  const { isEven, clauses: inNodes } = nodeClauses(machine)
  const nodes = `nodes=${machine.cores.length}`
  const clauses = [...inNodes, ...commonClauses(machine)]
  switch (machine.kind) {
    case 'cluster':
      return `cluster:${[...(isEven ? [nodes] : []), ...clauses].join(',')}`
    case 'torus':
      return `${gridText(machine)},${clauses.join(',')}`
    case 'clos':
      return `clos:${treeText(machine)},${nodes},${clauses.join(',')}`
  }
}

/**
 * Returns as text everything of a machine that plans and times depend on; the texts of equal machines are equal. It
 * contains the figures, because two profiles of one name may differ.
 */
export function machineFacts(machine: Machine): string {
  return JSON.stringify(machine, (_key, value: unknown) => {
    if (ArrayBuffer.isView(value)) return (value as Int32Array).join()
    // JSON has no Infinity, so numbers become strings.
    return typeof value === 'number' ? String(value) : value
  })
}

/** Returns the clauses that every kind of machine has apart from those of its nodes. */
function commonClauses({ profile, ports = null }: Machine): string[] {
  return [
    ...(ports === null ? [] : [`ports=${ports}`]),
    ...(profile === null ? [] : [`profile=${profile.name}`]),
  ]
}

function gridText({ dims, wraps }: TorusMachine): string {
  const extents = `dims=${dims.join('x')}`
  if (wraps.every((wrap) => wrap)) return `torus:${extents}`
  if (!wraps.some((wrap) => wrap)) return `mesh:${extents}`
  return `torus:${extents},wrap=${wraps.map(Number).join('')}`
}

function treeText({ radix, levels, nodesPerLeaf }: ClosMachine): string {
  const size = `radix=${radix},levels=${levels}`
  if (levels === 1 || 2 * nodesPerLeaf === radix) return size
  const up = radix - nodesPerLeaf
  const divisor = greatestDivisor(nodesPerLeaf, up)
  return `${size},taper=${nodesPerLeaf / divisor}${up === divisor ? '' : `:${up / divisor}`}`
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}

/** Returns whether all nodes are equal, and the clauses `cores` and `packages` that `parseMachine` reads. */
function nodeClauses(nodes: Nodes): { isEven: boolean; clauses: string[] } {
  const runs = nodeRuns(nodes)
  const packages = runs[0].packages.length
  const isDivided = packages > 1 && runs.every((run) => isDividedBy(run, packages))
  const cores = runs.map((run) => {
    const ofOne = isDivided ? String(packages * run.packages[0]) : run.packages.join('/')
    return runs.length === 1 || run.nodes === 1 ? ofOne : `${run.nodes}x${ofOne}`
  })
  const clauses = [`cores=${cores.join('+')}`]
  if (isDivided) clauses.push(`packages=${packages}`)
  return { isEven: runs.length === 1, clauses }
}

function isDividedBy(run: NodeRun, packages: number): boolean {
  return run.packages.length === packages && run.packages.every((cores) => cores === run.packages[0])
}
