import { countHyperedges, mooreTopology, topologyFromEdges } from 'rankweave/topology'
import { expect, test } from 'vitest'
import { refusal } from '../../../support/refusal.js'

const full = (sources: number, destinations: number) =>
  topologyFromEdges(sources + destinations, {
    sources: Array.from({ length: sources * destinations }, (_, e) => Math.floor(e / destinations)),
    destinations: Array.from({ length: sources * destinations }, (_, e) => sources + (e % destinations)),
  })

test('countHyperedges counts every set of k senders to the same ranks, at every member', () => {
  const topology = full(6, 3)
  for (const [k, total] of [
    [2, 15],
    [3, 20],
    [4, 15],
    [6, 1],
    [7, 0],
    [2 ** 20, 0],
  ]) {
    const counted = countHyperedges(topology, { k, theta: 2 })
    expect(counted).toMatchObject({ kind: 'counted', total, meanPerRank: (total * k) / 9 })
    if (counted.kind !== 'counted') return
    expect([...counted.perRank]).toEqual(Array.from({ length: 9 }, (_, r) => (r < 6 ? (total * k) / 6 : 0)))
  }
})

test('countHyperedges ignores sets with exactly theta common neighbors', () => {
  expect(countHyperedges(full(4, 3), { k: 2, theta: 3 })).toMatchObject({ kind: 'counted', total: 0 })
})

test('countHyperedges reports a reason and no number beyond the work limit', () => {
  const topology = mooreTopology({ dims: [16, 16], radius: 3 })
  const whole = countHyperedges(topology, { k: 4, theta: 12 })
  expect(whole).toMatchObject({ kind: 'counted', total: (5492 * 256) / 4 })
  for (const workLimit of [0, 1, 1_000, 1_000_000]) {
    const stopped = countHyperedges(topology, { k: 4, theta: 12, workLimit })
    expect(stopped).toEqual({ kind: 'beyond-limit', reason: expect.stringContaining(`${workLimit} steps`) })
  }
})

test.each([
  [{ k: 1, theta: 0 }, /k, an integer from 2 to 1048576, got 1/],
  [{ k: 2.5, theta: 0 }, /got 2.5/],
  [{ k: 2, theta: -1 }, /theta, an integer from 0 to 2147483647, got -1/],
  [{ k: 2, theta: 0.5 }, /got 0.5/],
  [{ k: 2, theta: 0, nodeOf: new Int32Array(2) }, /each of 3 ranks, got 2/],
])('countHyperedges rejects %j', (options, message) => {
  expect(() => countHyperedges(full(2, 1), options)).toThrow(refusal('ERR_STRATEGY', message))
})
