import { requireKnownOptions, requireOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import type { Machine } from '../../machine/machine.js'
import { linkName } from '../../machine/network.js'
import { escapeXml } from '../../text/printable.js'
import type { LinkLoads, LoadSummary } from './link-loads.js'
import { loadColor, loadColors, loadText } from './load-colors.js'
import { type PicturePart, torusPicture } from './torus-picture.js'

export interface LinksSvgOptions {
  /** The title in the picture's first line. */
  readonly title?: string
  /**
   * The number of bars, for the links that most bytes pass, 1 to 4,096. Default 40. A picture of a grid has no bars.
   */
  readonly rows?: number
}

/** The most links that a picture shows. */
export const mostDrawnLinks = 4096

const left = 16
const top = 108
const width = 960
const barHeight = 16
const nameWidth = 240
const barWidth = 580
const profileHeight = 80
/** The most columns of the profile; loads of neighbors within a column cannot be distinguished. */
const mostColumns = 480

const knownOptions: OptionTable<LinksSvgOptions> = uncheckedOptions('title', 'rows')

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
  requireKnownOptions('linksSvg', options, knownOptions)
  const rows = Math.min(mostDrawnLinks, Math.max(1, Math.floor(options.rows ?? 40)))
  const part =
    (machine.kind === 'torus' ? torusPicture(loads, machine, mostDrawnLinks) : null) ??
    barPicture(loads, machine, rows)
  const size = { width: 2 * left + Math.max(width, part.width), height: top + part.height + left }
  const subject = options.title ?? 'bytes of each link'
  yield `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="sans-serif" font-size="12">\n`
  yield `<title>${escapeXml(subject)}</title>\n<rect width="100%" height="100%" fill="white"/>\n`
  yield `<text x="${left}" y="18" font-size="13">${escapeXml(subject)}</text>\n`
  const { ofNodes, ofInterior } = loads
  yield `<text x="${left}" y="36">${escapeXml(`links of nodes: ${loadsText(ofNodes, machine)}`)}</text>\n`
  if (ofInterior.links > 0)
    yield `<text x="${left}" y="54">${escapeXml(`links between ${machine.kind === 'torus' ? 'routers' : 'switches'}: ${loadsText(ofInterior, machine)}`)}</text>\n`
  yield legend(part)
  yield `<g transform="translate(${left} ${top})">\n`
  yield* part.pieces()
  yield '</g>\n</svg>\n'
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

function legend({ scale, remark }: PicturePart): string {
  const step = 30
  const boxes = loadColors.map(
    (color, i) => `<rect x="${left + i * step}" y="64" width="${step}" height="11" fill="${color}"/>`,
  )
  const end = left + loadColors.length * step + 6
  const text = (x: number, y: number, content: string) =>
    `<text x="${x}" y="${y}" fill="#6b7280">${escapeXml(content)}</text>`
  return `${boxes.join('')}${text(end, 74, scale)}${text(left, 92, remark)}\n`
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
    *pieces() {
      yield profile(ascending, mostBytes)
      for (const [row, link] of shown.entries()) {
        const y = firstBar + row * barHeight
        const long = ((barWidth * bytes[link]) / mostBytes).toFixed(1)
        const name = escapeXml(linkName(machine, link))
        yield `<text x="${nameWidth - 6}" y="${y + 11}" text-anchor="end" font-size="11">${name}</text>`
        yield `<rect x="${nameWidth}" y="${y + 2}" width="${long}" height="${barHeight - 4}" fill="${loadColor(bytes[link] / mostBytes)}"/>`
        yield `<text x="${nameWidth + Number(long) + 5}" y="${y + 11}" font-size="11">${escapeXml(loadText(bytes[link]))}</text>\n`
      }
    },
  }
}

/** Draws the loads of all used links, highest first, as an area. */
function profile(ascending: Float64Array, mostBytes: number): string {
  const links = ascending.length
  const columns = Math.min(mostColumns, links)
  let path = `M0 ${profileHeight}`
  for (let column = 0; column < columns; column++) {
    const load = ascending[links - 1 - Math.floor((column * links) / columns)]
    const y = (profileHeight * (1 - load / mostBytes)).toFixed(1)
    path += `V${y}H${(((column + 1) * width) / columns).toFixed(1)}`
  }
  const text = `<text x="0" y="${profileHeight + 16}" fill="#6b7280">${escapeXml(`${counted(links)} in use by load, most loaded first`)}</text>`
  return `<path d="${path}V${profileHeight}z" fill="#93c5fd"/>${text}\n`
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
