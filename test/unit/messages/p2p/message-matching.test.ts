import { ANY_SOURCE, RankweaveError } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { codeOf, drained, onEveryRank, openWorld } from './point-to-point-world.js'

describe('message matching with many entries', () => {
  const many = 10_000

  it.each([1, 2])('finds unexpected messages by tag in any order, on %i processes', async (processes) => {
    await onEveryRank({ ranks: 2, processes }, async (comm) => {
      if (comm.rank === 0) {
        for (let tag = 0; tag < many; tag++) await comm.send(Int32Array.of(tag), 1, tag)
        await comm.send(Int32Array.of(-1), 1, many)
        return
      }
      await comm.recv(0, many)
      for (let tag = many - 1; tag >= 0; tag--) {
        const { data } = await comm.recv<Int32Array>(tag % 2 === 0 ? 0 : ANY_SOURCE, tag)
        if (data[0] !== tag) expect(data[0]).toBe(tag)
      }
      expect(await comm.iprobe()).toBeNull()
    })
  })
})

describe('more pending operations than a call takes arguments', () => {
  const many = 150_000

  it('are listed, and fail with the error of their communicator, also when a process is lost', async () => {
    const world = await openWorld({ ranks: 3, processes: 3, creditBytes: 0 })
    const [a, b] = world.comms
    const receives = Array.from({ length: many }, (_, tag) => a.irecv(1, tag))
    const nothing = new Int8Array(0)
    const sends = Array.from({ length: 1000 }, () => b.isend(nothing, 0, many))
    const waiting = [receives.at(-1)!.wait(), sends.at(-1)!.wait()].map(codeOf)
    await drained(world)
    expect(world.states.map(({ matching }) => matching.awaited().length)).toEqual([1, 1, 0])
    world.session.kill(2)
    await drained(world)
    expect(receives[0].pending.settled || sends[0].pending.settled).toBe(false)
    const error = new RankweaveError('ERR_REVOKED', 'revoked')
    for (const state of world.states) state.fail(error)
    for (const { pending } of [...receives, ...sends])
      if (pending.failure !== error) expect(pending.failure).toBe(error)
    expect(await Promise.all(waiting)).toEqual(['ERR_REVOKED', 'ERR_REVOKED'])
    await world.session.close()
  })
})

describe('a rank table whose look-ups return promises', () => {
  it('keeps the order of sends while a look-up is pending', async () => {
    for (const processes of [1, 2]) {
      const world = await openWorld({ ranks: 2, processes })
      const [state] = world.states
      let answer: (worldRank: number) => void = () => {}
      let asked = 0
      const lookup = (rank: number) => {
        if (rank === 0) return 0
        // Only the first question is answered late; a send that asks again would overtake.
        return asked++ === 0 ? new Promise<number>((resolve) => (answer = resolve)) : 1
      }
      Object.defineProperty(state, 'table', {
        value: { ...state.table, kind: 'distributed', size: 2, lookup },
      })
      const [sender, receiver] = world.comms
      const sends = Array.from({ length: 5 }, (_, n) => sender.isend(Int32Array.of(n), 1, 7))
      const cancelled = sender.isend('never', 1, 7)
      cancelled.cancel()
      await expect(cancelled.wait()).rejects.toMatchObject({ code: 'ERR_ABORTED' })
      const receives = Array.from({ length: 3 }, () => receiver.irecv<Int32Array>(0, 7))
      sends.push(sender.isend(Int32Array.of(5), 1, 7))
      answer(1)
      for (let n = 3; n < 6; n++) receives.push(receiver.irecv<Int32Array>(0, 7))
      for (const [n, receive] of receives.entries()) expect((await receive.wait()).data[0]).toBe(n)
      for (const send of sends) await send.wait()
      await world.session.close()
    }
  })

  it('fails a waiting send whose buffer is detached, before anything is sent', async () => {
    for (const processes of [1, 2]) {
      for (const eagerLimitBytes of [0, 1000]) {
        const world = await openWorld({ ranks: 2, processes, eagerLimitBytes })
        let answer: (worldRank: number) => void = () => {}
        const lookup = (rank: number) =>
          rank === 0 ? 0 : new Promise<number>((resolve) => (answer = resolve))
        Object.defineProperty(world.states[0], 'table', { value: { kind: 'distributed', size: 2, lookup } })
        const data = new Float64Array(10)
        const send = world.comms[0].isend(data, 1)
        structuredClone(data.buffer, { transfer: [data.buffer] })
        answer(1)
        expect(await codeOf(send.wait())).toBe('ERR_TYPE')
        await drained(world)
        expect(await world.comms[1].iprobe()).toBeNull()
        expect(world.runtimes[0].credit.outstanding(processes - 1).inFlightBytes).toBe(0)
        await world.session.close()
      }
    }
  })
})
