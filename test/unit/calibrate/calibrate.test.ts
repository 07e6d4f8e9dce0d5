import { local, run, type VirtualCosts, VirtualTime } from 'rankweave'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../../src/base/random.js'
import {
  type Calibration,
  calibrate,
  calibratedRanksPerProcess,
  figureOf,
} from '../../../src/calibrate/calibrate.js'
import { calibratedProfile } from '../../../src/calibrate/calibrated-profile.js'
import type { MessageTables } from '../../../src/machine/profile.js'
import { formatProfile, parseProfile } from '../../../src/machine/profile-file.js'

/** Measures a world in virtual time, where nothing but what is injected takes time. */
async function measured(
  time: VirtualTime,
  nodes: readonly string[],
  sizesBytes: readonly number[] = [1024, 49_152],
): Promise<Calibration> {
  const stopwatchOf = (process: number) => ({
    nowNs: () => time.nowNs(process),
    compute: (durationNs: number) => time.compute(process, durationNs),
  })
  const options = { runs: 3, sampleMs: 0, samplesPerRun: 2, iterations: 2, sizesBytes, stopwatchOf }
  const results = await run((world) => calibrate(world, options), {
    ranks: calibratedRanksPerProcess * nodes.length,
    fabric: local({ nodes, virtualTime: time }),
  })
  return results[0]!
}

const node: VirtualCosts = {
  latencyNs: 900,
  sendOverheadNs: 250,
  receiveOverheadNs: 400,
  gapNs: 700,
  nsPerByte: 0.5,
}
const network: VirtualCosts = {
  latencyNs: 21_000,
  sendOverheadNs: 1500,
  receiveOverheadNs: 1100,
  gapNs: 3000,
  nsPerByte: 8,
}

const costs = (level: Calibration['node']) =>
  level === null
    ? null
    : Object.fromEntries(Object.entries(level).map(([key, { median }]) => [key, Number(median.toFixed(6))]))

describe('calibration recovers what the fabric injects', () => {
  test('inside a node and between nodes', async () => {
    const result = await measured(new VirtualTime({ node, network }), ['a', 'b', 'a'])
    expect(costs(result.node)).toEqual(node)
    expect(costs(result.network)).toEqual(network)
    expect([result.copyBlockNs.median, result.reduceNsPerByte.median]).toEqual([0, 0])
  })

  test('whatever it is; a gap that is no longer than an overhead has no effect and is 0', async () => {
    const random = seededRandom(3)
    for (let draw = 0; draw < 4; draw++) {
      const drawn: VirtualCosts = {
        latencyNs: Math.floor(random() * 50_000),
        sendOverheadNs: 1 + Math.floor(random() * 3000),
        receiveOverheadNs: 1 + Math.floor(random() * 3000),
        gapNs: Math.floor(random() * 6000),
        nsPerByte: Math.floor(random() * 100) / 8,
      }
      const { node } = await measured(new VirtualTime({ node: drawn }), ['a', 'a'])
      const isHidden = drawn.gapNs <= 1.1 * Math.max(drawn.sendOverheadNs, drawn.receiveOverheadNs)
      expect(costs(node)).toEqual({ ...drawn, gapNs: isHidden ? 0 : drawn.gapNs })
    }
  })
})

/** The tables of a calibration, medians. */
function tables(measuredTables: Calibration['nodeTables']): MessageTables {
  const { sizesBytes, latencyNs, gapNs, sendOverheadNs, receiveOverheadNs } = measuredTables!
  const exact = ({ median }: { readonly median: number }) => Number(median.toFixed(6))
  return {
    sizesBytes,
    latencyNs: exact(latencyNs),
    gapNs: gapNs.map(exact),
    sendOverheadNs: sendOverheadNs.map(exact),
    receiveOverheadNs: receiveOverheadNs.map(exact),
  }
}

describe('calibration recovers PLogP', () => {
  test('that the fabric injects, at every length', async () => {
    const plogp: MessageTables = {
      latencyNs: 4000,
      sizesBytes: [8, 256, 4096, 32_768, 49_152],
      gapNs: [2500, 2700, 9000, 30_000, 60_000],
      sendOverheadNs: [900, 950, 2000, 2500, 20_000],
      receiveOverheadNs: [1100, 1300, 3000, 15_000, 16_000],
    }
    const far = { ...plogp, latencyNs: -500, gapNs: [7000, 7001, 20_000, 21_000, 99_000] }
    const time = new VirtualTime({ node: { ...node, plogp }, network: { ...network, plogp: far } })
    const result = await measured(time, ['a', 'b', 'a'], plogp.sizesBytes.slice(1))
    expect(tables(result.nodeTables)).toEqual(plogp)
    expect(tables(result.networkTables)).toEqual(far)
  })

  test('of an injected LogGP: table 4.1', async () => {
    const result = await measured(new VirtualTime({ node }), ['a', 'a'])
    const gap = (bytes: number) => node.gapNs + (bytes - 8) * node.nsPerByte
    expect(tables(result.nodeTables)).toEqual({
      sizesBytes: [8, 1024, 49_152],
      latencyNs: 900 + 250 + 400 + 8 * 0.5 - 700,
      gapNs: [700, gap(1024), gap(49_152)],
      sendOverheadNs: [250, 250, 250],
      receiveOverheadNs: [400, 400, 400],
    })
    expect(result.networkTables).toBeNull()
  })
})

const figure = (median: number) => ({ median, low: median, high: median })

test('a profile holds the medians; levels that were not measured are assumed', () => {
  const nodeFigures = {
    latencyNs: figure(900.123),
    sendOverheadNs: figure(250),
    receiveOverheadNs: figure(400),
    gapNs: figure(0),
    nsPerByte: figure(0.123456),
  }
  const nodeTables = {
    sizesBytes: [8, 1024],
    latencyNs: figure(-12.345678),
    gapNs: [figure(700), figure(1000.49)],
    sendOverheadNs: [figure(250), figure(300)],
    receiveOverheadNs: [figure(400), figure(500)],
  }
  const memory = { copyBlockNs: figure(7), copyNsPerByte: figure(0.05), reduceNsPerByte: figure(0.2) }
  const label = { name: 'here', source: 'a test', eagerLimitBytes: 65_536 }
  const profile = calibratedProfile(
    { runs: 3, node: nodeFigures, network: null, nodeTables, networkTables: null, ...memory },
    label,
  )
  const expected = {
    latencyNs: 900.1,
    sendOverheadNs: 250,
    receiveOverheadNs: 400,
    gapNs: 0,
    nsPerByte: 0.1235,
    plogp: {
      sizesBytes: [8, 1024],
      latencyNs: -12.35,
      gapNs: [700, 1000],
      sendOverheadNs: [250, 300],
      receiveOverheadNs: [400, 500],
    },
  }
  expect(profile.levels.node).toEqual(expected)
  expect(profile.levels.network).toEqual(expected)
  expect(profile.levels.process.latencyNs).toBe(0)
  expect(profile.memory).toEqual({ copyBlockNs: 7, copyNsPerByte: 0.05, reduceNsPerByte: 0.2 })
  expect([profile.provenance, profile.exceptions['levels.network']?.provenance]).toEqual([
    'measured',
    'assumed',
  ])
  expect(profile.exceptions['levels.node']).toBeUndefined()
  const far = calibratedProfile(
    { runs: 3, node: null, network: nodeFigures, nodeTables: null, networkTables: nodeTables, ...memory },
    label,
  )
  expect(far.levels.node).toEqual(expected)
  expect(far.exceptions['levels.node']?.provenance).toBe('assumed')
  expect(far.exceptions['levels.network']).toBeUndefined()
})

test('a figure is the median and the quartiles', () => {
  expect(figureOf([5, 1, 3, 2, 4])).toEqual({ median: 3, low: 2, high: 4 })
  expect(figureOf([1, 2])).toEqual({ median: 1.5, low: 1.25, high: 1.75 })
})

test('a profile has tables that do not fall: noise is averaged, and g is no less than an overhead', () => {
  const of = (values: readonly number[]) => values.map(figure)
  const nodeTables = {
    sizesBytes: [8, 256, 1024, 4096],
    latencyNs: figure(1),
    gapNs: of([300, 0, 600, 500]),
    sendOverheadNs: of([100, 200, 100, 900]),
    receiveOverheadNs: of([50, 50, 50, 50]),
  }
  const one = figure(1)
  const node = { latencyNs: one, sendOverheadNs: one, receiveOverheadNs: one, gapNs: one, nsPerByte: one }
  const memory = { copyBlockNs: one, copyNsPerByte: one, reduceNsPerByte: one }
  const calibration = { runs: 3, node, network: null, nodeTables, networkTables: null, ...memory }
  const profile = calibratedProfile(calibration, { name: 'here', source: 'a test', eagerLimitBytes: 1 })
  expect(profile.levels.node.plogp).toMatchObject({
    gapNs: [150, 150, 550, 900],
    sendOverheadNs: [100, 150, 150, 900],
  })
  expect(parseProfile(formatProfile(profile))).toEqual(profile)
})
