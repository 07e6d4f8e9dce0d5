import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import type { HopLoad } from './route-load.js'

/**
 * What a route takes on a machine if all ranks did the mean of what ranks do, and all waited for each other between hops: per hop
 * the longer of what processors do (overheads at both ends, packing and unpacking) and what the network interface of a node carries,
 * then one latency. Microseconds. It ranks candidates and is not a bound.
 *
 * @throws ERR_MACHINE for a machine without a profile
 */
export function estimateUs(load: readonly HopLoad[], machine: Machine, ranks: number, bytes: number): number {
  const { levels, memory, hop } = profileOf(machine)
  const inside = levels.node
  const network = levels.network
  const nodes = machine.cores.length
  const usedNodes = Math.max(1, nodesUsed(machine, ranks))
  const perNode = ranks / usedNodes
  const interior = machine.kind === 'cluster' ? 0 : 2 * hop.latencyNs
  let ns = 0
  for (const { messages, blocks } of load) {
    const [near, far] = messages
    const [nearBlocks, farBlocks] = blocks
    if (near + far === 0) continue
    const processor =
      near * Math.max(inside.sendOverheadNs + inside.receiveOverheadNs, inside.gapNs) +
      far * Math.max(network.sendOverheadNs + network.receiveOverheadNs, network.gapNs)
    const all = nearBlocks + farBlocks
    // A message of one block is neither packed nor unpacked.
    const packed =
      all > near + far * 1.001 ? 2 * all * (memory.copyBlockNs + bytes * memory.copyNsPerByte) : 0
    const interfaceNs = nodes > 1 ? perNode * farBlocks * bytes * network.nsPerByte : 0
    const memoryNs = nearBlocks * bytes * inside.nsPerByte
    const latency = far > 0 ? network.latencyNs + interior : inside.latencyNs
    ns += Math.max(processor + packed, interfaceNs, memoryNs) + latency
  }
  return ns / 1000
}

function nodesUsed({ firstRank, cores }: Machine, ranks: number): number {
  let nodes = 0
  while (nodes < cores.length && firstRank[nodes] < ranks) nodes++
  return nodes
}
