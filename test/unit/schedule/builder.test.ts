import { opKind, verify } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { isRankweaveError } from '../../../src/errors.js'
import { maxPhases } from '../../../src/schedule/builder.js'
import { countMessages, forEachOperation, operationsOfRank } from '../../../src/schedule/walk.js'
import { builderFor, topologyOf } from './fixtures.js'

describe('ScheduleBuilder', () => {
  test('sorts operations by rank, phase and kind and keeps the order of opening otherwise', () => {
    const topology = topologyOf(2, '0 1, 0 1')
    const builder = builderFor(topology, 2)
    builder.receive(1, 1, 0, 7).add(0, 2)
    builder.receive(1, 1, 0, 5).add(0, 1)
    builder.send(0, 1, 1, 5).add(0, 0)
    builder.send(0, 0, 1, 7).add(0, 0)
    const schedule = builder.build()
    const seen: string[] = []
    forEachOperation(schedule, (op, rank, phase) => {
      const entry = schedule.entryStart[op]
      seen.push(
        [rank, phase, schedule.opKind[op], schedule.opPeer[op], schedule.opTag[op]].join(' ') +
          ` | ${schedule.entryFrom[entry]} ${schedule.entryTo[entry]}`,
      )
    })
    expect(seen).toEqual([
      `0 0 ${opKind.send} 1 7 | 0 -1`,
      `0 1 ${opKind.send} 1 5 | 0 -1`,
      `1 1 ${opKind.receive} 0 7 | -1 2`,
      `1 1 ${opKind.receive} 0 5 | -1 1`,
    ])
    expect(operationsOfRank(schedule, 1)).toEqual([2, 4])
    expect(countMessages(schedule)).toEqual({ messages: 2, blocks: 2 })
  })

  test('builds the same schedule in any order of ranks', () => {
    const topology = topologyOf(3, '0 1, 1 2, 2 0')
    const build = (order: readonly number[]) => {
      const builder = builderFor(topology, 1)
      for (const rank of order) builder.send(rank, 0, (rank + 1) % 3, 2).add(rank, 0)
      for (const rank of order) builder.receive(rank, 0, (rank + 2) % 3, 2).add((rank + 2) % 3, 1)
      return builder.build()
    }
    expect(build([2, 0, 1])).toEqual(build([0, 1, 2]))
    expect(verify(build([2, 0, 1]))).toMatchObject({ ok: true, count: 0 })
  })

  test('has a column of waits where an operation waits, in the order of the operations', () => {
    const topology = topologyOf(2, [[0, 1]])
    const build = (reversed: boolean, waits: boolean) => {
      const builder = builderFor(topology, 3)
      for (const phase of reversed ? [2, 1, 0] : [0, 1, 2]) {
        builder.send(0, phase, 1).after(waits ? phase - 1 : -1)
        builder.receive(1, phase, 0)
        if (waits && phase === 2) builder.after(0)
      }
      return builder.build()
    }
    expect(build(false, false).opAfter).toEqual(new Int32Array(0))
    expect(build(false, true).opAfter).toEqual(Int32Array.of(-1, 0, 1, -1, -1, 0))
    expect(build(true, true)).toEqual(build(false, true))
    expect(verify(build(true, true), topology).violations.map(({ code }) => code)).toEqual(['slot-missing'])
  })

  test('refuses waits of copies, and waits that are not for earlier phases', () => {
    const builder = builderFor(topologyOf(2, [[0, 1]]), 3)
    const refusal = (message: string) => expect.objectContaining({ code: 'ERR_SCHEDULE', message })
    const wanted = (phase: number, got: unknown) =>
      refusal(`expected a phase before the ${phase} of an open send or receive, got ${got}`)
    expect(() => builder.after(0)).toThrow(wanted(0, 0))
    expect(() => builder.send(0, 1, 1).after(1)).toThrow(wanted(1, 1))
    expect(() => builder.send(0, 1, 1).after(0.5)).toThrow(wanted(1, 0.5))
    expect(() => builder.copy(0, 2).after(0)).toThrow(wanted(2, 0))
  })

  test('numbers places: own, then slots, then temporary ones', () => {
    const builder = builderFor(topologyOf(2, [[0, 1]]), 1)
    expect(builder.slot(1, 0)).toBe(1)
    expect([builder.stage(1, 3), builder.stage(1), builder.stage(0)]).toEqual([2, 5, 1])
    expect(builder.build().staging).toEqual(Int32Array.of(1, 4))
  })

  test('holds four million entries', () => {
    const ranks = 1024
    const builder = builderFor(topologyOf(ranks, []), 1)
    for (let rank = ranks - 1; rank >= 0; rank--) {
      builder.copy(rank, 0)
      for (let i = 0; i < 4096; i++) builder.add(rank, 0, i)
    }
    const schedule = builder.build()
    expect(schedule.entryBlock.length).toBe(ranks * 4096)
    expect(schedule.entryBlock[5 * 4096]).toBe(5)
  })

  test('builds a schedule without phases, and one without ranks', () => {
    expect(verify(builderFor(topologyOf(3, []), 0).build()).ok).toBe(true)
    expect(verify(builderFor(topologyOf(0, []), 2).build()).ok).toBe(true)
  })

  test.each([
    ['rank', () => builderFor(topologyOf(2, []), 1).copy(2, 0)],
    ['phase', () => builderFor(topologyOf(2, []), 1).copy(0, maxPhases)],
    ['peer', () => builderFor(topologyOf(2, []), 1).send(0, 0, -1, 0)],
    ['source', () => builderFor(topologyOf(2, []), 1).receive(0, 0, 2, 0)],
    ['number of phases', () => builderFor(topologyOf(2, []), -1)],
  ])('rejects a wrong %s', (_, build) => {
    let thrown: unknown
    try {
      build()
    } catch (error) {
      thrown = error
    }
    expect(isRankweaveError(thrown, 'ERR_SCHEDULE')).toBe(true)
  })
})
