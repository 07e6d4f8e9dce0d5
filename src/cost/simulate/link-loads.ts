import { requireKnownOptions, requireOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { type Shape, shape, svgOf } from '../../document/picture.js'
import { checkMachine } from '../../machine/check-machine.js'
import { type RouterLink, torusInterior } from '../../machine/interior.js'
import type { Machine, TorusMachine } from '../../machine/machine.js'
import { interiorOf, linkName } from '../../machine/network.js'
import type { Schedule } from '../../schedule/ir.js'
import type { LoweredSchedule } from '../../schedule/lower/program.js'
import { placesOf } from './costs.js'
import { frameTable } from './frame-table.js'
import { loweredSource } from './simulate.js'

interface LoadSummary {
  readonly links: number
  /** The number of links that bytes pass. */
  readonly used: number
  /** The link that most bytes pass, the first of several; -1 if no link is used. */
  readonly mostLoaded: number
  readonly mostBytes: number
  /** The mean over used links; 0 if there are none. */
  readonly meanBytes: number
}

/** The loads of the links of a machine, numbered as its network numbers them. The summary is of all links. */
interface LinkLoads extends LoadSummary {
  /** The bytes of messages, without headers. Length: links. */
  readonly bytes: Float64Array
  /** The loads of links between nodes and network. */
  readonly ofNodes: LoadSummary
  /** The loads of links between routers or switches. */
  readonly ofInterior: LoadSummary
}

interface LinkLoadOptions {
  /** The process of every rank, process p being on core p of the machine. Default: one process per rank. */
  readonly placement?: Int32Array
}

const knownOptions: OptionTable<LinkLoadOptions> = uncheckedOptions('placement')

/**
 * Returns the bytes of a schedule that pass each link of a machine, which needs no profile. Links and messages are
 * those of the simulator: a block that several ranks of a process send those of another is counted once.
 *
 * Memory: 8 bytes per link, and the memory of `simulate` for the programs and their messages.
 *
 * @param source a schedule that verifies, or one that has been lowered, with its placement
 * @param bytes as of `simulate`
 * @throws ERR_SIMULATION, ERR_PLACEMENT, ERR_SCHEDULE as `simulate`; ERR_MACHINE for fewer cores than processes, and
 *   beyond 2^24 links
 */
export function linkLoads(
  source: Schedule | LoweredSchedule,
  machine: Machine,
  bytes: number | ArrayLike<number>,
  options: LinkLoadOptions = {},
): LinkLoads {
  requireKnownOptions('linkLoads', options, knownOptions)
  checkMachine(machine)
  const { lowered, bytesOf } = loweredSource(source, bytes, options.placement)
  const { node } = placesOf(machine, lowered.programs.length)
  const frames = frameTable(lowered, bytesOf)
  const interior = interiorOf(machine)
  const firstInterior = 2 * machine.cores.length
  const loads = new Float64Array(firstInterior + interior.links)
  const path = new Int32Array(interior.longestPath)
  for (let frame = 0; frame < frames.from.length; frame++) {
    const [from, to] = [node[frames.from[frame]], node[frames.to[frame]]]
    if (from === to) continue
    loads[2 * from] += frames.bytes[frame]
    loads[2 * to + 1] += frames.bytes[frame]
    const end = interior.path(from, to, firstInterior, path, 0)
    for (let i = 0; i < end; i++) loads[path[i]] += frames.bytes[frame]
  }
  return {
    bytes: loads,
    ...summedLoads(loads, 0, loads.length),
    ofNodes: summedLoads(loads, 0, firstInterior),
    ofInterior: summedLoads(loads, firstInterior, loads.length),
  }
}

/** Sums the loads of links `first` to `end - 1`. */
function summedLoads(bytes: Float64Array, first: number, end: number): LoadSummary {
  let [used, mostLoaded, mostBytes, sum] = [0, -1, 0, 0]
  for (let link = first; link < end; link++) {
    if (bytes[link] === 0) continue
    used++
    sum += bytes[link]
    if (bytes[link] > mostBytes) [mostLoaded, mostBytes] = [link, bytes[link]]
  }
  return { links: end - first, used, mostLoaded, mostBytes, meanBytes: used === 0 ? 0 : sum / used }
}

/** A part of a picture, from its upper left corner. */
interface PicturePart {
  readonly width: number
  readonly height: number
  /** The meaning of the colors. */
  readonly scale: string
  /** A remark below the part, such as the number of links left out; empty for none. */
  readonly remark: string
  readonly shapes: Iterable<Shape>
}

/** The distance from router to router. */
const spacing = 44
/** Half the side of a router's box. */
const half = 7
/** The length of both ends of the line of a link that leads around. */
const stub = 12
const margin = 34
const gray = '#6b7280'
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
function torusPicture(loads: LinkLoads, machine: TorusMachine, most: number): PicturePart | null {
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
  const drawnLink = (link: number, d: string, styleOf: (color: string) => Shape['attributes']): Shape => {
    const load = loads.bytes[link]
    const { mostBytes } = link < 2 * nodes ? ofNodes : ofInterior
    const color = loadColor(load === 0 ? 0 : load / mostBytes)
    const tooltip = `${linkName(machine, link)}: ${loadText(load)}`
    return { tag: 'path', attributes: { d, ...styleOf(color) }, tooltip }
  }
  const left = loads.bytes.length - drawn
  return {
    width: perRow * width,
    height: Math.ceil(shown / perRow) * height,
    scale: `0 to ${loadText(ofInterior.mostBytes)} between routers, to ${loadText(ofNodes.mostBytes)} in boxes`,
    remark: remarkOf(planes, left),
    shapes: shapes(),
  }

  function* shapes(): Generator<Shape> {
    for (let plane = 0; planes > 1 && plane < shown; plane++) {
      const [x, y] = at([0, 0, plane])
      yield shape('text', { x: x - half, y: y - margin, fill: gray }, `plane ${plane}`)
    }
    for (let link = 0; link < interior.links; link++) {
      const ends = interior.ends(link)
      const place = placeOf(ends.lower)
      if (place[2] >= shown) continue
      const line = linePath(axes.indexOf(ends.dimension), ends, at(place), [columns, rows])
      yield drawnLink(loads.bytes.length - interior.links + link, line, (stroke) => ({
        ...{ stroke, 'stroke-width': 3 },
      }))
    }
    for (let node = 0; node < nodes; node++) {
      const place = placeOf(node)
      if (place[2] >= shown) break
      const [x, y] = at(place)
      for (const side of [0, 1]) {
        const box = `M${x - half + side * half} ${y - half}h${half}v${2 * half}h${-half}z`
        yield drawnLink(2 * node + side, box, (fill) => ({ fill, stroke: '#9ca3af', 'stroke-width': 0.5 }))
      }
    }
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

interface LinksSvgOptions {
  /** The title in the picture's first line. */
  readonly title?: string
  /**
   * The number of bars, for the links that most bytes pass, 1 to 4,096. Default 40. A picture of a grid has no bars.
   */
  readonly rows?: number
}

/** The most links that a picture shows. */
const mostDrawnLinks = 4096

const left = 16
const top = 108
const width = 960
const barHeight = 16
const nameWidth = 240
const barWidth = 580
const profileHeight = 80
/** The most columns of the profile; loads of neighbors within a column cannot be distinguished. */
const mostColumns = 480

const pictureOptions: OptionTable<LinksSvgOptions> = uncheckedOptions('title', 'rows')

/**
 * Draws the loads of the links of a machine as SVG. A torus or mesh of up to three dimensions becomes grids of routers,
 * one for each plane, every link in the color of its load. The picture of another machine, or of planes with more than
 * 4,096 links, has the loads of all used links in descending order. A bar stands for each link that most bytes pass. At
 * most 4,096 links are drawn, and the picture says how many are left out. Characters: at most 200 for each.
 *
 * @param loads of this machine, by `linkLoads`
 */
export function* linksSvg(
  loads: LinkLoads,
  machine: Machine,
  options: LinksSvgOptions = {},
): Generator<string> {
  requireOptions('linksSvg', loads)
  requireKnownOptions('linksSvg', options, pictureOptions)
  const rows = Math.min(mostDrawnLinks, Math.max(1, Math.floor(options.rows ?? 40)))
  const part =
    (machine.kind === 'torus' ? torusPicture(loads, machine, mostDrawnLinks) : null) ??
    barPicture(loads, machine, rows)
  const size = { width: 2 * left + Math.max(width, part.width), height: top + part.height + left }
  const subject = options.title ?? 'bytes of each link'
  const { ofNodes, ofInterior } = loads
  const interior = `links between ${machine.kind === 'torus' ? 'routers' : 'switches'}`
  yield* svgOf({
    ...{ ...size, isFluid: true, attributes: { 'font-family': 'sans-serif', 'font-size': 12 } },
    shapes: [
      shape('title', {}, subject),
      shape('rect', { width: '100%', height: '100%', fill: 'white' }),
      shape('text', { x: left, y: 18, 'font-size': 13 }, subject),
      shape('text', { x: left, y: 36 }, `links of nodes: ${loadsText(ofNodes, machine)}`),
      ...(ofInterior.links === 0
        ? []
        : [shape('text', { x: left, y: 54 }, `${interior}: ${loadsText(ofInterior, machine)}`)]),
      ...legend(part),
      shape('g', { transform: `translate(${left} ${top})` }, part.shapes),
    ],
  })
}

/** Returns the part of a simulation's JSON object about links; `mostLoaded` is null if no link is used. */
export function linksObject({ ofNodes, ofInterior }: LinkLoads, machine: Machine) {
  const of = ({ mostLoaded, ...summary }: LoadSummary) => ({
    ...summary,
    mostLoaded: mostLoaded === -1 ? null : { link: mostLoaded, name: linkName(machine, mostLoaded) },
  })
  return { nodes: of(ofNodes), interior: of(ofInterior) }
}

/** Returns the most loaded of some links, and their mean, in words. */
export function loadsText(
  { links, meanBytes, mostBytes, mostLoaded, used }: LoadSummary,
  machine: Machine,
): string {
  if (mostLoaded === -1) return `no bytes on ${counted(links)}`
  const most = `at most ${loadText(mostBytes)}, ${linkName(machine, mostLoaded)}`
  return `${most}; mean ${loadText(meanBytes)} of ${counted(used)} in use, of ${links.toLocaleString('en-US')}`
}

function legend({ scale, remark }: PicturePart): Shape[] {
  const step = 30
  const end = left + loadColors.length * step + 6
  return [
    ...loadColors.map((fill, i) =>
      shape('rect', { x: left + i * step, y: 64, width: step, height: 11, fill }),
    ),
    shape('text', { x: end, y: 74, fill: gray }, scale),
    shape('text', { x: left, y: 92, fill: gray }, remark),
  ]
}

function barPicture(loads: LinkLoads, machine: Machine, rows: number): PicturePart {
  const { bytes, mostBytes, used } = loads
  const ascending = bytes.filter((load) => load > 0).sort()
  const shown = mostLoadedLinks(bytes, ascending, rows)
  const firstBar = profileHeight + 34
  return {
    width,
    height: firstBar + shown.length * barHeight,
    scale: `0 to ${loadText(mostBytes)}`,
    remark:
      shown.length < used ? `bars of ${shown.length} links, ${counted(used - shown.length)} left out` : '',
    shapes: [
      ...profile(ascending, mostBytes),
      ...shown.flatMap((link, row) => {
        const y = firstBar + row * barHeight
        const long = ((barWidth * bytes[link]) / mostBytes).toFixed(1)
        const fill = loadColor(bytes[link] / mostBytes)
        const name = { x: nameWidth - 6, y: y + 11, 'text-anchor': 'end', 'font-size': 11 }
        const load = { x: nameWidth + Number(long) + 5, y: y + 11, 'font-size': 11 }
        return [
          shape('text', name, linkName(machine, link)),
          shape('rect', { x: nameWidth, y: y + 2, width: long, height: barHeight - 4, fill }),
          shape('text', load, loadText(bytes[link])),
        ]
      }),
    ],
  }
}

/** Draws the loads of all used links, highest first, as an area. */
function profile(ascending: Float64Array, mostBytes: number): Shape[] {
  const links = ascending.length
  const columns = Math.min(mostColumns, links)
  let path = `M0 ${profileHeight}`
  for (let column = 0; column < columns; column++) {
    const load = ascending[links - 1 - Math.floor((column * links) / columns)]
    const y = (profileHeight * (1 - load / mostBytes)).toFixed(1)
    path += `V${y}H${(((column + 1) * width) / columns).toFixed(1)}`
  }
  const text = `${counted(links)} in use by load, most loaded first`
  return [
    shape('path', { d: `${path}V${profileHeight}z`, fill: '#93c5fd' }),
    shape('text', { x: 0, y: profileHeight + 16, fill: gray }, text),
  ]
}

/** Returns the most loaded of all links, highest load first, then by number. */
function mostLoadedLinks(bytes: Float64Array, ascending: Float64Array, most: number): number[] {
  const links = ascending.length
  if (links === 0) return []
  const least = ascending[Math.max(0, links - most)]
  const above: number[] = []
  const equal: number[] = []
  for (let link = 0; link < bytes.length; link++) {
    if (bytes[link] > least) above.push(link)
    else if (bytes[link] === least && equal.length < most) equal.push(link)
  }
  above.sort((a, b) => bytes[b] - bytes[a] || a - b)
  return [...above, ...equal].slice(0, most)
}

function counted(links: number): string {
  return `${links.toLocaleString('en-US')} ${links === 1 ? 'link' : 'links'}`
}

/** The color of links without bytes, then those of loads up to a fifth of the highest, two fifths and so on. */
const loadColors = ['#e5e7eb', '#fde68a', '#fbbf24', '#f97316', '#dc2626', '#7f1d1d'] as const

/** Returns the color of a load. @param share of the highest load, 0 to 1 */
function loadColor(share: number): string {
  return loadColors[share > 0 ? Math.min(5, Math.max(1, Math.ceil(share * 5 - 1e-9))) : 0]
}

function loadText(bytes: number): string {
  const whole = Math.round(bytes)
  return `${whole.toLocaleString('en-US')} ${whole === 1 ? 'byte' : 'bytes'}`
}
