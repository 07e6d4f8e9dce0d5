import type { Figure } from './bench.js'

interface Series {
  readonly name: string
  readonly color: string
  readonly points: readonly { readonly sizeBytes: number; readonly value: number }[]
}

/** One line of the plot: its figures, and whether ours or the baseline's. */
export interface Line {
  readonly name: string
  readonly color: string
  /** Details of the figures on this line. */
  readonly of: Readonly<Record<string, string>>
  readonly side: 'ours' | 'peer'
}

const panel = { width: 560, height: 380, left: 70, right: 16, top: 44, bottom: 56 }

/** Latency and bandwidth by message size, both axes logarithmic, as an SVG image. */
export function plotSizes(figures: readonly Figure[], lines: readonly Line[]): string {
  const panels = [
    { kind: 'latency', title: 'Ping-pong, half round trip', unit: 'us' },
    { kind: 'bandwidth', title: 'Bandwidth, one way', unit: 'GB/s' },
  ].map(({ kind, title, unit }, i) => {
    const shown = figures.filter(({ plot }) => plot === kind)
    const drawn = drawPanel(
      title,
      unit,
      lines.map((line) => seriesOf(shown, line)).filter(({ points }) => points.length > 0),
    )
    return `<g transform="translate(${i * panel.width} 0)">${drawn}</g>`
  })
  const size = `width="${panels.length * panel.width}" height="${panel.height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="12">
<title>Latency and bandwidth by message size</title>
<rect width="100%" height="100%" fill="white"/>
${panels.join('\n')}
</svg>
`
}

function seriesOf(figures: readonly Figure[], { name, color, of, side }: Line): Series {
  const points = figures.flatMap((figure) => {
    const value = figure[side]
    if (value === null || Object.entries(of).some(([detail, word]) => figure[detail] !== word)) return []
    return [{ sizeBytes: Number(figure['sizeBytes']), value }]
  })
  return { name, color, points }
}

function drawPanel(title: string, unit: string, series: readonly Series[]): string {
  const heading = text(panel.width / 2, 22, `${title} (${unit})`, 'middle', 'font-size="15"')
  const points = series.flatMap((one) => one.points)
  if (points.length === 0) return `${heading}${text(panel.width / 2, 180, 'not measured', 'middle')}`
  const sizes = points.map(({ sizeBytes }) => Math.log2(sizeBytes))
  const values = points.map(({ value }) => Math.log10(value))
  const decades = { from: Math.floor(Math.min(...values)), to: Math.ceil(Math.max(...values)) }
  const x = scale(Math.min(...sizes), Math.max(...sizes), panel.left, panel.width - panel.right)
  const y = scale(
    decades.from,
    Math.max(decades.to, decades.from + 1),
    panel.height - panel.bottom,
    panel.top,
  )
  const parts = [heading]
  for (let power = decades.from; power <= decades.to; power++) {
    parts.push(line(panel.left, y(power), panel.width - panel.right, y(power)))
    parts.push(text(panel.left - 6, y(power) + 4, String(Number((10 ** power).toPrecision(1))), 'end'))
  }
  for (let power = Math.min(...sizes); power <= Math.max(...sizes); power += 3) {
    parts.push(line(x(power), panel.top, x(power), panel.height - panel.bottom))
    parts.push(text(x(power), panel.height - panel.bottom + 18, sizeText(2 ** power), 'middle'))
  }
  parts.push(text(panel.width / 2, panel.height - 12, 'message size', 'middle'))
  for (const [i, { name, color, points: own }] of series.entries()) {
    const path = own.map(
      ({ sizeBytes, value }) => `${round(x(Math.log2(sizeBytes)))},${round(y(Math.log10(value)))}`,
    )
    parts.push(`<polyline points="${path.join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`)
    for (const point of path) {
      const [cx, cy] = point.split(',')
      parts.push(`<circle cx="${cx}" cy="${cy}" r="3" fill="${color}"/>`)
    }
    parts.push(text(panel.left + 10, panel.top + 16 + i * 16, name, 'start', `fill="${color}"`))
  }
  return parts.join('\n')
}

function scale(from: number, to: number, start: number, end: number): (value: number) => number {
  const span = to === from ? 1 : to - from
  return (value) => start + ((value - from) / span) * (end - start)
}

const round = (value: number) => Math.round(value * 10) / 10
const line = (x1: number, y1: number, x2: number, y2: number) =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="#e5e7eb"/>`
const text = (x: number, y: number, words: string, anchor: string, more = '') =>
  `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" ${more}>${words}</text>`

function sizeText(bytes: number): string {
  if (bytes >= 2 ** 20) return `${bytes / 2 ** 20}M`
  return bytes >= 1024 ? `${bytes / 1024}K` : String(bytes)
}
