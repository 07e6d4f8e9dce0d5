import type { TorusMachine } from '../../machine/machine.js'
import { linkName } from '../../machine/network.js'
import { type RouterLink, torusInterior } from '../../machine/torus-interior.js'
import { escapeXml } from '../../text/printable.js'
import type { LinkLoads } from './link-loads.js'
import { loadColor, loadText } from './load-colors.js'

/** A part of a picture, from its upper left corner. */
export interface PicturePart {
  readonly width: number
  readonly height: number
  /** The meaning of the colors. */
  readonly scale: string
  /** A remark below the part, such as the number of links left out; empty for none. */
  readonly remark: string
  pieces(): Iterable<string>
}

/** The distance from router to router. */
const spacing = 44
/** Half the side of a router's box. */
const half = 7
/** The length of both ends of the line of a link that leads around. */
const stub = 12
const margin = 34
const planeTitle = 16
const mostWidth = 1100

type Place = readonly [column: number, row: number, plane: number]

/**
 * Draws the links of a torus or mesh of up to three dimensions: its routers as grids, one for each plane of the third.
 * The left half of a router's box is the link out of its node, the right half that to it. Links keep to the right of
 * their direction. Links between planes are drawn below their lower router, the left one up.
 *
 * @returns null if the grid has more dimensions, or one plane has more than `most` links
 */
export function torusPicture(loads: LinkLoads, machine: TorusMachine, most: number): PicturePart | null {
  const axes = [...machine.dims.keys()].filter((d) => machine.dims[d] > 1)
  if (axes.length > 3) return null
  const [columns, rows, planes] = [0, 1, 2].map((i) => (i < axes.length ? machine.dims[axes[i]] : 1))
  const interior = torusInterior(machine)
  const nodes = machine.cores.length
  const { ofNodes, ofInterior } = loads
  const linksOfPlane = new Float64Array(planes).fill(2 * columns * rows)
  const placeOf = (router: number): Place => [
    router % columns,
    Math.floor(router / columns) % rows,
    Math.floor(router / (columns * rows)),
  ]
  for (let link = 0; link < interior.links; link++) linksOfPlane[placeOf(interior.ends(link).lower)[2]]++
  let [shown, drawn] = [0, 0]
  while (shown < planes && drawn + linksOfPlane[shown] <= most) drawn += linksOfPlane[shown++]
  if (shown === 0) return null

  const width = 2 * margin + (columns - 1) * spacing
  const height = 2 * margin + (rows - 1) * spacing + planeTitle
  const perRow = Math.max(1, Math.min(shown, Math.floor(mostWidth / width)))
  const at = ([column, row, plane]: Place): readonly [x: number, y: number] => [
    (plane % perRow) * width + margin + column * spacing,
    Math.floor(plane / perRow) * height + planeTitle + margin + row * spacing,
  ]
  const titled = (link: number, shape: string): string => {
    const load = loads.bytes[link]
    const { mostBytes } = link < 2 * nodes ? ofNodes : ofInterior
    const color = loadColor(load === 0 ? 0 : load / mostBytes)
    const title = `${linkName(machine, link)}: ${loadText(load)}`
    return `${shape.replace('COLOR', color)}<title>${escapeXml(title)}</title></path>\n`
  }
  const left = loads.bytes.length - drawn
  return {
    width: perRow * width,
    height: Math.ceil(shown / perRow) * height,
    scale: `0 to ${loadText(ofInterior.mostBytes)} between routers, to ${loadText(ofNodes.mostBytes)} in boxes`,
    remark: remarkOf(planes, left),
    *pieces() {
      for (let plane = 0; planes > 1 && plane < shown; plane++) {
        const [x, y] = at([0, 0, plane])
        yield `<text x="${x - half}" y="${y - margin}" fill="#6b7280">plane ${plane}</text>\n`
      }
      for (let link = 0; link < interior.links; link++) {
        const ends = interior.ends(link)
        const place = placeOf(ends.lower)
        if (place[2] >= shown) continue
        const [x, y] = at(place)
        const line = linePath(axes.indexOf(ends.dimension), ends, [x, y], [columns, rows])
        yield titled(
          loads.bytes.length - interior.links + link,
          `<path d="${line}" stroke="COLOR" stroke-width="3">`,
        )
      }
      for (let node = 0; node < nodes; node++) {
        const place = placeOf(node)
        if (place[2] >= shown) break
        const [x, y] = at(place)
        for (const side of [0, 1])
          yield titled(
            2 * node + side,
            `<path d="M${x - half + side * half} ${y - half}h${half}v${2 * half}h${-half}z" fill="COLOR" stroke="#9ca3af" stroke-width="0.5">`,
          )
      }
    },
  }
}

/** Returns the line of a link from a point of its lower router: straight, or in two parts if it leads around. */
function linePath(
  axis: number,
  { isUp, lower, upper }: RouterLink,
  [x, y]: readonly [number, number],
  [columns, rows]: readonly [number, number],
): string {
  const wraps = upper < lower
  if (axis === 2) {
    // Both directions are next to each other, below the router and to its right.
    const from = x + half + (isUp ? 2 : 7)
    return `M${from} ${y + half + 2}l6 8`
  }
  const long = spacing - 2 * half
  if (axis === 0) {
    const line = isUp ? y + 3 : y - 3
    const first = x - (columns - 1) * spacing - half - stub
    return wraps ? `M${x + half} ${line}h${stub}M${first} ${line}h${stub}` : `M${x + half} ${line}h${long}`
  }
  const line = isUp ? x - 3 : x + 3
  const first = y - (rows - 1) * spacing - half - stub
  return wraps ? `M${line} ${y + half}v${stub}M${line} ${first}v${stub}` : `M${line} ${y + half}v${long}`
}

function remarkOf(planes: number, left: number): string {
  const remarks = ['boxes: routers, from their node (left half) and to it; links keep to the right']
  if (planes > 1) remarks.push('below a router: to the next plane (left) and back')
  if (left > 0) remarks.push(`${left.toLocaleString('en-US')} links of other planes left out`)
  return remarks.join('; ')
}
