import type { PlanView } from '../../../src/report/plan-view.js'
import type { SizeView } from '../../../src/report/simulation-view.js'
import { h, panel, svg, table } from '../dom.js'
import { bytes, figure, time } from '../format.js'

const width = 420
const height = 190
const left = 44
const bottom = 34
const top = 10

/** Speedup and break-even by the length of a block. */
export function sizesPanel({ sizes, planMs }: PlanView): HTMLElement | null {
  if (sizes.length === 0) return null
  const shown = sizes.filter((size) => size.bytes > 0)
  const [low, high] = [Math.log2(shown[0].bytes), Math.log2(shown[shown.length - 1].bytes)]
  const most = Math.max(1.2, ...shown.map(({ speedup }) => speedup)) * 1.08
  const x = (length: number) =>
    left + 16 + (high === low ? 0.5 : (Math.log2(length) - low) / (high - low)) * (width - left - 48)
  const y = (value: number) => height - bottom - (value / most) * (height - bottom - top)
  const step = most > 12 ? 4 : most > 6 ? 2 : most > 3 ? 1 : 0.5
  const parts: SVGElement[] = []
  for (let value = 0; value <= most; value += step)
    parts.push(
      svg('line', { x1: left, x2: width - 8, y1: y(value), y2: y(value), class: 'grid' }),
      svg('text', { x: left - 6, y: y(value) + 4, class: 'tick end' }, `${value}×`),
    )
  parts.push(
    svg('line', { x1: left, x2: width - 8, y1: y(1), y2: y(1), class: 'reference' }),
    svg('polyline', {
      points: shown.map((s) => `${x(s.bytes)},${y(s.speedup)}`).join(' '),
      class: 'line planned',
    }),
    ...shown.map((s) => svg('circle', { cx: x(s.bytes), cy: y(s.speedup), r: 3.5, class: 'planned' })),
    ...labelled(shown, x).flatMap((s) => [
      svg(
        'text',
        { x: x(s.bytes), y: y(s.speedup) - 8, class: 'tick middle strong' },
        `${figure(s.speedup)}×`,
      ),
      svg('text', { x: x(s.bytes), y: height - bottom + 15, class: 'tick middle' }, bytes(s.bytes)),
    ]),
    svg(
      'text',
      { x: (left + width) / 2, y: height - 4, class: 'tick middle' },
      'bytes per block, logarithmic',
    ),
  )
  const rows = sizes.map((s) => [
    bytes(s.bytes),
    time(s.directUs),
    time(s.plannedUs),
    `${figure(s.speedup)}×`,
    s.breakEvenStarts === null ? (planMs === null ? '–' : 'never') : `${figure(s.breakEvenStarts)}`,
  ])
  return panel(
    'Speedup, and calls to break even',
    { class: 'panel' },
    h(
      'div',
      { class: 'tables' },
      h(
        'figure',
        { class: 'chart' },
        h('figcaption', {}, 'Simulated time of direct sends / of the plan; dashed: equal'),
        svg(
          'svg',
          {
            viewBox: `0 0 ${width} ${height}`,
            role: 'img',
            'aria-label': 'Speedup by the length of a block; the table has the figures.',
          },
          ...parts,
        ),
      ),
      table(
        'Times are simulated; choosing and planning are measured. Calls to break even: until both have paid.',
        ['bytes per block', 'direct', 'planned', 'speedup', 'calls to break even'],
        rows,
      ),
    ),
  )
}

/** Returns the sizes whose labels do not overlap; the table has all. */
function labelled(sizes: readonly SizeView[], x: (length: number) => number): readonly SizeView[] {
  let last = Number.NEGATIVE_INFINITY
  return sizes.filter((size) => {
    if (x(size.bytes) - last < 44) return false
    last = x(size.bytes)
    return true
  })
}
