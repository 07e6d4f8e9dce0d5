import { adjacencySvg } from '../../topology/files/adjacency-picture.js'
import { relabelledTopology } from '../../topology/mapping/relabel.js'
import type { ProcessTopology } from '../../topology/process-topology.js'

const gap = 16

/** Draws the adjacency matrix by rank, and next to it by slot: edges near the diagonal are on one node. */
export function mappingPicture(topology: ProcessTopology, slotOf: Int32Array, title: string): string {
  const pictures = [
    adjacencySvg(topology, { title: `${title}, by rank` }),
    adjacencySvg(relabelledTopology(topology, slotOf), { title: `${title}, by slot` }),
  ]
  const [width, height] = ['width', 'height'].map((name) => sideOf(pictures[0], name))
  const placed = pictures.map((picture, i) => picture.replace('<svg ', `<svg x="${i * (width + gap)}" `))
  const [whole, size] = [2 * width + gap, height]
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${whole}" height="${size}" viewBox="0 0 ${whole} ${size}">\n${placed.join('\n')}\n</svg>\n`
}

function sideOf(svg: string, name: string): number {
  return Number(new RegExp(` ${name}="([\\d.]+)"`).exec(svg)![1])
}
