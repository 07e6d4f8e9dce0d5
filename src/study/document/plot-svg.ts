import { largestOf } from '../../base/extrema.js'
import { scaledAxis } from './axis.js'
import { type BarPlot, type LinePlot, marks, type Plot } from './document.js'
import { numberText } from './figure-text.js'
import { clipped, colors, fixed, marker, picture, rule, words } from './svg-parts.js'

const width = 900

/** A plot as an SVG picture, readable on light and on dark pages. Its heading says where the figures are from. */
export function plotSvg(plot: Plot): string {
  return plot.kind === 'lines' ? linesSvg(plot) : barsSvg(plot)
}

/** The origin first: a picture may be copied without the page. */
function heading({ title, origin, source }: Plot): string[] {
  return [
    words(16, 22, title, 'start', ' font-size="15" font-weight="bold"'),
    words(16, 40, `${marks[origin].toUpperCase()}: ${source}`, 'start'),
  ]
}

const described = (plot: Plot, more: string) => `${marks[plot.origin]}, ${plot.source}. ${more}`

function linesSvg(plot: LinePlot): string {
  const area = { left: 70, top: 62, right: width - 330, bottom: 400 }
  const height = Math.max(460, area.top + 30 + 18 * plot.series.length)
  const isDrawn = plot.y.scale === 'logarithmic' ? ([, y]: readonly [number, number]) => y > 0 : () => true
  const drawn = plot.series.map(({ name, points }) => ({ name, points: points.filter(isDrawn) }))
  const all = drawn.flatMap(({ points }) => points)
  const xAxis = scaledAxis(
    plot.x,
    all.map(([x]) => x),
  )
  const yAxis = scaledAxis(
    plot.y,
    all.map(([, y]) => y),
  )
  const x = (value: number) => area.left + xAxis.at(value) * (area.right - area.left)
  const y = (value: number) => area.bottom - yAxis.at(value) * (area.bottom - area.top)
  const parts = [...heading(plot)]
  for (const { value, text } of yAxis.marks) {
    parts.push(rule(area.left, y(value), area.right, y(value)))
    parts.push(words(area.left - 8, y(value) + 4, text, 'end'))
  }
  for (const { value, text } of xAxis.marks) {
    parts.push(rule(x(value), area.top, x(value), area.bottom))
    parts.push(words(x(value), area.bottom + 18, text, 'middle'))
  }
  parts.push(words((area.left + area.right) / 2, area.bottom + 40, plot.x.label, 'middle'))
  parts.push(words(area.left - 54, area.top - 6, plot.y.label, 'start'))
  for (const [i, { name, points }] of drawn.entries()) {
    const color = colors[i % colors.length]
    const dashes = i < colors.length ? '' : ' stroke-dasharray="6 4"'
    const path = points.map(([a, b], n) => `${n === 0 ? 'M' : 'L'}${fixed(x(a))} ${fixed(y(b))}`).join('')
    if (path !== '') parts.push(`<path d="${path}" fill="none" stroke="${color}" stroke-width="2"${dashes}/>`)
    for (const [a, b] of points) parts.push(marker(i, x(a), y(b), color))
    const row = area.top + 8 + 18 * i
    parts.push(`<path d="M${area.right + 14} ${row}h22" stroke="${color}" stroke-width="2"${dashes}/>`)
    parts.push(marker(i, area.right + 25, row, color))
    parts.push(words(area.right + 42, row + 4, clipped(name, 44), 'start', ' font-size="11"'))
  }
  const names = plot.series.map(({ name }) => name).join(', ')
  const description = described(
    plot,
    `${plot.y.label} by ${plot.x.label}; lines: ${names}. The table beside it has the figures.`,
  )
  return picture(plot.name, { width, height }, { title: plot.title, description }, parts)
}

function barsSvg(plot: BarPlot): string {
  const area = { left: 320, top: 86, right: width - 90 }
  const step = 22
  const height = area.top + step * plot.bars.length + 44
  const sums = plot.bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0))
  const axis = scaledAxis({ label: plot.unit, scale: 'linear' }, [0, largestOf([0, ...sums])])
  const x = (value: number) => area.left + axis.at(value) * (area.right - area.left)
  const bottom = area.top + step * plot.bars.length
  const parts = [...heading(plot)]
  for (const [i, part] of plot.parts.entries()) {
    const at = 16 + 150 * i
    parts.push(`<path fill="${colors[i % colors.length]}" d="M${at} 54h12v12h-12z"/>`)
    parts.push(words(at + 18, 64, part, 'start'))
  }
  for (const { value, text } of axis.marks) {
    parts.push(rule(x(value), area.top - 6, x(value), bottom))
    parts.push(words(x(value), bottom + 16, text, 'middle'))
  }
  parts.push(words((area.left + area.right) / 2, bottom + 36, plot.unit, 'middle'))
  for (const [row, { name, values }] of plot.bars.entries()) {
    const y = area.top + step * row
    parts.push(words(area.left - 8, y + 14, clipped(name, 50), 'end', ' font-size="11"'))
    let from = 0
    for (const [i, value] of values.entries()) {
      if (value > 0)
        parts.push(
          `<path fill="${colors[i % colors.length]}" d="M${fixed(x(from))} ${y + 3}H${fixed(x(from + value))}v${step - 6}H${fixed(x(from))}z"/>`,
        )
      from += value
    }
    parts.push(words(x(from) + 6, y + 14, numberText(from), 'start', ' font-size="11"'))
  }
  const description = described(
    plot,
    `${plot.unit}, a bar each for ${plot.bars.map(({ name }) => name).join(', ')}.`,
  )
  return picture(plot.name, { width, height }, { title: plot.title, description }, parts)
}
