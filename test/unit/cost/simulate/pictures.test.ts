import { algorithmOf, scheduleOf, simulate, timelineSvg, traceEvents } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { shownRanks } from '../../../../src/cost/simulate/timelines.js'
import { cluster, nodeOf } from '../../../../src/machine/machine.js'
import { plainProfile } from '../../../support/simulated-machine.js'

const simulated = (id: string, ranks: number, bytes = 1000) =>
  simulate(
    scheduleOf(algorithmOf(id), { ranks }),
    cluster({ nodes: Math.ceil(ranks / 4), cores: 4, profile: plainProfile }),
    { bytes, timeline: true },
  )
const small = simulated('allreduce-rabenseifner', 16)
const large = simulated('allgather-bruck', 300)
const svgOf = (...args: Parameters<typeof timelineSvg>) => [...timelineSvg(...args)].join('')

describe('timelineSvg', () => {
  it('draws every rank, a legend, waits and the arrows of the critical path', () => {
    const svg = svgOf(small, { title: 'a < b & c' })
    expect(svg.match(/<text [^>]*>\d+<\/text>/g)?.length).toBeGreaterThan(16)
    for (const word of ['send', 'receive', 'wait', 'combine', 'critical path', 'a &lt; b &amp; c'])
      expect(svg).toContain(word)
    expect(svg).toContain('#e5e7eb" d="M')
    const messages = small.criticalPath.filter(({ activity }) => activity === 'transfer')
    expect(messages.length).toBeGreaterThan(0)
    expect(svg.match(/fill="none" marker-end="url\(#tip\)"\/>\n/g)?.length).toBe(messages.length)
    expect(svg.endsWith('</svg>\n')).toBe(true)
  })

  it('of many ranks shows some, among them the end of the critical path', () => {
    const svg = svgOf(large, { rows: 16 })
    expect(svg).toContain('rows: 16 of 300 ranks')
    expect(shownRanks(large, 16)).toHaveLength(16)
    expect([...shownRanks(large, 16)]).toContain(large.criticalPath.at(-1)!.rank)
    expect(svgOf(large).length).toBeLessThan(64 * 50_000)
  })

  it('without a timeline is ERR_SIMULATION', () => {
    expect(() => svgOf({ ...small, timeline: null })).toThrow(
      expect.objectContaining({ code: 'ERR_SIMULATION' }),
    )
  })

  it('of an empty schedule has a legend and no rows', () => {
    expect(svgOf(simulated('allgather-ring', 1, 0))).toContain('predicted: 0')
  })
})

interface TraceEvent {
  readonly ph: string
  readonly name: string
  readonly pid: number
  readonly tid?: number
  readonly ts?: number
  readonly dur?: number
  readonly id?: number
  readonly bp?: string
}

const traceOf = (...args: Parameters<typeof traceEvents>) =>
  (JSON.parse([...traceEvents(...args)].join('')) as { traceEvents: TraceEvent[] }).traceEvents

describe('traceEvents', () => {
  it('is JSON in the trace event format: complete events that do not overlap, and flows from send to receive', () => {
    const nodes = nodeOf(cluster({ nodes: 4, cores: 4 }), 16)
    const events = traceOf(small, { nodeOf: nodes })
    const ends = new Map<number, number>()
    const sent = new Map<number, TraceEvent>()
    for (const event of events) if (event.ph === 's') sent.set(event.id!, event)
    let flows = 0
    for (const { ph, ts, dur, tid, pid, id, bp } of events) {
      expect(['M', 'X', 's', 'f']).toContain(ph)
      if (ph === 'M') continue
      expect(pid).toBe(nodes[tid!])
      expect(Number.isFinite(ts)).toBe(true)
      if (ph === 'X') {
        expect(dur).toBeGreaterThan(0)
        expect(ts!).toBeGreaterThanOrEqual((ends.get(tid!) ?? 0) - 1e-9)
        ends.set(tid!, ts! + dur!)
      }
      if (ph !== 'f') continue
      flows++
      expect(bp).toBe('e')
      expect(sent.get(id!)!.ts).toBeLessThan(ts!)
    }
    expect(flows).toBe(small.traffic.package.messages + small.traffic.network.messages)
    expect(Math.max(...ends.values())).toBeCloseTo(small.timeUs, 9)
    expect(events.filter(({ name }) => name === 'thread_name')).toHaveLength(16)
  })

  it('holds at most the ranks and intervals that it may', () => {
    const events = traceOf(large, { ranks: 8, intervals: 20 })
    expect(events.filter(({ name }) => name === 'thread_name')).toHaveLength(8)
    expect(events.filter(({ ph }) => ph === 'X')).toHaveLength(20)
  })
})
