import { requireKnownOptions, requireOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { activities, type Simulation } from './simulation.js'
import { intervalsOf, shownRanks, timelineIn } from './timeline-svg.js'

export interface TraceOptions {
  /** The node of every rank: ranks of one node are one process of the trace. Default: all on one. Length: ranks. */
  readonly nodeOf?: Int32Array
  /** The most ranks. Default 1,024. If there are more, those at the end of the critical path are among them. */
  readonly ranks?: number
  /** The most intervals, those of low ranks first. Default 2^20, about 250 MB of text. */
  readonly intervals?: number
}

const knownOptions: OptionTable<TraceOptions> = uncheckedOptions('nodeOf', 'ranks', 'intervals')

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
  requireKnownOptions('traceEvents', options, knownOptions)
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
