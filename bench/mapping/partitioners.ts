import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProcessTopology } from '../../src/topology/process-topology.js'

/** Nodes to divide ranks among. */
export interface Target {
  readonly capacities: readonly number[]
  /** Extents of a torus of the nodes, for partitioners that map onto one. */
  readonly torus?: readonly number[]
}

/** A program of Debian that divides graphs. */
export interface Partitioner {
  readonly name: string
  /** Debian's package. */
  readonly debian: string
  readonly command: string
  /** The node of every rank, by several ways; nodes may be too full. */
  parts(topology: ProcessTopology, target: Target): readonly Int32Array[]
}

/** Why a partitioner cannot be run here, or null. */
export function missingPartitioner({ command, debian }: Partitioner): string | null {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' })
    return null
  } catch {
    return `no ${command}: install Debian's package ${debian}`
  }
}

export const metis: Partitioner = {
  name: 'METIS',
  debian: 'metis',
  command: 'gpmetis',
  parts: (topology, { capacities }) =>
    inFolder((folder) => {
      const [graph, weights] = ['graph', 'weights'].map((name) => join(folder, name))
      writeFileSync(graph, metisText(topology))
      const total = capacities.reduce((sum, capacity) => sum + capacity, 0)
      writeFileSync(weights, capacities.map((capacity, node) => `${node} = ${capacity / total}\n`).join(''))
      const nodes = String(capacities.length)
      const ways = [['-ptype=rb'], ['-ptype=kway', '-objtype=cut'], ['-ptype=kway', '-objtype=vol']]
      return ways.map((way) => {
        const options = [...way, '-ncuts=10', '-niter=50', '-ufactor=1', '-seed=1', `-tpwgts=${weights}`]
        execFileSync('gpmetis', [...options, graph, nodes], { stdio: 'ignore' })
        return numbers(readFileSync(`${graph}.part.${nodes}`, 'utf8'))
      })
    }),
}

export const scotch: Partitioner = {
  name: 'Scotch',
  debian: 'scotch',
  command: 'scotch_gmap',
  parts: (topology, { capacities, torus }) =>
    inFolder((folder) => {
      const [graph, target, map] = ['graph', 'target', 'map'].map((name) => join(folder, name))
      writeFileSync(graph, scotchText(topology))
      const complete = `cmpltw ${capacities.length} ${capacities.join(' ')}\n`
      const targets =
        torus === undefined ? [complete] : [complete, `torus${torus.length}D ${torus.join(' ')}\n`]
      return targets.map((text) => {
        writeFileSync(target, text)
        execFileSync('scotch_gmap', ['-Cqb', '-b0.0', graph, target, map], { stdio: 'ignore' })
        const [count, ...pairs] = numbers(readFileSync(map, 'utf8'))
        const nodeOf = new Int32Array(count)
        for (let i = 0; i < pairs.length; i += 2) nodeOf[pairs[i]] = pairs[i + 1]
        return nodeOf
      })
    }),
}

/** Moves ranks from nodes that are too full to the free slots where most of their neighbors are: capacities exact. */
export function repaired(topology: ProcessTopology, given: Int32Array, { capacities }: Target): Int32Array {
  const nodeOf = given.slice()
  const free = Int32Array.from(capacities)
  for (const node of nodeOf) free[node]--
  const { outStart, outRank } = topology
  for (;;) {
    const full = free.findIndex((slots) => slots < 0)
    if (full < 0) return nodeOf
    let best = { gain: Number.NEGATIVE_INFINITY, rank: -1, node: -1 }
    for (let rank = 0; rank < nodeOf.length; rank++) {
      if (nodeOf[rank] !== full) continue
      const near = new Map<number, number>()
      for (let e = outStart[rank]; e < outStart[rank + 1]; e++) {
        const node = nodeOf[outRank[e]]
        near.set(node, (near.get(node) ?? 0) + 1)
      }
      for (const [node, slots] of free.entries()) {
        const gain = (near.get(node) ?? 0) - (near.get(full) ?? 0)
        if (slots > 0 && gain > best.gain) best = { gain, rank, node }
      }
    }
    nodeOf[best.rank] = best.node
    free[best.node]--
    free[full]++
  }
}

function inFolder<T>(act: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-parts-'))
  try {
    return act(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const numbers = (text: string): Int32Array => Int32Array.from(text.trim().split(/\s+/), Number)

/** Neighbors of every rank, of a symmetric topology without loops and parallel edges. */
function rows({ ranks, outStart, outRank }: ProcessTopology): Int32Array[] {
  return Array.from({ length: ranks }, (_, rank) => outRank.subarray(outStart[rank], outStart[rank + 1]))
}

function metisText(topology: ProcessTopology): string {
  const lines = rows(topology).map((row) => Array.from(row, (rank) => rank + 1).join(' '))
  return `${topology.ranks} ${topology.outRank.length / 2}\n${lines.join('\n')}\n`
}

function scotchText(topology: ProcessTopology): string {
  const lines = rows(topology).map((row) => [row.length, ...row].join(' '))
  return `0\n${topology.ranks} ${topology.outRank.length}\n0 000\n${lines.join('\n')}\n`
}
