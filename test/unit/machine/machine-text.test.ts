import {
  builtInProfiles,
  figuresOf,
  formatMachine,
  formatProfile,
  nodeOf,
  parseProfile,
} from 'rankweave/machine'
import { describe, expect, test } from 'vitest'
import { outlinedMachine, parseMachine } from '../../../src/machine/machine-text.js'
import { nodeOfOutline } from '../../../src/machine/nodes.js'
import { refusal } from '../../support/refusal.js'
import { thrown } from '../topology/thrown.js'

describe('parseMachine reads, formatMachine writes', () => {
  test.each([
    ['cluster:nodes=103,cores=40', 'cluster:nodes=103,cores=40'],
    ['cluster:cores=40+40+16', 'cluster:cores=2x40+16'],
    ['cluster:cores=102x40+16', 'cluster:cores=102x40+16'],
    ['cluster:cores=8', 'cluster:nodes=1,cores=8'],
    ['cluster:cores=2x8+3x8', 'cluster:nodes=5,cores=8'],
    ['cluster:cores=8+4+8', 'cluster:cores=8+4+8'],
    ['cluster:cores=8,nodes=2', 'cluster:nodes=2,cores=8'],
    ['cluster:nodes=16,cores=40,packages=2', 'cluster:nodes=16,cores=40,packages=2'],
    ['cluster:nodes=16,cores=20/20', 'cluster:nodes=16,cores=40,packages=2'],
    ['cluster:nodes=16,cores=20/12', 'cluster:nodes=16,cores=20/12'],
    ['cluster:cores=2x20/20+8/8', 'cluster:cores=2x40+16,packages=2'],
    ['cluster:cores=40+16,packages=2', 'cluster:cores=40+16,packages=2'],
    ['cluster:cores=2x20/20+16', 'cluster:cores=2x20/20+16'],
    ['cluster:nodes=16,cores=16,profile=simgrid-fast', 'cluster:nodes=16,cores=16,profile=simgrid-fast'],
    ['cluster:profile=simgrid-slow,cores=3+2', 'cluster:cores=3+2,profile=simgrid-slow'],
    ['cluster:nodes=3,cores=2x4+2', 'cluster:cores=2x4+2'],
    ['torus:dims=8x8x16', 'torus:dims=8x8x16,cores=1'],
    ['torus:dims=4x4,cores=16,packages=2', 'torus:dims=4x4,cores=16,packages=2'],
    ['torus:dims=2x2,cores=4+4+2x1', 'torus:dims=2x2,cores=2x4+2x1'],
    ['torus:dims=8x8x4,wrap=110,cores=2', 'torus:dims=8x8x4,wrap=110,cores=2'],
    ['torus:dims=8x8,wrap=11', 'torus:dims=8x8,cores=1'],
    ['torus:dims=8x8,wrap=00', 'mesh:dims=8x8,cores=1'],
    ['mesh:dims=5,profile=simgrid-fast', 'mesh:dims=5,cores=1,profile=simgrid-fast'],
    ['clos:radix=36,levels=1', 'clos:radix=36,levels=1,nodes=36,cores=1'],
    ['clos:radix=4,levels=2', 'clos:radix=4,levels=2,nodes=8,cores=1'],
    ['clos:radix=4,levels=3', 'clos:radix=4,levels=3,nodes=16,cores=1'],
    ['clos:radix=40,levels=2,taper=4,nodes=1024', 'clos:radix=40,levels=2,taper=4,nodes=1024,cores=1'],
    ['clos:taper=10:6,radix=8,levels=2', 'clos:radix=8,levels=2,taper=5:3,nodes=40,cores=1'],
    ['clos:radix=4,levels=2,nodes=3,cores=2x4/4+2', 'clos:radix=4,levels=2,nodes=3,cores=2x4/4+2'],
    ['cluster:ports=1,nodes=2,cores=2', 'cluster:nodes=2,cores=2,ports=1'],
    ['torus:dims=8x8x16,profile=bluegene-p,ports=6', 'torus:dims=8x8x16,cores=1,ports=6,profile=bluegene-p'],
    ['mesh:dims=3,ports=65536', 'mesh:dims=3,cores=1,ports=65536'],
    ['clos:radix=4,levels=2,ports=2', 'clos:radix=4,levels=2,nodes=8,cores=1,ports=2'],
    [
      'cluster:inside=network,latency=25us,nodes=2,profile=boba,cores=2,bandwidth=2.5Gbit',
      'cluster:nodes=2,cores=2,profile=boba,latency=25us,bandwidth=2.5Gbit,inside=network',
    ],
  ])('%s is written as %s', (text, canonical) => {
    const machine = parseMachine(text)
    expect(formatMachine(machine)).toBe(canonical)
    const { outline } = outlinedMachine(text)
    const cores = machine.firstRank.at(-1)!
    expect([outline.cores, outline.nodes]).toEqual([cores, machine.cores.length])
    for (const ranks of [0, 1, cores - 1, cores])
      expect(nodeOfOutline(outline, ranks)).toEqual(nodeOf(machine, ranks))
    const message = `expected at least ${cores + 1} cores for ${cores + 1} ranks, got ${cores}`
    for (const lay of [() => nodeOfOutline(outline, cores + 1), () => nodeOf(machine, cores + 1)])
      expect(thrown(lay)).toMatchObject({ code: 'ERR_MACHINE', message })
    expect(parseMachine(canonical)).toEqual(machine)
  })

  test("figures of one's own network replace those of the profile, and say who gave them", () => {
    const text = 'cluster:nodes=2,cores=2,profile=boba,latency=25us,bandwidth=10Gbit,inside=network'
    const { profile } = parseMachine(text)
    const { network, node, package: inPackage, process } = profile!.levels
    const { latencyNs, sendOverheadNs, receiveOverheadNs, nsPerByte } = network
    expect(latencyNs + sendOverheadNs + receiveOverheadNs).toBeCloseTo(25_000)
    // The profile's own 30.4 and 8.15 us.
    expect(latencyNs / sendOverheadNs).toBeCloseTo(30.4 / 8.15)
    expect([nsPerByte, profile!.hop.nsPerByte]).toEqual([0.8, 0.8])
    expect([node, inPackage]).toEqual([network, network])
    expect(process).toEqual(builtInProfiles.find(({ name }) => name === 'boba')!.levels.process)
    const origins = new Map(figuresOf(profile!).map(({ path, origin }) => [path, origin.provenance]))
    expect(
      [
        'levels.network.latencyNs',
        'levels.network.nsPerByte',
        'levels.node.latencyNs',
        'levels.node.nsPerByte',
      ].map((path) => origins.get(path)),
    ).toEqual(['given', 'given', 'given', 'given'])
    expect(parseProfile(formatProfile(profile!))).toEqual(profile)
  })

  test.each(builtInProfiles.map(({ name }) => name))('%s takes them', (name) => {
    const { profile } = parseMachine(
      `cluster:nodes=2,cores=2,profile=${name},latency=1.5ms,bandwidth=100MB,inside=network`,
    )
    expect(figuresOf(profile!).every(({ value }) => value >= 0)).toBe(true)
    expect(profile!.levels.network.nsPerByte).toBeCloseTo(10)
  })

  test.each([
    ['latency=25us', "character 25: expected 'profile=NAME' beside it, got '25us'"],
    ['profile=boba,latency=25', "character 38: expected latency=25us, in ns, us, ms, got '25'"],
    ['profile=boba,latency=0us', "character 38: expected latency=25us, in ns, us, ms, got '0us'"],
    [
      'profile=boba,bandwidth=10Gbps',
      "character 40: expected bandwidth=10Gbit, in Mbit, Gbit, MB, GB, got '10Gbps'",
    ],
    ['profile=boba,inside=sockets', "character 37: expected inside=network, got 'sockets'"],
  ])('%s is refused', (clauses, reason) => {
    expect(thrown(() => parseMachine(`cluster:cores=4,${clauses}`)).message).toContain(reason)
  })

  test('a machine without ports has no such field, as before there were any', () => {
    for (const text of ['cluster:nodes=2,cores=2', 'torus:dims=2', 'clos:radix=4,levels=2'])
      expect(parseMachine(text)).not.toHaveProperty('ports')
    expect(parseMachine('torus:dims=2,ports=4').ports).toBe(4)
  })

  test('the profile is the built-in one of that name, or one that is handed in', () => {
    const text = 'cluster:nodes=2,cores=2,profile=mine'
    const mine = { ...builtInProfiles[0], name: 'mine' }
    expect(parseMachine('cluster:nodes=1,cores=1,profile=simgrid-fast').profile).toBe(builtInProfiles[0])
    expect(parseMachine(text, { profiles: [mine] }).profile).toBe(mine)
    expect(formatMachine(parseMachine(text, { profiles: [mine] }))).toBe(text)
    expect(parseMachine('cluster:nodes=1,cores=1').profile).toBeNull()
  })

  test.each([
    ['', "character 1: expected 'cluster:', 'torus:', 'mesh:', 'clos:', got the end"],
    ['grid:4x4', "character 1: expected 'cluster:', 'torus:', 'mesh:', 'clos:', got 'grid:4x4'"],
    ['cluster:', "character 9: expected 'nodes=N,cores=C' or 'cores=C+C+...', got the end"],
    ['cluster:nodes=3', "character 9: expected 'nodes=N,cores=C'"],
    ['cluster:nodes=3,cores=x', "character 23: expected a number of cores such as '40'"],
    ['cluster:nodes=3,cores=4,', "character 25: expected a clause such as 'cores=40', got the end"],
    ['cluster:nodes=3,cores=4,nodes=3', "character 25: expected 'nodes' once"],
    ['cluster:nodes=3,cores=4,depth=3', "character 25: expected no clause 'depth'"],
    ['cluster:nodes=0,cores=4', 'character 15: expected an integer from 1 to 16777216'],
    ['cluster:nodes=1e3,cores=4', 'character 15: expected an integer from 1 to 16777216'],
    ['cluster:nodes=3,cores=4+4', "character 23: expected cores of 3 nodes, got '4+4'"],
    ['torus:cores=4', "character 7: expected 'dims=8x8x8', got 'cores=4'"],
    ['torus:dims=8x', "character 12: expected extents such as '8x8x8'"],
    ['torus:dims=8x0', 'character 12: dimension 1: expected at least 1 node, got 0'],
    ['torus:dims=99999x99999', 'character 12: expected at most 16777216 nodes, got more up to dimension 1'],
    ['torus:dims=4096x4096x2', 'character 12: expected at most 16777216 nodes, got more up to dimension 2'],
    ['torus:dims=2097152', 'character 12: expected routes of at most 65536 links, got 1048578'],
    [`torus:dims=${Array(25).fill(1).join('x')}`, 'expected 1 to 24 dimensions, got 25'],
    ['torus:dims=8x8,wrap=1', 'character 21: expected 2 digits, 1 for a dimension that wraps'],
    ['mesh:dims=8x8,wrap=11', "character 15: expected no clause 'wrap'"],
    ['torus:dims=2x2,nodes=4', "character 16: expected no clause 'nodes'"],
    ['torus:dims=2x2,cores=1+2', 'character 22: expected cores of 4 nodes'],
    ['torus:dims=2x2,packages=2', "character 25: expected 'cores=C' with packages"],
    ['torus:dims=4096x4096,cores=2', 'character 28: expected at most 16777216 cores in all'],
    ['clos:levels=2', "character 6: expected 'radix=R,levels=L'"],
    ['clos:radix=4', "character 6: expected 'levels=L'"],
    ['clos:radix=1,levels=2', 'character 12: expected an integer from 2 to 65536'],
    ['clos:radix=5,levels=2', 'character 6: expected a taper that divides 5 ports'],
    ['clos:radix=9,levels=3,taper=2', 'character 12: expected an even radix for 3 levels'],
    ['clos:radix=8,levels=1,taper=3', 'character 29: expected no taper where there is one level'],
    [
      'clos:radix=8,levels=2,taper=0',
      "character 29: expected ports down for each port up, such as '4' or '5:3'",
    ],
    ['clos:radix=8,levels=2,taper=2', 'character 29: expected a taper that divides 8 ports'],
    ['clos:radix=4,levels=2,nodes=9', 'character 29: expected at most 8 nodes below this tree, got 9'],
    ['clos:radix=1024,levels=3', 'character 12: expected at most 16777216 nodes'],
    ['cluster:cores=', 'character 15: expected a number of cores'],
    ['cluster:cores=4+', 'character 17: expected a number of cores'],
    ['cluster:cores=4+4x+4', "character 19: expected a number of cores such as '40', of packages '20/20'"],
    ['cluster:cores=99999999x1', 'character 15: expected at most 16777216 nodes'],
    ['cluster:cores=99999999', 'character 15: expected at most 16777216 cores'],
    ['cluster:cores=4+0', 'node 1: expected at least 1 core, got 0'],
    ['cluster:cores=0x4', 'at least 1 node'],
    ['cluster:cores=4+5,packages=2', 'character 28: expected a divisor of 5 cores'],
    ['cluster:cores=4/4,packages=2', "character 28: expected packages either here or as '/' in cores"],
    ['cluster:cores=4,packages=0', 'character 26: expected an integer from 1 to 1024'],
    ['cluster:nodes=2,cores=2,ports=0', 'character 31: expected an integer from 1 to 65536'],
    ['torus:dims=2,ports=65537', 'character 20: expected an integer from 1 to 65536'],
    ['clos:radix=4,levels=2,ports=', 'character 29: expected an integer from 1 to 65536'],
    [
      'cluster:nodes=2,cores=2,profile=fast',
      'character 33: expected one of the profiles simgrid-fast, simgrid-slow, niagara',
    ],
  ])("rejects '%s'", (text, message) => {
    expect(() => parseMachine(text)).toThrow(refusal('ERR_MACHINE', message))
  })
})

test.each([
  ['clauses', `cluster:${'cores=1,'.repeat(2 ** 18)}`],
  ['cores', `cluster:cores=${'1+'.repeat(2 ** 20)}1`],
  ['packages', `cluster:cores=${'1/'.repeat(3e6)}1`],
  ['extents', `torus:dims=${'1x'.repeat(3e6)}1`],
])('a text of too many %s is refused by its length', (_, text) => {
  const message = `expected a machine's text of at most 1048576 characters, got ${text.length}`
  expect(() => parseMachine(text)).toThrowError(expect.objectContaining({ code: 'ERR_MACHINE', message }))
})

test.each([
  ['packages', `cluster:cores=${'1/'.repeat(2 ** 19 - 10)}1`],
  ['extents', `torus:dims=${'1x'.repeat(2 ** 19 - 10)}1`],
  ['letters', `cluster:cores=${'y'.repeat(2 ** 19)}`],
])('a message about long %s has their beginning', (_, text) => {
  const error = thrown(() => parseMachine(text))
  expect(error.code).toBe('ERR_MACHINE')
  expect(error.message.length + JSON.stringify(error.details).length).toBeLessThan(1200)
})
