import type { TimelineView } from '../../../src/report/simulation-view.js'
import { activityColors, styleValue } from '../colors.js'
import { ticksBetween, time } from '../format.js'

const left = 56
const right = 12
const top = 4
const bottom = 24

export interface TimelineLayout {
  /** The width of the part with intervals, in pixels of the page. */
  readonly width: number
  readonly rowHeight: number
  /** 0 to 1 from the left of that part. */
  share(x: number): number
  row(y: number): number
}

export function layoutOf(canvas: HTMLCanvasElement, { ranks }: TimelineView): TimelineLayout {
  const rowHeight = rowHeightOf(ranks.length)
  const width = Math.max(1, canvas.clientWidth - left - right)
  return {
    width,
    rowHeight,
    share: (x) => Math.min(1, Math.max(0, (x - left) / width)),
    row: (y) => Math.floor((y - top) / rowHeight),
  }
}

function rowHeightOf(rows: number): number {
  return rows <= 16 ? 20 : rows <= 40 ? 13 : 9
}

/** Draws what happens between two times: a row per rank, and the critical path over it. */
export function drawTimeline(canvas: HTMLCanvasElement, view: TimelineView, from: number, to: number): void {
  const { width, rowHeight } = layoutOf(canvas, view)
  const height = top + view.ranks.length * rowHeight + bottom
  const scale = devicePixelRatio
  canvas.style.height = `${height}px`
  canvas.width = Math.round(canvas.clientWidth * scale)
  canvas.height = Math.round(height * scale)
  const context = canvas.getContext('2d')
  if (context === null) return
  context.scale(scale, scale)
  context.font = `${rowHeight >= 13 ? 11 : 9}px ${styleValue('--mono')}`
  const x = (us: number) => left + ((us - from) / (to - from)) * width
  const colors = view.activities.map((name) => {
    const color = activityColors[name] ?? ''
    return color.startsWith('var(') ? styleValue(color.slice(4, -1)) : color
  })
  drawAxis(context, x, from, to, top + view.ranks.length * rowHeight)
  context.save()
  context.beginPath()
  context.rect(left, 0, width, height)
  context.clip()
  for (let row = 0; row < view.ranks.length; row++) {
    const y = top + row * rowHeight
    for (let i = view.start[row]; i < view.start[row + 1]; i++) {
      if (view.endUs[i] < from || view.startUs[i] > to) continue
      const begin = x(view.startUs[i])
      context.fillStyle = colors[view.activity[i]]
      context.fillRect(begin, y + 1, Math.max(0.6, x(view.endUs[i]) - begin), rowHeight - 2)
    }
  }
  drawPath(context, view, x, rowHeight)
  context.restore()
  context.fillStyle = styleValue('--muted')
  context.textAlign = 'right'
  context.textBaseline = 'middle'
  const every = rowHeight >= 11 ? 1 : 2
  for (let row = 0; row < view.ranks.length; row += every)
    context.fillText(String(view.ranks[row]), left - 6, top + (row + 0.5) * rowHeight)
}

function drawAxis(
  context: CanvasRenderingContext2D,
  x: (us: number) => number,
  from: number,
  to: number,
  y: number,
): void {
  context.strokeStyle = styleValue('--grid')
  context.fillStyle = styleValue('--muted')
  context.textAlign = 'center'
  context.textBaseline = 'top'
  for (const tick of ticksBetween(from, to, 10)) {
    const at = Math.round(x(tick)) + 0.5
    context.beginPath()
    context.moveTo(at, top)
    context.lineTo(at, y + 4)
    context.stroke()
    context.fillText(time(tick), at, y + 7)
  }
}

/** A line below what processors of the path do, and a line per message of it between rows that are shown. */
function drawPath(
  context: CanvasRenderingContext2D,
  { path, ranks }: TimelineView,
  x: (us: number) => number,
  rowHeight: number,
): void {
  const rowOf = new Map(ranks.map((rank, row) => [rank, row]))
  context.strokeStyle = styleValue('--critical')
  context.lineWidth = 1.6
  context.beginPath()
  let queuedSince: number | null = null
  for (const { activity, rank, peer, startUs, endUs } of path) {
    if (activity === 'queue') {
      queuedSince = startUs
      continue
    }
    const row = rowOf.get(rank)
    const other = activity === 'transfer' ? rowOf.get(peer) : row
    const begin = activity === 'transfer' ? (queuedSince ?? startUs) : startUs
    queuedSince = null
    if (row === undefined || other === undefined) continue
    const offset = activity === 'transfer' ? 0.5 : 0.93
    context.moveTo(x(begin), top + (row + offset) * rowHeight)
    context.lineTo(x(endUs), top + (other + offset) * rowHeight)
  }
  context.stroke()
}
