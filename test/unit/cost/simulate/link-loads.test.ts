import { linkName, type Machine, parseMachine, routeBetween } from 'rankweave/machine'
import { algorithmOf, lower, scheduleOf, simulate } from 'rankweave/schedule'
import { describe, expect, it, test } from 'vitest'
import { linkLoads, linksSvg } from '../../../../src/cost/simulate/link-loads.js'
import { elementsOf } from '../../../support/well-formed-xml.js'

const of = (id: string, ranks: number) => scheduleOf(algorithmOf(id), { ranks })

describe('linkLoads', () => {
  it.each(['torus:dims=4x2x2', 'mesh:dims=5x3', 'clos:radix=4,levels=3', 'cluster:nodes=6,cores=2'])(
    'of %s is the sum over routes, and as many bytes leave nodes as the simulator sends',
    (text) => {
      const machine = parseMachine(`${text},profile=simgrid-fast`)
      const cores = machine.firstRank.at(-1)!
      const schedule = of('alltoall-linear', cores)
      const { bytes, ofNodes, ofInterior, ...all } = linkLoads(schedule, machine, 3)
      const expected = new Float64Array(bytes.length)
      for (let from = 0; from < cores; from++)
        for (let to = 0; to < cores; to++) {
          const [a, b] = [from, to].map((rank) => Math.floor(rank / machine.cores[0]))
          if (a !== b) for (const link of routeBetween(machine, a, b)) expected[link] += 3
        }
      expect(bytes).toEqual(expected)
      const sent = simulate(schedule, machine, { bytes: 3 }).traffic.network.bytes
      const sumOf = (side: number) =>
        bytes.reduce((sum, load, i) => sum + (i < 2 * nodes && i % 2 === side ? load : 0), 0)
      const nodes = machine.cores.length
      expect([sumOf(0), sumOf(1)]).toEqual([sent, sent])
      const used = bytes.filter((load) => load > 0)
      expect(all).toEqual({
        links: bytes.length,
        used: used.length,
        mostLoaded: bytes.indexOf(Math.max(...bytes)),
        mostBytes: Math.max(...bytes),
        meanBytes: used.reduce((sum, load) => sum + load, 0) / used.length,
      })
      expect([ofNodes.links, ofInterior.links]).toEqual([2 * nodes, bytes.length - 2 * nodes])
      expect(ofNodes.used + ofInterior.used).toBe(all.used)
      expect(Math.max(ofNodes.mostBytes, ofInterior.mostBytes)).toBe(all.mostBytes)
    },
  )

  it('of a ring in the order of a torus loads every link of its rows once for each block, in one direction', () => {
    const machine = parseMachine('torus:dims=4x4')
    const { ofInterior, bytes } = linkLoads(of('allgather-ring', 4), parseMachine('torus:dims=4'), 10)
    expect(ofInterior).toMatchObject({ used: 4, mostBytes: 30, meanBytes: 30 })
    expect(Array.from(bytes.subarray(8))).toEqual([30, 0, 30, 0, 30, 0, 30, 0])
    expect(linkLoads(of('allgather-ring', 16), machine, 0)).toMatchObject({
      used: 0,
      mostLoaded: -1,
      meanBytes: 0,
    })
  })

  it('needs no profile, and takes placements and what has been lowered', () => {
    const machine = parseMachine('cluster:nodes=2,cores=2')
    const placement = Int32Array.of(0, 0, 2, 2)
    const schedule = of('allgather-linear', 4)
    const placed = linkLoads(schedule, machine, 5, { placement })
    expect(placed).toEqual(linkLoads(lower(schedule, placement), machine, 5))
    // Two blocks each way.
    expect([...placed.bytes]).toEqual([10, 10, 10, 10])
  })

  it('refuses what is no schedule, other options and machines that are too small', () => {
    const machine = parseMachine('cluster:nodes=2,cores=2')
    const schedule = of('allgather-ring', 5)
    const code = (name: string) => expect.objectContaining({ code: name })
    expect(() => linkLoads(null as never, machine, 1)).toThrow(code('ERR_SIMULATION'))
    expect(() => linkLoads(schedule, machine, 1)).toThrow(code('ERR_MACHINE'))
    expect(() => linkLoads(of('allgather-ring', 4), machine, -1)).toThrow(code('ERR_SIMULATION'))
    expect(() => linkLoads(of('allgather-ring', 4), machine, 1, { place: 1 } as never)).toThrow(
      code('ERR_ARGUMENT'),
    )
  })
})

const countOf = (svg: string, name: string) => elementsOf(svg).filter((element) => element === name).length

const svgOf = (machine: Machine, id: string, options = {}, bytes = 8) => {
  const loads = linkLoads(of(id, machine.firstRank.at(-1)!), machine, bytes)
  return { loads, svg: [...linksSvg(loads, machine, options)].join('') }
}

describe('linksSvg', () => {
  test.each([
    'torus:dims=4',
    'torus:dims=2x3',
    'mesh:dims=5x4',
    'torus:dims=3x1x4',
    'torus:dims=3x3x3,wrap=101',
    'torus:dims=1x1,cores=2',
    'torus:dims=2x2x1x2',
  ])('draws every link of %s once, with its name and bytes', (text) => {
    const machine = parseMachine(text)
    const { loads, svg } = svgOf(machine, 'alltoall-linear')
    expect(countOf(svg, 'path')).toBe(loads.bytes.length)
    const titles = [...svg.matchAll(/<title>([^<]*)<\/title><\/path>/g)].map(([, title]) => title).sort()
    const expected = [...loads.bytes].map(
      (load, link) => `${linkName(machine, link)}: ${load} ${load === 1 ? 'byte' : 'bytes'}`,
    )
    expect(titles).toEqual(expected.map((title) => title.replace('>', '&gt;')).sort())
    expect(svg).not.toContain('left out')
  })

  it('draws all 4,096 links of 8 x 8 x 8 nodes, and says how many of more it leaves out', () => {
    const svg = svgOf(parseMachine('torus:dims=8x8x8'), 'bcast-binomial').svg
    expect(countOf(svg, 'path')).toBe(4096)
    expect(svg.length).toBeLessThan(4096 * 200)
    const more = svgOf(parseMachine('torus:dims=8x8x9'), 'bcast-binomial').svg
    expect(countOf(more, 'path')).toBe(4096)
    expect(more).toContain('512 links of other planes left out')
  })

  it.each([
    ['clos:radix=4,levels=3', 64, 16],
    ['clos:radix=4,levels=3', 5, 16],
    ['cluster:nodes=9,cores=1', 40, 9],
    ['torus:dims=2x2x2x2', 40, 16],
    ['mesh:dims=40x40', 10, 1600],
  ])(
    'of %s has at most %i bars, highest first, and says how many links are left out',
    (text, rows, ranks) => {
      const machine = parseMachine(text)
      const { loads, svg } = svgOf(machine, ranks > 100 ? 'bcast-binomial' : 'allgather-ring', { rows })
      const bars = Math.min(rows, loads.used)
      expect(countOf(svg, 'rect')).toBe(1 + 6 + bars)
      const widths = [...svg.matchAll(/<rect x="240" y="\d+" width="([\d.]+)"/g)].map(([, width]) =>
        Number(width),
      )
      expect(widths).toHaveLength(bars)
      expect(widths).toEqual([...widths].sort((a, b) => b - a))
      const left = (loads.used - bars).toLocaleString('en-US')
      expect(svg.includes(`${left} links left out`)).toBe(loads.used > bars)
      expect(svg).toContain(linkName(machine, loads.mostLoaded).replace('>', '&gt;'))
    },
  )

  it('escapes its title, and shows unused links without bytes', () => {
    for (const text of ['torus:dims=2x2', 'cluster:nodes=4,cores=1']) {
      const { svg } = svgOf(parseMachine(text), 'allgather-ring', { title: 'a < b & "c"' }, 0)
      elementsOf(svg)
      expect(svg).toContain('a &lt; b &amp; &quot;c&quot;')
      expect(svg).toContain('no bytes on 8 links')
      expect(svg).not.toContain('NaN')
    }
  })
})
