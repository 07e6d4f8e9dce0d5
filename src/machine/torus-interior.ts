import type { Interior } from './interior.js'

/** The extents of a grid of routers, one node at each. */
export interface Grid {
  /** The number of nodes per dimension; the first varies fastest with the node's number. */
  readonly dims: readonly number[]
  /** Whether a dimension's last router is linked to its first. */
  readonly wraps: readonly boolean[]
}

export interface RouterLink {
  readonly dimension: number
  /** The router from which the cable leads up: the last of its line if it wraps. */
  readonly lower: number
  readonly upper: number
  /** Whether the link leads up. */
  readonly isUp: boolean
}

export interface TorusInterior extends Interior {
  /** @param link numbered from 0 */
  ends(link: number): RouterLink
  /** @param side the direction if both are equally short: 1 up, -1 down, 0 by the source's coordinate */
  path(fromNode: number, toNode: number, first: number, into: Int32Array, at: number, side?: number): number
}

/**
 * Returns routers linked to their neighbors in every dimension, by one link in each direction. Routes are shortest and
 * go dimension by dimension, the first first. If both ways around are equally short, an even coordinate of the source
 * goes up and an odd one down, which balances exchanges at that distance.
 *
 * Cables are numbered by dimension, then by line of routers, then along the line; a cable's link up is even, down odd.
 * A wrapped dimension of two routers has two cables between them, one of a single router none.
 */
export function torusInterior({ dims, wraps }: Grid): TorusInterior {
  const nodes = dims.reduce((product, extent) => product * extent, 1)
  const strides: number[] = []
  const cablesPerLine: number[] = []
  const firstLink: number[] = []
  let [stride, links, longestPath] = [1, 0, 0]
  for (const [d, extent] of dims.entries()) {
    const cables = extent === 1 ? 0 : wraps[d] ? extent : extent - 1
    strides.push(stride)
    cablesPerLine.push(cables)
    firstLink.push(links)
    links += 2 * cables * (nodes / extent)
    longestPath += wraps[d] ? Math.floor(extent / 2) : extent - 1
    stride *= extent
  }

  return {
    links,
    longestPath,
    path(fromNode, toNode, first, into, at, side = 0) {
      let node = fromNode
      for (let d = 0; d < dims.length; d++) {
        const [extent, stride, cables] = [dims[d], strides[d], cablesPerLine[d]]
        const from = Math.floor(node / stride) % extent
        const to = Math.floor(toNode / stride) % extent
        if (from === to) continue
        const line = (node % stride) + Math.floor(node / (stride * extent)) * stride
        const base = first + firstLink[d] + 2 * line * cables
        if (goesUp(from, to, extent, wraps[d], side)) {
          for (let c = from; c !== to; c = c + 1 === extent ? 0 : c + 1) into[at++] = base + 2 * c
        } else {
          for (let c = from; c !== to; ) {
            c = c === 0 ? extent - 1 : c - 1
            into[at++] = base + 2 * c + 1
          }
        }
        node += (to - from) * stride
      }
      return at
    },
    ends,
    name(link) {
      const { lower, upper, isUp } = ends(link)
      return isUp ? `router ${lower} -> router ${upper}` : `router ${upper} -> router ${lower}`
    },
  }

  function ends(link: number): RouterLink {
    const d = dimensionOf(link)
    const [extent, stride, cables] = [dims[d], strides[d], cablesPerLine[d]]
    const cable = Math.floor((link - firstLink[d]) / 2)
    const line = Math.floor(cable / cables)
    const node = (line % stride) + Math.floor(line / stride) * stride * extent
    const lower = node + (cable % cables) * stride
    const upper = node + (((cable % cables) + 1) % extent) * stride
    return { dimension: d, lower, upper, isUp: link % 2 === 0 }
  }

  function dimensionOf(link: number): number {
    let d = dims.length - 1
    while (d > 0 && link < firstLink[d]) d--
    return d
  }
}

/** Returns whether a route goes toward rising coordinates. */
function goesUp(from: number, to: number, extent: number, wraps: boolean, side: number): boolean {
  if (!wraps) return to > from
  const up = to > from ? to - from : to - from + extent
  if (2 * up !== extent) return 2 * up < extent
  return side === 0 ? from % 2 === 0 : side > 0
}
