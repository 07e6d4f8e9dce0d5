import type { CellBounds, CellTraffic, PlanView, TrafficView } from '../../../src/report/plan-view.js'
import { heat, isDarkScheme, onScheme } from '../colors.js'
import { announce, choice, h, panel, table } from '../dom.js'
import { change, figure } from '../format.js'

type Metric = 'messages' | 'blocks'
type By = 'ranks' | 'nodes'

/** Shows who sends how much to whom, for direct sends and for the plan, in the same colors. */
export function trafficPanel(plan: PlanView, closed: AbortSignal): HTMLElement {
  let metric: Metric = 'messages'
  let by: By = 'ranks'
  const pictures = h('div', { class: 'side-by-side matrices' })
  const legend = h('div', { class: 'legend' })
  const tables = h('div')
  const draw = () => {
    const traffic = by === 'nodes' && plan.nodeTraffic !== null ? plan.nodeTraffic : plan.traffic
    const most = largest(traffic, metric)
    pictures.replaceChildren(
      heatMap('Direct', traffic.bounds, traffic.direct[metric], metric, most),
      heatMap('Planned', traffic.bounds, traffic.planned[metric], metric, most),
    )
    legend.replaceChildren(...scale(most, metric))
    tables.replaceChildren(largestPairs(traffic, metric))
  }
  const choices: HTMLElement[] = [
    choice<Metric>(
      'Count',
      [
        ['messages', 'messages'],
        ['blocks', 'blocks carried'],
      ],
      metric,
      (value) => {
        metric = value
        draw()
      },
    ),
  ]
  if (plan.nodeTraffic !== null) {
    const shown = (value: By) => {
      by = value
      draw()
    }
    choices.push(
      choice<By>(
        'Cells of',
        [
          ['ranks', 'ranks'],
          ['nodes', 'nodes'],
        ],
        by,
        shown,
      ),
    )
  }
  draw()
  onScheme(draw, closed)
  return panel(
    'Traffic matrix',
    { class: 'panel' },
    h('div', { class: 'choices' }, ...choices, legend),
    pictures,
    h('details', {}, h('summary', {}, 'As a table: the cells with the most'), tables),
  )
}

function heatMap(
  title: string,
  bounds: CellBounds,
  values: readonly number[],
  metric: Metric,
  most: number,
): HTMLElement {
  const rows = bounds.start.length - 1
  const total = values.reduce((sum, value) => sum + value, 0)
  const canvas = h('canvas', {
    width: rows,
    height: rows,
    class: 'heat-map',
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'heat map',
    'aria-label': `${title}: ${figure(total)} ${metric} from senders (rows) to receivers (columns). Arrow keys move over the cells.`,
  })
  paint(canvas, rows, values, most)
  const marker = h('div', { class: 'cell-marker', hidden: true })
  const readout = h('p', { class: 'readout' }, `${figure(total)} ${metric}`)
  let row = -1
  let column = -1
  const show = (r: number, c: number) => {
    row = Math.min(rows - 1, Math.max(0, r))
    column = Math.min(rows - 1, Math.max(0, c))
    const text = `${cellName(bounds, row)} → ${cellName(bounds, column)}: ${figure(values[row * rows + column])} ${metric}`
    readout.textContent = text
    marker.hidden = false
    marker.style.left = `${(column / rows) * 100}%`
    marker.style.top = `${(row / rows) * 100}%`
    marker.style.width = marker.style.height = `${100 / rows}%`
    return text
  }
  canvas.addEventListener('pointermove', ({ offsetX, offsetY }) => {
    const scale = rows / canvas.clientWidth
    show(Math.floor(offsetY * scale), Math.floor(offsetX * scale))
  })
  canvas.addEventListener('pointerleave', () => {
    marker.hidden = true
    readout.textContent = `${figure(total)} ${metric}`
  })
  canvas.addEventListener('keydown', (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key]
    if (step === undefined) return
    event.preventDefault()
    announce(show(row + step[0], column + step[1]))
  })
  const last = bounds.start[rows] - 1
  return h(
    'figure',
    { class: 'matrix' },
    h('figcaption', {}, title),
    h(
      'div',
      { class: 'axis-top' },
      h('span', {}, bounds.nodes > 0 ? 'to node 0' : 'to rank 0'),
      h(
        'span',
        {},
        bounds.nodes > 1 ? `${bounds.nodes} nodes per row` : String(bounds.nodes === 1 ? rows - 1 : last),
      ),
    ),
    h('div', { class: 'matrix-picture' }, canvas, marker),
    readout,
  )
}

function paint(canvas: HTMLCanvasElement, rows: number, values: readonly number[], most: number): void {
  const context = canvas.getContext('2d')
  if (context === null || rows === 0) return
  const image = context.createImageData(rows, rows)
  const isDark = isDarkScheme()
  for (let i = 0; i < values.length; i++) {
    if (values[i] === 0) continue
    const [red, green, blue] = heat(share(values[i], most), isDark)
    image.data.set([red, green, blue, 255], i * 4)
  }
  context.putImageData(image, 0, 0)
}

/** Logarithmic: a single message among thousands is visible. */
function share(value: number, most: number): number {
  return most <= 1 ? 1 : Math.log(1 + value) / Math.log(1 + most)
}

function largest({ direct, planned }: TrafficView, metric: Metric): number {
  const most = (values: readonly number[]) => values.reduce((best, value) => Math.max(best, value), 0)
  return Math.max(most(direct[metric]), most(planned[metric]))
}

function scale(most: number, metric: Metric): HTMLElement[] {
  const steps = 24
  const isDark = isDarkScheme()
  const stops = Array.from({ length: steps }, (_, i) => `rgb(${heat(i / (steps - 1), isDark).join(' ')})`)
  const bar = h('span', { class: 'scale-bar', role: 'presentation' })
  bar.style.background = `linear-gradient(to right, ${stops.join(', ')})`
  return [h('span', {}, '1'), bar, h('span', {}, `${figure(most)} ${metric} per cell, logarithmic`)]
}

function cellName({ start, of, nodes }: CellBounds, cell: number): string {
  const [first, last] = [start[cell], start[cell + 1] - 1]
  const ranks = first === last ? `rank ${first}` : `ranks ${first}–${last}`
  if (of === 'nodes') return `nodes from ${cell * nodes} (${ranks})`
  return of === 'node' ? `node ${cell} (${ranks})` : ranks
}

function largestPairs({ bounds, direct, planned }: TrafficView, metric: Metric): HTMLElement {
  const rows = bounds.start.length - 1
  const cells = (values: CellTraffic) => values[metric]
  const order = cells(direct)
    .map((_, i) => i)
    .filter((i) => cells(direct)[i] > 0 || cells(planned)[i] > 0)
    .sort((a, b) => cells(direct)[b] + cells(planned)[b] - cells(direct)[a] - cells(planned)[a] || a - b)
    .slice(0, 20)
  return table(
    `Cells with the most ${metric}`,
    ['from', 'to', 'direct', 'planned', 'change'],
    order.map((i) => [
      cellName(bounds, Math.floor(i / rows)),
      cellName(bounds, i % rows),
      figure(cells(direct)[i]),
      figure(cells(planned)[i]),
      change(cells(planned)[i], cells(direct)[i]),
    ]),
  )
}
