import { describe, expect, it } from 'vitest'
import { algorithmOf } from '../../../../src/collective/algorithms.js'
import { scheduleOf } from '../../../../src/collective/patterns/schedule-of.js'
import { ScheduleBuilder } from '../../../../src/schedule/builder.js'
import { formatSchedule } from '../../../../src/schedule/file/format-schedule.js'
import { parseSchedule } from '../../../../src/schedule/file/reader.js'
import { opKind } from '../../../../src/schedule/ir.js'
import { withPorts } from '../../../../src/schedule/lower/with-ports.js'
import { verify } from '../../../../src/schedule/verify/verify.js'
import { operationsOf } from '../../../support/operation-list.js'

const sendsOf = (schedule: Parameters<typeof operationsOf>[0], rank: number) =>
  operationsOf(schedule).filter((op) => op.rank === rank && op.kind === opKind.send)

describe('withPorts', () => {
  const alltoall = scheduleOf(algorithmOf('alltoall-linear'), { ranks: 6 })

  it('divides a phase into turns by peer, beginning with the rank after the sender', () => {
    const limited = withPorts(alltoall, 2)
    expect(limited.phases).toBe(3)
    for (let rank = 0; rank < 6; rank++) {
      const sends = sendsOf(limited, rank).map(({ phase, peer, after }) => [
        phase,
        (peer - rank + 6) % 6,
        after,
      ])
      expect(sends.sort()).toEqual([
        [0, 1, -1],
        [0, 2, -1],
        [1, 3, 0],
        [1, 4, 0],
        [2, 5, 1],
      ])
    }
    expect(verify(limited)).toMatchObject({ ok: true, violations: [] })
  })

  it('returns the same schedule where as many ports are enough', () => {
    expect(withPorts(alltoall, 5)).toBe(alltoall)
    for (const id of ['bcast-chain', 'allreduce-tree']) {
      const schedule = scheduleOf(algorithmOf(id), { ranks: 7 })
      expect(withPorts(schedule, 2 ** 16)).toBe(schedule)
    }
  })

  it('limits sends of different phases, which runners start together', () => {
    const bcast = scheduleOf(algorithmOf('bcast-binomial'), { ranks: 16 })
    const sends = (ports: number) =>
      sendsOf(withPorts(bcast, ports), 0).map(({ phase, after }) => [phase, after])
    expect(sends(1)).toEqual([
      [0, -1],
      [1, 0],
      [2, 1],
      [3, 2],
    ])
    expect(sends(3)).toEqual([
      [0, -1],
      [1, -1],
      [2, -1],
      [3, 0],
    ])
  })

  it('keeps waits, specification, topology and parameters, and can be written and read', () => {
    const limited = withPorts(alltoall, 1)
    for (const key of ['specification', 'topology', 'strategy', 'parameters', 'staging'] as const)
      expect(limited[key]).toBe(alltoall[key])
    expect(operationsOf(parseSchedule(formatSchedule(limited)))).toEqual(operationsOf(limited))
    expect(withPorts(limited, 1)).toBe(limited)
    expect(sendsOf(withPorts(limited, 3), 0)).toEqual(sendsOf(limited, 0))
  })

  it('lets ranks send to themselves without a port', () => {
    const { specification } = scheduleOf(algorithmOf('allgather-linear'), { ranks: 2 })
    const builder = new ScheduleBuilder({ specification, strategy: 'by hand' })
    for (const rank of [0, 1]) {
      for (const to of [0, 1]) {
        builder.send(rank, 0, to).add(rank, 0)
        builder.receive(to, 0, rank).add(rank, builder.slot(to, rank))
      }
    }
    const schedule = builder.build()
    expect(withPorts(schedule, 1)).toBe(schedule)
  })

  it('refuses other ports, and schedules with errors', () => {
    const code = (name: string) => expect.objectContaining({ code: name })
    for (const ports of [0, 1.5, 2 ** 16 + 1, Number.NaN, '1' as never])
      expect(() => withPorts(alltoall, ports)).toThrow(code('ERR_ARGUMENT'))
    expect(() => withPorts({} as never, 1)).toThrow(code('ERR_SCHEDULE'))
    const { specification } = alltoall
    const builder = new ScheduleBuilder({ specification, strategy: 'by hand' })
    builder.send(0, 0, 1).add(0, 0)
    expect(() => withPorts(builder.build(), 1)).toThrow(code('ERR_SCHEDULE'))
  })
})
