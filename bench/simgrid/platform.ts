import { type Machine, nodeOf } from '../../src/machine/machine.js'
import { type Network, networkOf, profileOf } from '../../src/machine/network.js'
import type { MessageCosts } from '../../src/machine/profile.js'

/** A machine as SimGrid reads it, and which host each rank is on. */
export interface Platform {
  readonly xml: string
  /** One line per rank. */
  readonly hostFile: string
}

/**
 * The same machine for SimGrid: a host per node; the links of its network one by one, with the routes between
 * all nodes, so that nothing depends on how SimGrid would route. Messages inside a node take its host's
 * loopback, which they do not share. What processors do is not in it: run-program.c charges it.
 *
 * @throws when SimGrid cannot have this machine: gaps between messages, packages at different distances
 */
export function platformOf(machine: Machine, ranks: number): Platform {
  const { levels } = profileOf(machine)
  if (levels.network.gapNs !== 0 || levels.node.gapNs !== 0)
    throw new Error('SimGrid has no gap between messages')
  if (wayOf(levels.package) !== wayOf(levels.node))
    throw new Error('a host of SimGrid has one loopback: expected packages as near as nodes')
  const network = networkOf(machine)
  const nodes = nodeOf(machine, ranks)
  const used = ranks === 0 ? 0 : nodes[ranks - 1] + 1
  const xml = [
    `<?xml version='1.0'?>`,
    `<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">`,
    `<platform version="4.1">`,
    `<zone id="machine" routing="Full">`,
    ...Array.from({ length: used }, (_, node) => `<host id="node-${node}" speed="1Gf"/>`),
    ...linksOf(network, levels.node),
    ...routesOf(network, used),
    `</zone>`,
    `</platform>`,
  ]
  return { xml: `${xml.join('\n')}\n`, hostFile: Array.from(nodes, (node) => `node-${node}\n`).join('') }
}

const wayOf = ({ latencyNs, nsPerByte }: MessageCosts): string => `${latencyNs} ${nsPerByte}`

function linksOf({ latencyNs, nsPerByte }: Network, inNode: MessageCosts): string[] {
  return [
    link('loopback', inNode.latencyNs, inNode.nsPerByte, 'FATPIPE'),
    ...Array.from(latencyNs, (ns, id) => link(`link-${id}`, ns, nsPerByte[id], 'SHARED')),
  ]
}

function link(id: string, latencyNs: number, nsPerByte: number, policy: 'SHARED' | 'FATPIPE'): string {
  return `<link id="${id}" latency="${latencyNs}ns" bandwidth="${1e9 / nsPerByte}Bps" sharing_policy="${policy}"/>`
}

function routesOf({ longestRoute, route }: Network, nodes: number): string[] {
  const into = new Int32Array(longestRoute)
  const routes: string[] = []
  for (let from = 0; from < nodes; from++) {
    for (let to = 0; to < nodes; to++) {
      const links = from === to ? ['loopback'] : []
      for (let i = 0, count = from === to ? 0 : route(from, to, into); i < count; i++)
        links.push(`link-${into[i]}`)
      const parts = links.map((id) => `<link_ctn id="${id}"/>`).join('')
      routes.push(`<route src="node-${from}" dst="node-${to}" symmetrical="NO">${parts}</route>`)
    }
  }
  return routes
}
