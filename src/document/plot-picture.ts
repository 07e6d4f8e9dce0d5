import { largestOf, smallestOf } from '../base/search.js'
import {
  type Axis,
  type BarPlot,
  bytesText,
  type CellPlot,
  type LinePlot,
  marks,
  numberText,
  type Plot,
} from './document.js'
import { type Attributes, type Picture, type Shape, shape } from './picture.js'

const width = 900

/** Draws a plot, readable on light and on dark pages. Its heading names the source of the figures. */
export function plotPicture(plot: Plot): Picture {
  switch (plot.kind) {
    case 'lines':
      return linesPicture(plot)
    case 'bars':
      return barsPicture(plot)
    case 'cells':
      return cellsPicture(plot)
  }
}

/** Draws the heading, with the origin first: a picture may be copied without the page. */
function heading({ title, origin, source }: Plot): Shape[] {
  return [
    words(16, 22, title, 'start', { 'font-size': 15, 'font-weight': 'bold' }),
    words(16, 41, clipped(`${marks[origin].toUpperCase()}: ${source}`, mostCharacters), 'start'),
  ]
}

/** The number of characters that fit in the width of the picture. */
const mostCharacters = 124
/** The font size of the names of lines and bars. */
const nameSize = 11

/** The largest and the smallest height of a row of cells. */
const [mostCellHeight, leastCellHeight] = [26, 4]
const gridHeight = 420

function cellsPicture(plot: CellPlot): Picture {
  const { bytes, rows, classes, cells, yLabel } = plot
  const names = classes.map(({ name }) => nameLines(name, 40))
  const legend = 60 + largestOf([0, ...names.flat().map((line) => widthOf(line, nameSize))])
  const rowNames = 34 + largestOf([0, ...rows.map((row) => widthOf(row, nameSize))])
  const height = Math.max(leastCellHeight, Math.min(mostCellHeight, gridHeight / rows.length))
  const area = { left: Math.round(rowNames), top: 62, right: Math.round(width - legend) }
  const bottom = area.top + height * rows.length
  const edges = cellEdges(bytes)
  const [from, to] = [edges[0], edges[bytes.length]]
  const x = (octave: number) => area.left + ((octave - from) / (to - from)) * (area.right - area.left)
  const parts = heading(plot)
  classes.forEach(({ color }, index) => {
    let path = ''
    for (let row = 0; row < rows.length; row++) {
      for (let column = 0; column < bytes.length; ) {
        let end = column
        while (end < bytes.length && cells[row * bytes.length + end] === index) end++
        if (end > column)
          path += `M${fixed(x(edges[column]))} ${fixed(bottom - height * row)}H${fixed(x(edges[end]))}v${fixed(-height)}H${fixed(x(edges[column]))}z`
        column = end + 1
      }
    }
    if (path !== '') parts.push(shape('path', { fill: color, d: path }))
  })
  if (height >= nameSize + 2) {
    for (let cell = 0; cell < cells.length; cell++) {
      if (cells[cell] < 0) continue
      const [row, column] = [Math.floor(cell / bytes.length), cell % bytes.length]
      const { mark, color } = classes[cells[cell]]
      const [left, right] = [x(edges[column]), x(edges[column + 1])]
      if (right - left < widthOf(mark, nameSize)) continue
      const place = { x: fixed((left + right) / 2), y: fixed(bottom - height * (row + 0.5) + 4) }
      parts.push(markOn(color, mark, { ...place, 'font-size': nameSize }))
    }
  }
  const everyRow = Math.ceil((nameSize + 2) / height)
  rows.forEach((name, row) => {
    if (row % everyRow === 0)
      parts.push(
        words(area.left - 6, bottom - height * (row + 0.5) + 4, name, 'end', { 'font-size': nameSize }),
      )
  })
  let free = area.left - 40
  bytes.forEach((value, column) => {
    const [text, at] = [bytesText(value), (x(edges[column]) + x(edges[column + 1])) / 2]
    if (at - widthOf(text, nameSize) / 2 < free) return
    free = at + widthOf(text, nameSize) / 2 + 6
    parts.push(words(at, bottom + 16, text, 'middle', { 'font-size': nameSize }))
  })
  parts.push(words((area.left + area.right) / 2, bottom + 38, 'bytes', 'middle'))
  const middle = (area.top + bottom) / 2
  parts.push(words(14, middle, yLabel, 'middle', { transform: `rotate(-90 14 ${fixed(middle)})` }))
  let at = area.top + 8
  classes.forEach(({ color, mark }, i) => {
    parts.push(shape('path', { fill: color, d: `M${area.right + 14} ${at - 7}h22v14h-22z` }))
    parts.push(markOn(color, mark, { x: area.right + 25, y: at + 4, 'font-size': 10 }))
    for (const [n, line] of names[i].entries())
      parts.push(words(area.right + 42, at + 4 + 14 * n, line, 'start', { 'font-size': nameSize }))
    at += 4 + 14 * names[i].length
  })
  const description = described(
    plot,
    `A cell for each of ${rows.length} rows (${yLabel}) and ${bytes.length} lengths; classes: ${classes.map(({ name, mark }) => `${mark} ${name}`).join(', ')}.`,
  )
  const size = { width, height: Math.round(Math.max(bottom + 56, at + 20)) }
  return picture(plot.name, size, { title: plot.title, description }, parts)
}

/** Returns the edges of cells in octaves, halfway between their values. */
function cellEdges(bytes: readonly number[]): readonly number[] {
  const octaves = bytes.map((value) => Math.log2(Math.max(value, 0.5)))
  const middles = octaves.slice(1).map((octave, i) => (octave + octaves[i]) / 2)
  const [first = octaves[0] + 0.5, last = octaves[0] - 0.5] = [middles[0], middles.at(-1)]
  return [2 * octaves[0] - first, ...middles, 2 * octaves.at(-1)! - last]
}

/** Returns whether black is easier to read on a color than white. */
function isLight(color: string): boolean {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140
}

const described = (plot: Plot, more: string) => `${marks[plot.origin]}, ${plot.source}. ${more}`

function linesPicture(plot: LinePlot): Picture {
  const names = plot.series.map(({ name }) => nameLines(name, 46))
  const legend = 70 + largestOf([0, ...names.flat().map((line) => widthOf(line, nameSize))])
  const area = { left: 84, top: 62, right: Math.round(width - legend), bottom: 400 }
  const isDrawn = plot.y.scale === 'logarithmic' ? ([, y]: readonly [number, number]) => y > 0 : () => true
  const drawn = plot.series.map(({ points }) => points.filter(isDrawn))
  const all = drawn.flat()
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
  const middle = (area.top + area.bottom) / 2
  parts.push(words((area.left + area.right) / 2, area.bottom + 40, plot.x.label, 'middle'))
  parts.push(words(22, middle, plot.y.label, 'middle', { transform: `rotate(-90 22 ${fixed(middle)})` }))
  let row = area.top + 8
  for (const [i, points] of drawn.entries()) {
    const color = colors[i % colors.length]
    const form = i + Math.floor(i / colors.length)
    const line = {
      stroke: color,
      'stroke-width': 2,
      'stroke-dasharray': i < colors.length ? undefined : '6 4',
    }
    const path = points.map(([a, b], n) => `${n === 0 ? 'M' : 'L'}${fixed(x(a))} ${fixed(y(b))}`).join('')
    if (path !== '') parts.push(shape('path', { d: path, fill: 'none', ...line }))
    for (const [a, b] of points) parts.push(marker(form, x(a), y(b), color))
    parts.push(shape('path', { d: `M${area.right + 14} ${row}h22`, ...line }))
    parts.push(marker(form, area.right + 25, row, color))
    for (const [n, line] of names[i].entries())
      parts.push(words(area.right + 42, row + 4 + 14 * n, line, 'start', { 'font-size': nameSize }))
    row += 4 + 14 * names[i].length
  }
  const description = described(
    plot,
    `${plot.y.label} by ${plot.x.label}; lines: ${plot.series.map(({ name }) => name).join(', ')}. The table beside it has the figures.`,
  )
  const height = Math.max(460, row + 20)
  return picture(plot.name, { width, height }, { title: plot.title, description }, parts)
}

function barsPicture(plot: BarPlot): Picture {
  const names = plot.bars.map(({ name }) => nameLines(name, 46))
  const left = 24 + largestOf([0, ...names.flat().map((line) => widthOf(line, nameSize))])
  const area = { left: Math.round(left), top: 86, right: width - 90 }
  const heights = names.map((lines) => 10 + 12 * lines.length)
  const bottom = heights.reduce((sum, height) => sum + height, area.top)
  const sums = plot.bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0))
  const axis = scaledAxis({ label: plot.unit, scale: 'linear' }, [0, largestOf([0, ...sums])])
  const x = (value: number) => area.left + axis.at(value) * (area.right - area.left)
  const parts = [...heading(plot)]
  for (const [i, part] of plot.parts.entries()) {
    const at = 16 + 150 * i
    parts.push(shape('path', { fill: colors[i % colors.length], d: `M${at} 54h12v12h-12z` }))
    parts.push(words(at + 18, 64, part, 'start'))
  }
  for (const { value, text } of axis.marks) {
    parts.push(rule(x(value), area.top - 6, x(value), bottom))
    parts.push(words(x(value), bottom + 16, text, 'middle'))
  }
  parts.push(words((area.left + area.right) / 2, bottom + 36, plot.unit, 'middle'))
  let top = area.top
  for (const [row, { values }] of plot.bars.entries()) {
    const middle = top + heights[row] / 2
    const firstLine = middle + 4 - 6 * (names[row].length - 1)
    for (const [n, line] of names[row].entries())
      parts.push(words(area.left - 8, firstLine + 12 * n, line, 'end', { 'font-size': nameSize }))
    let from = 0
    for (const [i, value] of values.entries()) {
      if (value > 0)
        parts.push(
          shape('path', {
            fill: colors[i % colors.length],
            d: `M${fixed(x(from))} ${fixed(middle - 8)}H${fixed(x(from + value))}v16H${fixed(x(from))}z`,
          }),
        )
      from += value
    }
    parts.push(words(x(from) + 6, middle + 4, numberText(from), 'start', { 'font-size': nameSize }))
    top += heights[row]
  }
  const description = described(
    plot,
    `${plot.unit}, a bar each for ${plot.bars.map(({ name }) => name).join(', ')}.`,
  )
  return picture(plot.name, { width, height: bottom + 44 }, { title: plot.title, description }, parts)
}

interface ScaledAxis {
  /** Returns the position of a value: 0 at the beginning, 1 at the end. */
  at(value: number): number
  readonly marks: readonly { readonly value: number; readonly text: string }[]
}

const mostMarks = 9

/** Returns an axis that holds all values; a logarithmic one takes only values above 0. */
function scaledAxis({ scale }: Axis, values: readonly number[]): ScaledAxis {
  const [low, high] = values.length === 0 ? [1, 2] : [smallestOf(values), largestOf(values)]
  switch (scale) {
    case 'bytes':
      return octaves(Math.log2(Math.max(1, low)), Math.log2(Math.max(1, high)))
    case 'logarithmic':
      return decades(low, high)
    case 'linear':
      return linear(Math.min(0, low), high)
  }
}

/** Returns an axis for lengths of blocks, with marks at powers of two. */
function octaves(from: number, to: number): ScaledAxis {
  const end = to > from ? to : from + 1
  const step = Math.max(1, Math.ceil((end - from) / mostMarks))
  const marks: { value: number; text: string }[] = []
  for (let e = Math.ceil(from); e <= end; e += step) marks.push({ value: 2 ** e, text: bytesText(2 ** e) })
  return { at: (value) => (Math.log2(Math.max(value, 2 ** from)) - from) / (end - from), marks }
}

const digits = [1, 2, 5]

/**
 * Returns an axis from and to a 1, 2 or 5 times a power of ten. It has marks at all of these, or at powers of ten if
 * they are too many.
 */
function decades(low: number, high: number): ScaledAxis {
  const steps: number[] = []
  for (let e = Math.floor(Math.log10(low)) - 1; e <= Math.ceil(Math.log10(high)) + 1; e++)
    for (const digit of digits) steps.push(Number((digit * 10 ** e).toPrecision(1)))
  const first = steps.findLastIndex((step) => step <= low)
  const last = Math.max(
    first + 1,
    steps.findIndex((step) => step >= high),
  )
  const [from, to] = [Math.log10(steps[first]), Math.log10(steps[last])]
  const all = steps.slice(first, last + 1)
  const tens = all.filter((step) => Math.abs(Math.log10(step) - Math.round(Math.log10(step))) < 1e-9)
  const every = Math.ceil(tens.length / mostMarks)
  const values = all.length <= mostMarks ? all : tens.filter((_, i) => i % every === 0)
  return {
    at: (value) => (Math.log10(value) - from) / (to - from),
    marks: values.map((value) => ({ value, text: numberText(value) })),
  }
}

function linear(low: number, high: number): ScaledAxis {
  const span = high > low ? high - low : 1
  const power = 10 ** Math.floor(Math.log10(span / 5))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= span / 6) ?? 10)
  const first = Math.floor(low / step)
  const last = Math.ceil((low + span) / step)
  const marks = Array.from({ length: last - first + 1 }, (_, i) => {
    const value = Number(((first + i) * step).toPrecision(12))
    return { value, text: numberText(value) }
  })
  return { at: (value) => (value / step - first) / (last - first), marks }
}

/** Middle tones that are legible on white and on black; lines differ by marker and dashes too. */
const colors = [
  ...['#3b82f6', '#e8590c', '#2f9e44', '#c2255c', '#9c6ade', '#0c9aaa', '#b58900', '#868e96'],
] as const

/** Text and rules take the color of the page or, in a separate picture, that of the reader's scheme. */
const style =
  '.ink{fill:#1f2933}.rule{stroke:#9aa5b1;stroke-opacity:.45}' +
  '@media (prefers-color-scheme:dark){.ink{fill:#e4e7eb}}'

/** Returns a picture with a title and a description for readers who do not see it. */
function picture(
  name: string,
  size: { readonly width: number; readonly height: number },
  { title, description }: { readonly title: string; readonly description: string },
  parts: readonly Shape[],
): Picture {
  return {
    ...size,
    isFluid: true,
    attributes: {
      role: 'img',
      'aria-labelledby': `${name}-title ${name}-desc`,
      'font-family': 'sans-serif',
      'font-size': 12,
    },
    shapes: [
      shape('title', { id: `${name}-title` }, title),
      shape('desc', { id: `${name}-desc` }, description),
      shape('style', {}, style),
      ...parts,
    ],
  }
}

type Anchor = 'start' | 'middle' | 'end'

function words(x: number, y: number, content: string, anchor: Anchor, more: Attributes = {}): Shape {
  return shape('text', { class: 'ink', x: fixed(x), y: fixed(y), 'text-anchor': anchor, ...more }, content)
}

/** Returns the mark of a class, centered, in the ink that is easier to read on its color. */
function markOn(color: string, mark: string, { x, y, ...more }: Attributes): Shape {
  const fill = isLight(color) ? '#000000' : '#ffffff'
  return shape('text', { x, y, 'text-anchor': 'middle', ...more, fill }, mark)
}

function rule(x1: number, y1: number, x2: number, y2: number): Shape {
  return shape('path', { class: 'rule', d: `M${fixed(x1)} ${fixed(y1)}L${fixed(x2)} ${fixed(y2)}` })
}

/** Returns the marker of a line: circle, square, triangle, diamond, in turn. */
function marker(which: number, x: number, y: number, color: string): Shape {
  const shapes = [
    'm-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z',
    'm-3 -3h6v6h-6z',
    'm0 -4l3.8 6.6h-7.6z',
    'm0 -4.2l4.2 4.2l-4.2 4.2l-4.2 -4.2z',
  ]
  return shape('path', { fill: color, d: `M${fixed(x)} ${fixed(y)}${shapes[which % shapes.length]}` })
}

function fixed(value: number): string {
  return String(Math.round(value * 10) / 10)
}

/** Returns the beginning of a text that would not fit. */
function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

/** Returns a name in one or two lines of at most so many characters, cut at a comma if there is one in reach. */
function nameLines(name: string, most: number): string[] {
  if (name.length <= most) return [name]
  const comma = name.lastIndexOf(',', most - 1) + 1
  const end = comma > 0 ? comma : most
  return [name.slice(0, end), clipped(name.slice(end), most)]
}

/** Returns an upper estimate of the width of text of a size in a usual sans-serif font. */
function widthOf(text: string, size: number): number {
  return 0.62 * size * text.length
}
