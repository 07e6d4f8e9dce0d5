import { algorithmOf, plan, scheduleOf } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { parseMachine } from '../../../src/machine/machine-text.js'
import { histograms } from '../../../src/report/histogram.js'
import { nodeBounds, planView, rankBounds, rankView } from '../../../src/report/plan-view.js'
import { reportHtml } from '../../../src/report/report-html.js'
import { neighborhoodView, rowsOf, topologyView, vertexOf } from '../../../src/report/topology-view.js'
import { waitsAfter } from '../../../src/schedule/walk.js'
import { buildTopology } from '../../../src/topology/files/topology-from-spec.js'
import { distinctOut } from '../../../src/topology/neighbors.js'
import { topologyFromEdges } from '../../../src/topology/topology-builders.js'
import { groupsText } from '../../../web/src/format.js'
import { refusal } from '../../support/refusal.js'

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
const machine = parseMachine('cluster:nodes=4,cores=16,profile=simgrid-fast')
const moore = buildTopology('moore:8x8:r=2')

describe('histograms', () => {
  it('several series have the same bins, which hold every value once', () => {
    const [a, b] = histograms([3, 3, 5], [100, 4])
    expect([a.first, a.width, a.counts.length]).toEqual([b.first, b.width, b.counts.length])
    expect(sum(a.counts)).toBe(3)
    expect(sum(b.counts)).toBe(2)
    expect([a.min, a.mean, a.max, b.min, b.max]).toEqual([3, 11 / 3, 5, 4, 100])
    expect(a.counts.length).toBeLessThanOrEqual(40)
  })

  it('no values: one empty bin', () => {
    expect(histograms([])).toEqual([{ first: 0, width: 1, counts: [0], min: 0, mean: 0, max: 0 }])
  })
})

describe('cells', () => {
  it('ranks share cells in equal blocks, or are cells themselves', () => {
    expect(rankBounds(3)).toEqual({ start: [0, 1, 2, 3], of: 'rank', nodes: 0 })
    expect(rankBounds(10, 4)).toEqual({ start: [0, 3, 6, 9, 10], of: 'ranks', nodes: 0 })
    expect(() => rankBounds(3, 0)).toThrow(refusal('ERR_ARGUMENT'))
  })

  it('nodes are cells, or equal numbers of them where there are more than cells', () => {
    expect(nodeBounds(Int32Array.of(0, 0, 1, 3))).toEqual({ start: [0, 2, 3, 4], of: 'node', nodes: 1 })
    expect(nodeBounds(Int32Array.of(0, 1, 1, 2), 2)).toEqual({ start: [0, 3, 4], of: 'nodes', nodes: 2 })
    const many = nodeBounds(Int32Array.from({ length: 4096 }, (_, rank) => rank >> 4))
    expect(many).toMatchObject({ of: 'nodes', nodes: 2 })
    expect(many.start).toHaveLength(129)
  })
})

describe('topologyView', () => {
  it('a small stencil: a vertex per rank, on the grid, its edges once', () => {
    const { graph, statistics, adjacency } = topologyView(moore, { name: 'moore' })
    expect(graph.tiling).toEqual({ kind: 'blocks', ranks: 1 })
    expect(graph.vertices).toBe(64)
    expect(new Set(graph.position?.x).size).toBe(8)
    expect(sum(graph.edges)).toBe(statistics.edges)
    expect(graph.from.every((from, i) => from < graph.to[i])).toBe(true)
    expect(adjacency).toBeNull()
  })

  it('many ranks: tiles of the grid, which hold every rank once, and bounded JSON', () => {
    const view = topologyView(buildTopology('moore:64x64:r=1'), { name: 'big' })
    expect(view.graph.tiling.kind).toBe('tiles')
    expect(sum(view.graph.size)).toBe(4096)
    expect(view.graph.vertices).toBeLessThanOrEqual(600)
    const sizes = new Array<number>(view.graph.vertices).fill(0)
    for (let rank = 0; rank < 4096; rank++) sizes[vertexOf(view.graph.tiling, rank)]++
    expect(sizes).toEqual(view.graph.size)
    expect(JSON.stringify(view).length).toBeLessThan(200_000)
  })

  it('no grid: no coordinates, and communities that are the same each time', () => {
    const random = buildTopology('er:60:d=0.1:seed=3')
    const view = topologyView(random, { name: 'random' })
    expect(view.graph.position).toBeNull()
    expect(view.graph.communities).toBeGreaterThan(1)
    expect(topologyView(random, { name: 'random' })).toEqual(view)
  })

  it('edges travel as differences, and neighborhoods of both are equal', () => {
    const random = buildTopology('er:60:d=0.1:seed=3')
    const rows = distinctOut(random)
    const view = topologyView(random, { name: 'random', adjacency: true, rank: 7 })
    expect(rowsOf(view.adjacency!)).toEqual(rows)
    expect(view.neighborhood).toEqual(neighborhoodView(rows, 7))
    expect(view.neighborhood?.out).toEqual([...rows.rank.subarray(rows.start[7], rows.start[8])])
  })

  it('a neighborhood has the edges among neighbors, without their loops', () => {
    const looped = distinctOut(topologyFromEdges(3, { sources: [0, 0, 1, 1], destinations: [1, 2, 1, 2] }))
    expect(neighborhoodView(looped, 0)).toMatchObject({ out: [1, 2], in: [], from: [1], to: [2] })
  })

  it('no ranks, and a rank out of range', () => {
    expect(topologyView(buildTopology('er:1:d=0:seed=1'), { name: 'one' }).graph.vertices).toBe(1)
    expect(() => topologyView(moore, { name: 'moore', rank: 64 })).toThrow(refusal('ERR_RANK'))
  })
})

describe('planView', () => {
  const planned = plan(moore, { kind: 'common-neighbor', k: 2, mode: 'agnostic' })
  const view = planView(moore, planned, machine, { name: 'moore', bytes: 64, rows: 8, sizes: [4, 4096] })

  it('traffic matrices have all messages, by ranks and by nodes', () => {
    const { direct, planned: after } = view.statistics
    expect(sum(view.traffic.direct.messages)).toBe(direct.messages.planned)
    expect(sum(view.traffic.planned.messages)).toBe(after.messages.planned)
    expect(sum(view.nodeTraffic!.planned.messages)).toBe(after.messages.planned)
    expect(sum(view.traffic.planned.blocks)).toBe(after.volumeBlocks)
    expect(view.nodeTraffic?.bounds.start).toEqual([0, 16, 32, 48, 64])
  })

  it('the length asked for is compared with others', () => {
    const { sizes, simulation } = planView(moore, planned, machine, { name: 'moore', bytes: 1024 })
    expect(sizes.map(({ bytes }) => bytes)).toEqual([4, 64, 512, 1024, 4096, 65_536])
    expect(sizes[3].speedup).toBe(simulation!.speedup)
  })

  it('histograms have all ranks, and their mean is that of the statistics', () => {
    const { sent } = view.messages
    expect(sum(sent.planned.counts)).toBe(64)
    expect(sent.planned.mean).toBeCloseTo(view.statistics.planned.messages.meanPerRank)
    expect(sent.direct.first).toBe(sent.planned.first)
  })

  it('the timeline has the rows asked for, in order of time, and who waits', () => {
    const timeline = view.simulation!.planned.timeline!
    expect(timeline.ranks).toHaveLength(8)
    expect(timeline.start).toHaveLength(9)
    for (let row = 0; row < 8; row++)
      for (let i = timeline.start[row] + 1; i < timeline.start[row + 1]; i++)
        expect(timeline.startUs[i]).toBeGreaterThanOrEqual(timeline.startUs[i - 1])
    expect(timeline.path.at(-1)?.endUs).toBeCloseTo(view.simulation!.planned.timeUs, 2)
    expect(timeline.waits.length).toBeGreaterThan(0)
    expect(view.ranks.map(({ rank }) => rank)).toEqual(timeline.ranks)
  })

  it('ranks that are asked for are in the timeline, and their programs are those of the schedule', () => {
    const asked = planView(moore, planned, machine, {
      name: 'm',
      bytes: 64,
      rows: 2,
      ranks: [9, 3],
      sizes: [],
    })
    expect(asked.simulation?.planned.timeline?.ranks).toEqual([3, 9])
    const [nine] = asked.ranks
    const { opStart } = planned.schedule
    expect([nine.rank, nine.kind.length]).toEqual([9, opStart[10] - opStart[9]])
    expect(asked.sizes).toEqual([])
  })

  it('programs show which operations wait, and for which phases', () => {
    const schedule = scheduleOf(algorithmOf('gather-linear-sync'), { ranks: 4 })
    const { opStart } = schedule
    for (let rank = 0; rank < 4; rank++) {
      const first = opStart[rank]
      const { after, kind } = rankView(schedule, rank)
      expect(after).toEqual(kind.map((_, i) => waitsAfter(schedule, first + i)))
    }
    expect(rankView(schedule, 2).after).toContain(2)
    expect(rankView(planned.schedule, 9).after).toBeNull()
  })

  it('break-even by size, and friend groups of every rank', () => {
    expect(view.sizes.map(({ bytes }) => bytes)).toEqual([4, 4096])
    expect(view.sizes.every(({ speedup, directUs, plannedUs }) => speedup === directUs / plannedUs)).toBe(
      true,
    )
    expect(view.groups?.groupOf).toHaveLength(64)
    expect(Math.max(...view.groups!.groupOf!)).toBeLessThan(view.groups!.count)
  })

  it('the page says in how many steps there are groups, which may share ranks', () => {
    const er = buildTopology('er:64:d=0.3:seed=1')
    const pairs = plan(er, { kind: 'common-neighbor', k: 2, mode: 'agnostic' })
    const shown = planView(er, pairs, null, { name: 'er' })
    const { count, steps, groupOf } = shown.groups!
    const grouped = groupOf!.filter((group) => group >= 0).length
    expect(2 * count).toBeGreaterThan(grouped)
    expect(groupsText(shown.groups!, groupOf!)).toBe(
      `${count} groups of 2 in ${steps} steps; ${grouped} of 64 ranks are in one or more, colored by their first; colors repeat`,
    )
  })

  it('without a machine nothing is simulated; of a plan that was read the planning time is not known', () => {
    const read = planView(moore, { ...planned, groups: null }, null, { name: 'm', isMeasured: false })
    expect([read.simulation, read.sizes, read.nodeTraffic, read.planMs, read.groups]).toEqual([
      null,
      [],
      null,
      null,
      null,
    ])
  })

  it('ranks out of range and too many are refused', () => {
    const of = (ranks: number[]) => () => planView(moore, planned, null, { name: 'm', ranks })
    expect(of([64])).toThrow(refusal('ERR_RANK'))
    expect(of(Array.from({ length: 33 }, (_, i) => i))).toThrow(refusal('ERR_ARGUMENT'))
  })
})

describe('reportHtml', () => {
  const template = '<body><script type="application/json" id="report-data">null</script></body>'

  it('a name cannot end the element that holds the data', () => {
    const name = '</script><img src=x onerror=alert(1)> & $& \u2028'
    const report = { topology: topologyView(moore, { name }), plan: null, madeBy: 'test' }
    const html = reportHtml(template, report)
    expect(html.match(/<\/?(script|img)/g)).toEqual(['<script', '</script'])
    const [, data] = /id="report-data">(.*)<\/script>/s.exec(html) ?? []
    expect(JSON.parse(data)).toEqual(JSON.parse(JSON.stringify(report)))
  })

  it('a template without a place for data is refused', () => {
    const report = { topology: topologyView(moore, { name: 'm' }), plan: null, madeBy: 'test' }
    expect(() => reportHtml('<html></html>', report)).toThrow(refusal('ERR_FILE'))
  })
})
