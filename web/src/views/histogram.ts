import type { Histogram } from '../../../src/report/histogram.js'
import { h, panel, svg, table } from '../dom.js'
import { figure, ticks } from '../format.js'

interface Series {
  readonly label: string
  readonly className: string
  readonly histogram: Histogram
}

/** Messages per rank, direct and planned. */
export function histogramPanel(
  title: string,
  what: string,
  pictures: readonly { readonly caption: string; readonly series: readonly Series[] }[],
): HTMLElement {
  return panel(
    title,
    { class: 'panel' },
    h(
      'div',
      { class: 'side-by-side' },
      ...pictures.map(({ caption, series }) => histogramFigure(caption, what, series)),
    ),
  )
}

const width = 420
const height = 190
const left = 44
const bottom = 34
const top = 22

/** Ranks by a count, in bars side by side; all series have the same bins. */
export function histogramFigure(caption: string, what: string, series: readonly Series[]): HTMLElement {
  const [{ histogram }] = series
  const bins = histogram.counts.length
  const most = Math.max(1, ...series.flatMap(({ histogram: { counts } }) => counts))
  const x = (bin: number) => left + (bin / bins) * (width - left - 8)
  const y = (count: number) => height - bottom - (count / most) * (height - bottom - top)
  const bar = (x(1) - x(0)) / series.length
  const parts: SVGElement[] = []
  for (const tick of ticks(most, 4).filter(Number.isInteger)) {
    parts.push(
      svg('line', { x1: left, x2: width - 8, y1: y(tick), y2: y(tick), class: 'grid' }),
      svg('text', { x: left - 6, y: y(tick) + 4, class: 'tick end' }, figure(tick)),
    )
  }
  for (const [
    s,
    {
      className,
      histogram: { counts },
    },
  ] of series.entries())
    for (const [bin, count] of counts.entries())
      if (count > 0)
        parts.push(
          svg('rect', {
            x: x(bin) + s * bar + bar * 0.06,
            y: y(count),
            width: bar * 0.88,
            height: y(0) - y(count),
            class: className,
          }),
        )
  const every = Math.max(1, Math.ceil(bins / 8))
  for (let bin = 0; bin < bins; bin += every)
    parts.push(
      svg(
        'text',
        { x: (x(bin) + x(bin + 1)) / 2, y: height - bottom + 15, class: 'tick middle' },
        figure(histogram.first + bin * histogram.width),
      ),
    )
  parts.push(
    svg('line', { x1: left, x2: width - 8, y1: y(0), y2: y(0), class: 'axis' }),
    svg('text', { x: (left + width) / 2, y: height - 4, class: 'tick middle' }, what),
    svg('text', { x: 2, y: 10, class: 'tick' }, 'ranks'),
  )
  const summary = series
    .map(
      ({ label, histogram: { min, mean, max } }) =>
        `${label}: ${figure(min)} to ${figure(max)}, mean ${figure(mean)}`,
    )
    .join('; ')
  return h(
    'figure',
    { class: 'chart' },
    h('figcaption', {}, caption),
    svg(
      'svg',
      { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${caption}. ${summary}` },
      ...parts,
    ),
    h(
      'p',
      { class: 'keys' },
      ...series.map(({ label, className, histogram: { min, mean, max } }) =>
        h(
          'span',
          { class: 'key' },
          h('span', { class: `swatch ${className}` }),
          `${label}: ${figure(min)}–${figure(max)}, mean ${figure(mean)}`,
        ),
      ),
    ),
    h(
      'details',
      {},
      h('summary', {}, 'As a table'),
      table(
        caption,
        [what, ...series.map(({ label }) => `${label}, ranks`)],
        histogram.counts.map((_, bin) => [
          binName(histogram, bin),
          ...series.map(({ histogram: { counts } }) => figure(counts[bin])),
        ]),
      ),
    ),
  )
}

function binName({ first, width: step }: Histogram, bin: number): string {
  const from = first + bin * step
  return step === 1 ? figure(from) : `${figure(from)}–${figure(from + step - 1)}`
}
