import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { gridCalls } from '../../../src/measure/grid.js'
import { measureCalls } from '../../../src/measure/measure-calls.js'
import { restrictedTo } from '../../../src/measure/meter.js'
import { measuredCall, type WorldMeterOptions, worldMeter } from '../../../src/measure/world-meter.js'
import type { Measurement } from '../../../src/tuning/measured/measurement.js'
import { settingLine } from '../../../src/tuning/settings/setting.js'

const rule = { precision: 0.5, repetitions: 2, budgetMs: 1000 }
const collectives = [
  ...(['barrier', 'bcast', 'scatter', 'gather', 'allgather', 'alltoall'] as const),
  ...(['reduce', 'allreduce', 'reduce-scatter', 'scan', 'exscan'] as const),
]
const options: WorldMeterOptions = {
  source: { kind: 'rankweave', name: 'local', machine: 'here' },
  elementType: 'float64',
  segments: [0, 64],
}
const uneven = local({ processes: 5, nodes: ['a', 'a', 'a', 'b', 'b'] })

describe('the meter of a world', () => {
  it('measures every setting of every collective right, on the largest even spread and parts of it', async () => {
    const main = async (world: Communicator) => {
      const meter = await worldMeter(world, options)
      if (meter === null) return null
      const bytesAndOrders = { bytes: [0, 200], orders: ['tree', 'any'] } as const
      const grid = { ...bytesAndOrders, elementType: 'float64', longestArrayBytes: 2 ** 20 } as const
      const calls = [
        ...gridCalls({ ...grid, collectives, spreads: [{ nodes: 2, processesPerNode: 2 }] }),
        ...gridCalls({
          ...{ ...grid, collectives: ['bcast', 'reduce'] },
          ...{
            spreads: [
              { nodes: 1, processesPerNode: 2 },
              { nodes: 2, processesPerNode: 1 },
            ],
          },
        }),
      ]
      const written: Measurement[] = []
      const counts = await measureCalls(meter, calls, {
        ...{ rule, elementType: 'float64', isMeasured: () => false },
        write: (measurement) => void written.push(measurement),
      })
      await meter.close()
      return { counts, written, spread: meter.spread, calls: calls.length }
    }
    const results = await run(main, { ranks: 5, fabric: uneven })
    const { counts, written, spread, calls } = results[0]!
    expect(spread.members).toEqual([
      [0, 1],
      [3, 4],
    ])
    expect(counts).toMatchObject({ refused: 0, wrong: [], measured: written.length })
    expect(calls).toBe(1 + 5 * 2 + 5 * 2 + 2 * (2 + 2))
    const measured = new Set(written.map(({ collective }) => collective))
    expect([...measured].sort()).toEqual([...collectives].sort())
    for (const { timesUs } of written) expect(timesUs).toHaveLength(2)
    expect(results.slice(1)).toEqual([null, null, null, null])
  })

  it('measures the settings that are named, and no others', async () => {
    const main = async (world: Communicator) => {
      const meter = await worldMeter(world, options)
      if (meter === null) return null
      const texts = ['bcast-chain', 'bcast-knomial:radix=2', 'default']
      const call = { collective: 'bcast', nodes: 1, processesPerNode: 4, bytes: 128 } as const
      const named = restrictedTo(meter, texts).settings(call).map(settingLine)
      await meter.close()
      return named
    }
    const [named] = await run(main, { ranks: 4, processes: 4 })
    expect(named).toEqual([
      ...['default', 'bcast-knomial:radix=2', 'bcast-chain', 'bcast-chain:segment=64'],
      ...['bcast-chain:fanout=2', 'bcast-chain:fanout=2,segment=64'],
    ])
  })
})

describe('the result of a call', () => {
  it.each(collectives.filter((name) => name !== 'barrier'))(
    'of %s is wrong until it was made',
    async (collective) => {
      const main = async (world: Communicator) => {
        const shape = { collective, nodes: 1, processesPerNode: 3, bytes: 16 } as const
        const call = measuredCall(world, shape, 'int32')
        call.clear()
        const before = call.isRight()
        await call.once({})
        return [before, call.isRight()] as const
      }
      const results = await run(main, { ranks: 3, processes: 3 })
      expect(results.some(([before]) => !before)).toBe(true)
      expect(results.map(([, after]) => after)).toEqual([true, true, true])
    },
  )
})
