import { describe, expect, it } from 'vitest'
import { parseMachine } from '../../../src/machine/machine-text.js'
import { predictExchanges } from '../../../src/spmm/fastest-exchange.js'
import { buildTopology } from '../../../src/topology/files/topology-from-spec.js'

describe('predictExchanges', () => {
  it.each([
    [8, expect.any(Number)],
    [1025, null],
  ])('of %i ranks: an ordinary allgather takes %s', (ranks, timeUs) => {
    const machine = parseMachine(`cluster:nodes=${ranks},cores=1,profile=simgrid-fast`)
    const predicted = predictExchanges(buildTopology(`er:${ranks}:d=${1 / ranks}:seed=1`), machine, 8, {
      kind: 'routed',
    })
    expect(predicted.map(({ name }) => name.replace(/auto: .*/, 'auto'))).toEqual([
      ...['planned', 'auto', 'direct', 'ordinary allgather'],
    ])
    expect(predicted.at(-1)).toEqual({ name: 'ordinary allgather', timeUs })
  })
})
