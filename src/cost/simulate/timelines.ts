import { requireKnownOptions, requireOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { type Shape, shape, svgOf } from '../../document/picture.js'
import { RankweaveError } from '../../errors.js'
import { type Activity, activities, type PathStep, type Simulation, type Timeline } from './simulation.js'

export interface TimelineSvgOptions {
  /** The title in the picture's first line. Default: the predicted time alone. */
  readonly title?: string
  /**
   * The most rows, 1 to 256. Default 64. If there are more ranks, those at the end of the critical path are among them.
   */
  readonly rows?: number
}

/** The activities that are drawn. Messages on their way appear only as arrows of the critical path. */
const colors: readonly (readonly [Activity, string, string])[] = [
  ['send', '#2563eb', 'send'],
  ['receive', '#15803d', 'receive'],
  ['pack', '#93c5fd', 'pack'],
  ['unpack', '#86efac', 'unpack'],
  ['combine', '#9333ea', 'combine'],
  ['copy', '#f59e0b', 'copy'],
  ['wait', '#e5e7eb', 'wait'],
]

const left = 64
const top = 56
const width = 960
const right = 16
const bottom = 36
/** The columns per unit of the picture. A column shows the activity that takes most of its time. */
const columnsPerUnit = 2
const columns = width * columnsPerUnit
const mostArrows = 500
const mostRows = 256

const pictureOptions: OptionTable<TimelineSvgOptions> = uncheckedOptions('title', 'rows')

/**
 * Draws the timeline of a simulation as SVG: a row per rank; the critical path in red, its messages as arrows. At most
 * `rows` times 50 kB, whatever the number of messages.
 *
 * @throws ERR_SIMULATION for a simulation without a timeline
 */
export function* timelineSvg(simulation: Simulation, options: TimelineSvgOptions = {}): Generator<string> {
  requireOptions('timelineSvg', simulation)
  requireKnownOptions('timelineSvg', options, pictureOptions)
  const timeline = timelineIn(simulation.timeline)
  const { timeUs, endUs, criticalPath } = simulation
  const limit = Math.min(mostRows, Math.max(1, Math.floor(options.rows ?? 64)))
  const ranks = shownRanks(simulation, limit)
  const step = ranks.length <= 16 ? 24 : ranks.length <= 64 ? 12 : 6
  const height = top + Math.max(1, ranks.length) * step + bottom
  const x = (us: number): number => left + (timeUs === 0 ? 0 : (us / timeUs) * width)
  const predicted = `predicted: ${timeText(timeUs)}`
  const title = options.title === undefined ? predicted : `${options.title}; ${predicted}`
  return yield* svgOf({
    ...{ width: left + width + right, height, isFluid: true },
    attributes: { 'font-family': 'sans-serif', 'font-size': 12 },
    shapes: shapes(),
  })

  function* shapes(): Generator<Shape> {
    yield shape('title', {}, title)
    yield shape('rect', { width: '100%', height: '100%', fill: 'white' })
    yield shape('defs', {}, [arrowTip()])
    yield shape('text', { x: left, y: 18, 'font-size': 13 }, title)
    yield* legend(ranks.length, endUs.length)
    yield* axis(timeUs, x, top + ranks.length * step)
    const rowOf = new Map<number, number>()
    for (const [row, rank] of ranks.entries()) rowOf.set(rank, row)
    const intervals = intervalsOf(timeline, ranks)
    const everyOther = step >= 12 ? 1 : 4
    for (const [row, rank] of ranks.entries()) {
      const [first, end] = intervals.get(rank)!
      const y = top + row * step
      const place = { x: left - 6, y: y + Math.max(9, step / 2 + 4), 'text-anchor': 'end' }
      if (row % everyOther === 0)
        yield shape('text', { ...place, 'font-size': step >= 24 ? 12 : 9 }, String(rank))
      yield* rowPaths(timeline, first, end, timeUs, y + 1, step - 2)
    }
    yield* pathOf(criticalPath, rowOf, x, step)
  }
}

const red = '#dc2626'

function arrowTip(): Shape {
  const attributes = { id: 'tip', markerWidth: 7, markerHeight: 6, refX: 6, refY: 3, orient: 'auto' }
  return shape('marker', attributes, [shape('path', { d: 'M0 0L7 3L0 6z', fill: red })])
}

function rowPaths(
  timeline: Timeline,
  first: number,
  end: number,
  timeUs: number,
  y: number,
  height: number,
): Shape[] {
  const { activity, startUs, endUs } = timeline
  const share = colors.map(() => new Float64Array(columns))
  const perColumn = timeUs / columns
  for (let i = first; i < end; i++) {
    const color = colorOf[activity[i]]
    if (color === -1) continue
    const from = startUs[i] / perColumn
    const to = Math.min(columns, endUs[i] / perColumn)
    for (let column = Math.floor(from); column < to; column++)
      share[color][column] += Math.min(to, column + 1) - Math.max(from, column)
  }
  const paths = colors.map(() => '')
  for (let column = 0; column < columns; ) {
    const color = most(share, column)
    let next = column + 1
    while (next < columns && most(share, next) === color) next++
    if (color !== -1)
      paths[color] +=
        `M${left + column / columnsPerUnit} ${y}h${(next - column) / columnsPerUnit}v${height}H${left + column / columnsPerUnit}z`
    column = next
  }
  return paths.flatMap((path, color) =>
    path === '' ? [] : [shape('path', { fill: colors[color][1], d: path })],
  )
}

/** Returns the color that takes most of a column; -1 if none does. */
function most(share: readonly Float64Array[], column: number): number {
  let found = -1
  for (let color = 0; color < share.length; color++)
    if (share[color][column] > (found === -1 ? 0 : share[found][column])) found = color
  return found
}

const colorOf = activities.map((name) => colors.findIndex(([activity]) => activity === name))

/** Draws a line below the jobs of the path, and an arrow per message between rows. */
function pathOf(
  path: readonly PathStep[],
  rowOf: ReadonlyMap<number, number>,
  x: (us: number) => number,
  step: number,
): Shape[] {
  let lines = ''
  const arrows: string[] = []
  let since = 0
  for (const [i, { activity, peer, rank, startUs, endUs }] of path.entries()) {
    const row = rowOf.get(rank)
    if (activity === 'queue') continue
    if (activity !== 'transfer') {
      if (row !== undefined)
        lines += `M${fixed(x(startUs))} ${top + (row + 1) * step - 1.5}H${fixed(x(endUs))}`
      continue
    }
    since = path[i - 1]?.activity === 'queue' ? path[i - 1].startUs : startUs
    const other = rowOf.get(peer)
    if (row === undefined || other === undefined) continue
    const [from, to] = [top + (row + 0.5) * step, top + (other + 0.5) * step]
    arrows.push(`M${fixed(x(since))} ${from}L${fixed(x(endUs))} ${to}`)
  }
  const arrow = { stroke: red, 'stroke-width': 1.3, fill: 'none', 'marker-end': 'url(#tip)' }
  return [
    shape('path', { d: lines, stroke: red, 'stroke-width': 2, fill: 'none' }),
    ...arrows.slice(-mostArrows).map((d) => shape('path', { d, ...arrow })),
  ]
}

function legend(rows: number, ranks: number): Shape[] {
  const entries = colors.flatMap(([, color, label], i) => {
    const at = left + i * 84
    return [
      shape('rect', { x: at, y: 28, width: 11, height: 11, fill: color }),
      shape('text', { x: at + 15, y: 38 }, label),
    ]
  })
  const at = left + colors.length * 84
  const text = rows < ranks ? `${rows} of ${ranks} ranks` : 'rank'
  return [
    ...entries,
    shape('path', { d: `M${at} 34h20`, stroke: red, 'stroke-width': 2, 'marker-end': 'url(#tip)' }),
    shape('text', { x: at + 28, y: 38 }, 'critical path'),
    shape('text', { x: left + width, y: 38, 'text-anchor': 'end', fill: '#6b7280' }, `rows: ${text}`),
  ]
}

function axis(timeUs: number, x: (us: number) => number, y: number): Shape[] {
  const least = timeUs / 8
  const power = timeUs === 0 ? 1 : 10 ** Math.floor(Math.log10(least))
  const tick = power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10)
  const marks: Shape[] = []
  for (let i = 0; i * tick <= timeUs * (1 + 1e-12); i++) {
    const at = fixed(x(i * tick))
    const text = String(Number((i * tick).toPrecision(3)))
    marks.push(shape('path', { d: `M${at} ${top}V${y + 4}`, stroke: '#d1d5db', 'stroke-width': 0.5 }))
    marks.push(shape('text', { x: at, y: y + 18, 'text-anchor': 'middle' }, text))
    if (timeUs === 0) break
  }
  marks.push(shape('text', { x: left - 6, y: y + 18, 'text-anchor': 'end' }, 'us'))
  return marks
}

function timeText(us: number): string {
  return `${Number(us.toPrecision(4)).toLocaleString('en-US')} us`
}

function fixed(value: number): string {
  return value.toFixed(1)
}

/**
 * Returns the ranks of a picture that holds at most `most`, ascending. If more than `most` do anything, up to half are
 * those at the end of the critical path, and the others lie at equal distances.
 */
export function shownRanks({ criticalPath, timeline }: Simulation, most: number): Int32Array {
  const busy = [...new Set(timelineIn(timeline).rank)]
  if (busy.length <= most) return Int32Array.from(busy)
  const shown = new Set<number>()
  for (let i = criticalPath.length - 1; i >= 0 && shown.size < most / 2; i--) shown.add(criticalPath[i].rank)
  const others = busy.filter((rank) => !shown.has(rank))
  const left = most - shown.size
  for (let i = 0; i < left; i++) shown.add(others[Math.floor((i * others.length) / left)])
  return Int32Array.from(shown).sort()
}

/** Returns the timeline of a simulation. @throws ERR_SIMULATION for a simulation without a timeline */
function timelineIn(timeline: Timeline | null): Timeline {
  if (Object(timeline).rank instanceof Int32Array) return timeline!
  const message = 'expected a simulation with a timeline (timeline: true), got none'
  throw new RankweaveError('ERR_SIMULATION', message)
}

/** Returns the first interval of every rank in `ranks`, and the one after its last. */
function intervalsOf({ rank }: Timeline, ranks: Int32Array): ReadonlyMap<number, readonly [number, number]> {
  const rows = new Map<number, readonly [number, number]>()
  const isShown = new Set(ranks)
  for (let first = 0; first < rank.length; ) {
    let end = first
    while (end < rank.length && rank[end] === rank[first]) end++
    if (isShown.has(rank[first])) rows.set(rank[first], [first, end])
    first = end
  }
  return rows
}

export interface TraceOptions {
  /** The node of every rank: ranks of one node are one process of the trace. Default: all on one. Length: ranks. */
  readonly nodeOf?: Int32Array
  /** The most ranks. Default 1,024. If there are more, those at the end of the critical path are among them. */
  readonly ranks?: number
  /** The most intervals, those of low ranks first. Default 2^20, about 250 MB of text. */
  readonly intervals?: number
}

const traceOptions: OptionTable<TraceOptions> = uncheckedOptions('nodeOf', 'ranks', 'intervals')

/**
 * Writes the timeline of a simulation in the Trace Event Format, which Perfetto and chrome://tracing open. Ranks are
 * threads of their nodes, jobs of processors are complete events, and messages between shown ranks are arrows from the
 * send to the receive. Times are simulated microseconds.
 *
 * @throws ERR_SIMULATION for a simulation without a timeline
 * @see Trace Event Format, "JSON Object Format"
 */
export function* traceEvents(simulation: Simulation, options: TraceOptions = {}): Generator<string> {
  requireOptions('traceEvents', simulation)
  requireKnownOptions('traceEvents', options, traceOptions)
  const timeline = timelineIn(simulation.timeline)
  const { activity, bytes, message, peer, startUs, endUs } = timeline
  const ranks = shownRanks(simulation, Math.max(1, options.ranks ?? 1024))
  const shown = new Set(ranks)
  const nodeOf = (rank: number): number => options.nodeOf?.[rank] ?? 0
  let left = options.intervals ?? 2 ** 20
  yield `{"displayTimeUnit":"ns","otherData":{"predicted":true,"timeUs":${simulation.timeUs}},"traceEvents":[\n`
  let separator = ''
  const line = (event: object): string => {
    const text = `${separator}${JSON.stringify(event)}`
    separator = ',\n'
    return text
  }
  for (const node of new Set(Array.from(ranks, nodeOf)))
    yield line({ ph: 'M', name: 'process_name', pid: node, args: { name: `node ${node}` } })
  for (const rank of ranks)
    yield line({ ph: 'M', name: 'thread_name', pid: nodeOf(rank), tid: rank, args: { name: `rank ${rank}` } })
  for (const [rank, [first, end]] of intervalsOf(timeline, ranks)) {
    for (let i = first; i < end; i++) {
      const name = activities[activity[i]]
      if (name === 'queue' || name === 'transfer') continue
      if (left-- <= 0) break
      const ts = startUs[i]
      const place = { pid: nodeOf(rank), tid: rank }
      const args = message[i] === -1 ? {} : { message: message[i], bytes: bytes[i] }
      const other = peer[i] === -1 ? {} : { peer: peer[i] }
      yield line({
        ph: 'X',
        name,
        cat: 'rank',
        ts,
        dur: endUs[i] - ts,
        ...place,
        args: { ...args, ...other },
      })
      if ((name !== 'send' && name !== 'receive') || !shown.has(peer[i])) continue
      // An arrow is bound to the event around its time.
      const flow = { name: 'message', cat: 'message', id: message[i], ts: (ts + endUs[i]) / 2, ...place }
      yield line(name === 'send' ? { ph: 's', ...flow } : { ph: 'f', bp: 'e', ...flow })
    }
  }
  yield '\n]}\n'
}
