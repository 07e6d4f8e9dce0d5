import { buildTopology, topologyFromEdges } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { mostPeers, strategiesToTry } from '../../../src/spmm/fastest-exchange.js'

const dense = buildTopology('er:64:d=0.5:seed=1')
const ring = buildTopology('moore:64:r=1')
/** Consecutive ranks on as many processes. */
const on = (processes: number) =>
  Int32Array.from({ length: 64 }, (_, rank) => Math.floor((rank * processes) / 64))

describe('mostPeers', () => {
  it.each([1, 2, 4, 64])('counts each of %i processes once, and never the own one', (processes) => {
    const out = Array.from({ length: processes }, () => new Set<number>())
    const into = Array.from({ length: processes }, () => new Set<number>())
    const processOf = on(processes)
    for (let rank = 0; rank < 64; rank++) {
      for (const other of dense.outRank.subarray(dense.outStart[rank], dense.outStart[rank + 1])) {
        if (processOf[other] === processOf[rank]) continue
        out[processOf[rank]].add(processOf[other])
        into[processOf[other]].add(processOf[rank])
      }
    }
    expect(mostPeers(dense, processOf)).toBe(Math.max(...[...out, ...into].map(({ size }) => size)))
  })

  it('regards processes that receive from many', () => {
    const hub = topologyFromEdges(4, { sources: [1, 2, 3], destinations: [0, 0, 0] })
    expect(mostPeers(hub, Int32Array.of(0, 1, 2, 3))).toBe(3)
  })
})

describe('strategiesToTry', () => {
  it.each([1, 2, 4])('%i processes exchange so few frames that nothing is combined', (processes) => {
    expect(strategiesToTry(dense, on(processes))).toEqual([])
  })

  it('few peers are sent to directly, however many processes there are', () => {
    expect(strategiesToTry(ring, on(64))).toEqual([])
  })

  it.each([8, 64])('on %i processes that all exchange something, combining is tried', (processes) => {
    expect(strategiesToTry(dense, on(processes)).map(({ kind }) => kind)).toEqual([
      ...['routed', 'routed', 'allgather', 'common-neighbor', 'common-neighbor'],
    ])
  })
})
