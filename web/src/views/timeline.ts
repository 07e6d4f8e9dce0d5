import type { SimulationView, TimelineView } from '../../../src/report/simulation-view.js'
import { activityColors, onScheme } from '../colors.js'
import { announce, choice, h, panel, table } from '../dom.js'
import { figure, time } from '../format.js'
import { drawTimeline, layoutOf } from './timeline-canvas.js'

type Shown = 'planned' | 'direct'

/** Shows what the processors of some ranks do over time, and which rank waits for which. */
export function timelinePanel(simulation: SimulationView, closed: AbortSignal): HTMLElement {
  let shown: Shown = 'planned'
  const holder = h('div', { class: 'timeline' })
  const waits = h('div')
  const rows = h('div')
  const rowsTable = h(
    'details',
    { ontoggle: () => drawRows() },
    h('summary', {}, 'As a table, by rank'),
    rows,
  )
  const nameOf = (of: Shown) => (of === 'planned' ? 'the plan' : 'direct sends')
  // Thousands of cells, so only where they are looked at.
  const drawRows = () => {
    const { timeline } = simulation[shown]
    rows.replaceChildren(
      ...(rowsTable.open && timeline !== null ? intervalsOfRank(timeline, nameOf(shown)) : []),
    )
  }
  const longest = Math.max(simulation.direct.timeUs, simulation.planned.timeUs)
  const draw = () => {
    const { timeline, timeUs } = simulation[shown]
    const name = nameOf(shown)
    drawRows()
    if (timeline === null) {
      holder.replaceChildren(h('p', { class: 'note' }, 'Too many messages for a timeline.'))
      waits.replaceChildren()
      return
    }
    holder.replaceChildren(picture(timeline, timeUs, longest, name))
    waits.replaceChildren(waitsTable(timeline, name))
  }
  draw()
  onScheme(draw, closed)
  const select = choice<Shown>(
    'Of',
    [
      ['planned', `plan (${time(simulation.planned.timeUs)})`],
      ['direct', `direct sends (${time(simulation.direct.timeUs)})`],
    ],
    shown,
    (value) => {
      shown = value
      draw()
    },
  )
  const keys = Object.entries(activityColors).map(([name, color]) => {
    const swatch = h('span', { class: 'swatch' })
    swatch.style.background = color
    return h('span', { class: 'key' }, swatch, name)
  })
  return panel(
    'Simulated timeline',
    { class: 'panel wide' },
    h(
      'div',
      { class: 'choices' },
      select,
      h(
        'p',
        { class: 'keys' },
        ...keys,
        h('span', { class: 'key' }, h('span', { class: 'swatch critical' }), 'critical path'),
      ),
    ),
    holder,
    h('details', { open: true }, h('summary', {}, 'Who waits for whom'), waits),
    rowsTable,
  )
}

/** All intervals of one rank of the picture, which is chosen. */
function intervalsOfRank(view: TimelineView, name: string): HTMLElement[] {
  const shown = h('div')
  const select = h(
    'select',
    { name: 'timeline-rank', onchange: () => draw(select.selectedIndex) },
    ...view.ranks.map((rank) => h('option', { value: rank }, `${rank}`)),
  )
  const draw = (row: number) => {
    const caption = `Intervals of rank ${view.ranks[row]}, ${name}`
    const intervals = Array.from({ length: view.start[row + 1] - view.start[row] }, (_, n) => {
      const i = view.start[row] + n
      const peer = view.peer[i] === -1 ? '' : String(view.peer[i])
      const lasts = time(view.endUs[i] - view.startUs[i])
      return [time(view.startUs[i]), time(view.endUs[i]), lasts, view.activities[view.activity[i]], peer]
    })
    const head = ['from', 'to', 'takes', 'activity', 'peer']
    shown.replaceChildren(
      h(
        'div',
        { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
        table(caption, head, intervals),
      ),
    )
  }
  if (view.ranks.length > 0) draw(0)
  return [h('label', {}, 'Rank ', select), shown]
}

function picture(view: TimelineView, timeUs: number, longest: number, name: string): HTMLElement {
  const canvas = h('canvas', {
    class: 'timeline-canvas',
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'timeline',
    'aria-label': `Timeline of ${name}: ${view.ranks.length} ranks over ${time(timeUs)}. Plus and minus zoom, left and right move.`,
  })
  const readout = h(
    'p',
    { class: 'readout' },
    'Point at an interval. Scroll or press + and − to zoom, drag or ← → to move.',
  )
  let from = 0
  let to = longest
  const redraw = () => drawTimeline(canvas, view, from, to)
  const zoom = (factor: number, at: number) => {
    const center = from + (to - from) * at
    const span = Math.min(longest, Math.max(longest / 5000, (to - from) * factor))
    move(center - span * at, span)
  }
  const move = (start: number, span = to - from) => {
    from = Math.min(longest - span, Math.max(0, start))
    to = from + span
    requestAnimationFrame(redraw)
    reset.disabled = span >= longest
  }
  canvas.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && !event.shiftKey && document.activeElement !== canvas) return
      event.preventDefault()
      zoom(1.0015 ** event.deltaY, layoutOf(canvas, view).share(event.offsetX))
    },
    { passive: false },
  )
  canvas.addEventListener('keydown', (event) => {
    const span = to - from
    if (event.key === '+' || event.key === '=') zoom(0.6, 0.5)
    else if (event.key === '-') zoom(1 / 0.6, 0.5)
    else if (event.key === 'ArrowRight') move(from + span / 5)
    else if (event.key === 'ArrowLeft') move(from - span / 5)
    else return
    event.preventDefault()
    announce(`${time(from)} to ${time(to)}`)
  })
  let dragged: number | null = null
  canvas.addEventListener('pointerdown', (event) => {
    dragged = event.offsetX
    canvas.setPointerCapture(event.pointerId)
  })
  canvas.addEventListener('pointerup', () => {
    dragged = null
  })
  canvas.addEventListener('pointermove', ({ offsetX, offsetY }) => {
    const layout = layoutOf(canvas, view)
    if (dragged !== null) {
      move(from - ((offsetX - dragged) / layout.width) * (to - from))
      dragged = offsetX
    }
    readout.textContent = intervalAt(view, layout.row(offsetY), from + (to - from) * layout.share(offsetX))
  })
  const reset = h('button', { type: 'button', disabled: true, onclick: () => move(0, longest) }, 'Whole')
  const controls = h(
    'div',
    { class: 'toolbar' },
    h('button', { type: 'button', 'aria-label': 'Zoom in', onclick: () => zoom(0.6, 0.5) }, '+'),
    h('button', { type: 'button', 'aria-label': 'Zoom out', onclick: () => zoom(1 / 0.6, 0.5) }, '−'),
    reset,
    readout,
  )
  new ResizeObserver(redraw).observe(canvas)
  const what = h('figcaption', {}, 'A row per rank; simulated time from the left to the right.')
  return h('figure', {}, what, canvas, controls)
}

function intervalAt(view: TimelineView, row: number, at: number): string {
  const rank = view.ranks[row]
  if (rank === undefined) return time(Math.max(0, at))
  for (let i = view.start[row]; i < view.start[row + 1]; i++) {
    if (view.startUs[i] > at || view.endUs[i] < at) continue
    const activity = view.activities[view.activity[i]]
    const other = { send: 'to', receive: 'from', wait: 'for' }[activity as string]
    const peer = view.peer[i] === -1 || other === undefined ? '' : ` ${other} rank ${view.peer[i]}`
    return `rank ${rank}: ${activity}${peer}, ${time(view.startUs[i])} to ${time(view.endUs[i])} (${time(view.endUs[i] - view.startUs[i])})`
  }
  return `rank ${rank}, ${time(Math.max(0, at))}: idle`
}

function waitsTable({ waits }: TimelineView, name: string): HTMLElement {
  if (waits.length === 0) return h('p', { class: 'note' }, 'No rank waits.')
  return table(
    `Longest waits of ${name}, over all ranks`,
    ['rank', 'waits for rank', 'total, simulated', 'waits'],
    waits
      .slice(0, 12)
      .map((wait) => [String(wait.rank), String(wait.for), time(wait.us), figure(wait.times)]),
  )
}
