import { algorithms, type Collective } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { parseAlgorithm } from '../../../../src/collective/algorithm-text.js'
import { ownSettings } from '../../../../src/tuning/settings/own-settings.js'
import { settingLine } from '../../../../src/tuning/settings/setting.js'
import type { TuningCall } from '../../../../src/tuning/settings/tuning-call.js'

const call = (
  collective: Collective,
  processes: number,
  bytes: number,
  order?: 'tree' | 'any',
): TuningCall => ({
  ...{ collective, nodes: 1, processesPerNode: processes, bytes },
  ...(order === undefined ? {} : { order, operation: 'sum' }),
})
const lines = (...args: Parameters<typeof ownSettings>) => ownSettings(...args).map(settingLine)

describe('settings of the library that serve a call', () => {
  it('have every algorithm that serves it, each line once, and every line is one of the algorithm', () => {
    const collectives = [...new Set(algorithms.map(({ collective }) => collective))]
    for (const collective of collectives) {
      for (const processes of [2, 3, 8]) {
        const found = lines(call(collective, processes, 65_536, 'any'), [0, 8192])
        expect(new Set(found).size).toBe(found.length)
        for (const line of found)
          expect(parseAlgorithm(line, collective).algorithm.collective).toBe(collective)
        const serving = algorithms.filter(
          (one) => one.collective === collective && (one.refuses?.({ ranks: processes }) ?? null) === null,
        )
        for (const { id } of serving) expect(found).toContain(id)
      }
    }
  })

  it('leave out algorithms that refuse the number of processes', () => {
    expect(lines(call('allgather', 3, 8), [0])).not.toContain('allgather-recursive-doubling')
    expect(lines(call('allgather', 4, 8), [0])).toContain('allgather-recursive-doubling')
    expect(lines(call('allgather', 4, 8), [0])).not.toContain('allgather-two-proc')
  })

  it('leave out algorithms that combine in another order than the call needs', () => {
    expect(lines(call('allreduce', 4, 64, 'tree'), [0])).not.toContain('allreduce-ring')
    expect(lines(call('allreduce', 4, 64, 'tree'), [0])).toContain('allreduce-tree')
    expect(lines(call('allreduce', 4, 64, 'any'), [0])).toContain('allreduce-ring')
  })

  it('cut data into segments that are shorter than the data, where that changes anything', () => {
    const found = lines(call('bcast', 4, 16_384), [0, 8192, 65_536])
    expect(found).toContain('bcast-chain:segment=8192')
    expect(found).not.toContain('bcast-chain:segment=65536')
    expect(found).not.toContain('bcast-scatter-allgather:segment=8192')
  })

  it('try parameters that differ from defaults and make a difference among the processes', () => {
    const found = lines(call('bcast', 4, 8), [0])
    expect(found).toContain('bcast-chain:fanout=2')
    expect(found).not.toContain('bcast-chain:fanout=1')
    expect(found).not.toContain('bcast-chain:fanout=4')
    expect(lines(call('bcast', 16, 8), [0])).toContain('bcast-chain:fanout=8')
  })
})
