import { requireKnownOptions } from '../../base/known-options.js'
import { addToList } from '../../base/maps.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { type Picture, type Shape, shape, svgText } from '../../document/picture.js'
import { wrongValue } from '../../errors.js'
import type { FriendGroups } from '../friends/friend-groups.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'

export interface PictureOptions {
  /** Friend groups of the same topology: an edge has the color of the group that serves it. */
  readonly groups?: FriendGroups | null
  /** The title above the picture. */
  readonly title?: string
  /** The most cells per side, 8 to 1024. More ranks than that share cells. Default 256. */
  readonly cells?: number
  /** The width of the matrix in pixels. Default 640. */
  readonly size?: number
}

/** The colors are distinguishable with color vision deficiency (Okabe, Ito 2008); black is left out. */
const colors = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#e69f00',
  '#56b4e9',
  '#9a8700',
  '#7a5195',
] as const
const directColor = '#5f6b76'
/** Cells are drawn in this many opacities, by the share of their pairs that have an edge. */
const strengths = 6
const margin = { left: 64, right: 32, top: 56, bottom: 44 } as const

const knownOptions: OptionTable<PictureOptions> = uncheckedOptions('groups', 'title', 'cells', 'size')

/**
 * Draws the adjacency matrix as an SVG image: row p, column q has a mark iff rank p sends to rank q. With friend
 * groups, an edge has one of 8 colors by the group that serves it, gray if none does. With more ranks than cells, a
 * cell stands for a block of ranks: gray if most of its edges are direct, else in the color of most, the more opaque
 * the more edges there are (logarithmic). The size of the text depends on the cells, not on the ranks.
 *
 * @throws ERR_ARGUMENT groups of another number of ranks, cells or size out of range
 */
export function adjacencySvg(topology: ProcessTopology, options: PictureOptions = {}): string {
  return svgText(adjacencyPicture(topology, options))
}

/** Draws what {@link adjacencySvg} writes. */
export function adjacencyPicture(topology: ProcessTopology, options: PictureOptions = {}): Picture {
  requireTopology(topology)
  requireKnownOptions('adjacencySvg', options, knownOptions)
  const { groups = null, title = 'adjacency', cells = 256, size = 640 } = options
  const { ranks, outRank } = topology
  if (!Number.isInteger(cells) || cells < 8 || cells > 1024)
    throw wrongValue('ERR_ARGUMENT', 'expected 8 to 1024 cells', cells)
  if (!(size >= 64 && size <= 8192))
    throw wrongValue('ERR_ARGUMENT', 'expected a size of 64 to 8192 pixels', size)
  if (groups !== null && groups.ranks !== ranks)
    throw wrongValue('ERR_ARGUMENT', `expected groups of ${ranks} ranks`, groups.ranks)
  const perCell = Math.ceil(ranks / cells)
  const side = Math.ceil(ranks / perCell)
  const { paths, combined } = drawCells(topology, groups, perCell, side)
  const width = margin.left + size + margin.right
  const height = margin.top + size + margin.bottom
  const about =
    `${count(ranks, 'rank')}, ${count(outRank.length, 'edge')}` +
    (perCell === 1 ? '' : `; a cell is ${perCell} x ${perCell} ranks`)
  const middle = { x: margin.left, y: margin.top, width: size, height: size }
  const matrix = {
    ...{ ...middle, viewBox: `0 0 ${side} ${side}`, preserveAspectRatio: 'none' },
    'shape-rendering': 'crispEdges',
  }
  const meaning = `Adjacency matrix: row p, column q is marked where rank p sends to rank q. ${about}.`
  return {
    ...{ width, height },
    attributes: { 'font-family': 'sans-serif', 'font-size': 12, fill: '#222' },
    shapes: [
      shape('title', {}, title),
      shape('desc', {}, meaning),
      shape('rect', { width, height, fill: '#fff' }),
      shape('text', { x: margin.left, y: 20, 'font-size': 15 }, title),
      shape('text', { x: margin.left, y: 38, fill: '#555' }, about),
      shape('svg', matrix, paths),
      shape('rect', { ...middle, fill: 'none', stroke: '#999' }),
      ...axes(ranks, perCell * side, size),
      ...legend(groups, combined, size),
    ],
  }
}

/** Draws one path for each color and opacity, made of rectangles of adjacent cells in a row. */
function drawCells(
  topology: ProcessTopology,
  groups: FriendGroups | null,
  perCell: number,
  side: number,
): { readonly paths: Shape[]; readonly combined: number } {
  const { ranks, outStart, outRank } = topology
  const kinds = colors.length + 1
  const served = groups === null ? null : new ServedEdges(groups)
  const tally = new Int32Array(side * kinds)
  const pieces = Array.from({ length: kinds * strengths }, () => [] as string[])
  let combined = 0
  for (let row = 0; row < side; row++) {
    tally.fill(0)
    const last = Math.min(ranks, (row + 1) * perCell)
    for (let p = row * perCell; p < last; p++) {
      served?.enter(p)
      for (let e = outStart[p]; e < outStart[p + 1]; e++) {
        const group = served?.groupOf(p, outRank[e]) ?? -1
        if (group >= 0) combined++
        tally[
          Math.floor(outRank[e] / perCell) * kinds + (group < 0 ? colors.length : group % colors.length)
        ]++
      }
    }
    let from = 0
    let style = -1
    for (let column = 0; column <= side; column++) {
      const next = column === side ? -1 : styleOf(tally, column * kinds, kinds, perCell * perCell)
      if (next === style) continue
      if (style >= 0) pieces[style].push(`M${from} ${row}h${column - from}v1H${from}z`)
      from = column
      style = next
    }
  }
  const paths = pieces.flatMap((squares, style) => {
    if (squares.length === 0) return []
    const color = colors[Math.floor(style / strengths)] ?? directColor
    const opacity = ((style % strengths) + 1) / strengths
    const seen = opacity === 1 ? {} : { 'fill-opacity': opacity.toFixed(2) }
    return shape('path', { fill: color, ...seen, d: squares.join('') })
  })
  return { paths, combined }
}

/**
 * Returns the style of a cell: direct or combined, whichever holds for more of its edges; of the groups' colors the
 * most frequent; and how full it is. The scale is logarithmic, so that a single edge among thousands of pairs is
 * visible. Returns -1 for an empty cell.
 */
function styleOf(tally: Int32Array, at: number, kinds: number, pairs: number): number {
  const direct = tally[at + kinds - 1]
  let combined = 0
  let kind = 0
  for (let i = 0; i < kinds - 1; i++) {
    combined += tally[at + i]
    if (tally[at + i] > tally[at + kind]) kind = i
  }
  if (direct + combined === 0) return -1
  if (direct > combined) kind = kinds - 1
  const share = Math.min(1, Math.log(1 + direct + combined) / Math.log(1 + pairs))
  return kind * strengths + Math.min(strengths - 1, Math.floor(share * strengths))
}

/** Maps the edges of a sender to the friend groups that serve them. */
class ServedEdges {
  readonly #groups: FriendGroups
  readonly #groupsOf = new Map<number, number[]>()
  readonly #namedBy: Int32Array
  readonly #group: Int32Array

  constructor(groups: FriendGroups) {
    this.#groups = groups
    this.#namedBy = new Int32Array(groups.ranks).fill(-1)
    this.#group = new Int32Array(groups.ranks)
    for (const [i, member] of groups.members.entries()) {
      const group = Math.floor(i / groups.k)
      addToList(this.#groupsOf, member, group)
    }
  }

  enter(p: number): void {
    const { commonStart, common } = this.#groups
    for (const group of this.#groupsOf.get(p) ?? [])
      for (let c = commonStart[group]; c < commonStart[group + 1]; c++) {
        this.#namedBy[common[c]] = p
        this.#group[common[c]] = group
      }
  }

  /** Returns the group that serves an edge, -1 for none. The sender must have been entered. */
  groupOf(p: number, q: number): number {
    return this.#namedBy[q] === p ? this.#group[q] : -1
  }
}

/** Draws rank labels along both sides, at five positions; `shown` ranks fill a side. */
function axes(ranks: number, shown: number, size: number): Shape[] {
  const places = [...new Set([0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * (ranks - 1))))]
  const texts = places.flatMap((rank) => {
    const at = ((rank + 0.5) / shown) * size
    const x = (margin.left + at).toFixed(1)
    const y = (margin.top + at + 4).toFixed(1)
    return [
      shape('text', { x, y: margin.top + size + 16, 'text-anchor': 'middle' }, String(rank)),
      shape('text', { x: margin.left - 6, y, 'text-anchor': 'end' }, String(rank)),
    ]
  })
  const middle = margin.top + size / 2
  const centered = { 'text-anchor': 'middle', fill: '#555' }
  return [
    ...texts,
    shape('text', { x: margin.left + size / 2, y: margin.top + size + 34, ...centered }, 'receives'),
    shape('text', { x: 14, y: middle, ...centered, transform: `rotate(-90 14 ${middle})` }, 'sends'),
  ]
}

function legend(groups: FriendGroups | null, combined: number, size: number): Shape[] {
  if (groups === null) return []
  const right = margin.left + size
  const box = (x: number, fill: string) => shape('rect', { x, y: 28, width: 10, height: 10, fill })
  const name = (x: number, text: string) =>
    shape('text', { x, y: 37, 'text-anchor': 'end', fill: '#555' }, text)
  const groupsText = `${count(groups.count, 'friend group')} of ${groups.k}, ${count(combined, 'edge')} combined`
  return [
    shape('text', { x: right, y: 20, 'text-anchor': 'end' }, groupsText),
    ...colors.map((color, i) => box(right - 8 * 11 + i * 11, color)),
    box(right - 8 * 11 - 60, directColor),
    name(right - 8 * 11 - 66, 'direct'),
    name(right - 8 * 11 - 6, 'groups'),
  ]
}

function count(value: number, what: string): string {
  return `${value.toLocaleString('en-US')} ${what}${value === 1 ? '' : 's'}`
}
