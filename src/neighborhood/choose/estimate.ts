import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import type { Profile } from '../../machine/profile.js'
import type { HopLoad, RankLoad } from './route-load.js'

/**
 * What a route takes on a machine if all ranks did the mean of what ranks do, and all waited for each other
 * between hops: per hop the longer of what processors do (overheads at both ends, packing and unpacking) and
 * what the network interface of a node carries, then one latency. Where a rank has far more sources than
 * others, all wait for the rank that their blocks for it keep busiest, if that takes longer. Microseconds. It
 * ranks candidates and is not a bound.
 *
 * @throws ERR_MACHINE for a machine without a profile
 */
export function estimateUs(load: readonly HopLoad[], machine: Machine, ranks: number, bytes: number): number {
  const profile = profileOf(machine)
  const interior = machine.kind === 'cluster' ? 0 : 2 * profile.hop.latencyNs
  const perNode = ranks / Math.max(1, nodesUsed(machine, ranks))
  const latency = ([, far]: RankLoad['messages']): number =>
    far > 0 ? profile.levels.network.latencyNs + interior : profile.levels.node.latencyNs
  let ns = 0
  for (const mean of load) {
    const { messages, blocks, busiest } = mean
    const isIdle = messages[0] + messages[1] === 0
    const toNode = machine.cores.length > 1 ? perNode * blocks[1] : 0
    const meanNs = isIdle ? 0 : busyNs(mean, toNode, profile, bytes) + latency(messages)
    const most =
      busiest === undefined || busiest.messages[0] + busiest.messages[1] === 0
        ? 0
        : busyNs(busiest, busiest.toNode, profile, bytes) + latency(busiest.messages)
    ns += Math.max(meanNs, most)
  }
  return ns / 1000
}

/** @param toNode blocks that the network interface of the rank's node carries */
function busyNs({ messages, blocks }: RankLoad, toNode: number, profile: Profile, bytes: number): number {
  const { levels, memory } = profile
  const { node: inside, network } = levels
  const [near, far] = messages
  const all = blocks[0] + blocks[1]
  const processor =
    near * Math.max(inside.sendOverheadNs + inside.receiveOverheadNs, inside.gapNs) +
    far * Math.max(network.sendOverheadNs + network.receiveOverheadNs, network.gapNs)
  // A message of one block is neither packed nor unpacked.
  const packed = all > near + far * 1.001 ? 2 * all * (memory.copyBlockNs + bytes * memory.copyNsPerByte) : 0
  const interfaceNs = toNode * bytes * network.nsPerByte
  return Math.max(processor + packed, interfaceNs, blocks[0] * bytes * inside.nsPerByte)
}

function nodesUsed({ firstRank, cores }: Machine, ranks: number): number {
  let nodes = 0
  while (nodes < cores.length && firstRank[nodes] < ranks) nodes++
  return nodes
}
