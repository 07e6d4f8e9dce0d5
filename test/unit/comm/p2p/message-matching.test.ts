import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Entry, EntryList } from '../../../../src/matching/entry-list.js'
import { ANY_SOURCE, ANY_TAG } from '../../../../src/matching/wildcards.js'
import { onEveryRank, openWorld } from './point-to-point-world.js'

class TestEntry implements Entry {
  readonly source: number
  readonly tag: number
  order = 0
  listed = false
  previous: Entry | undefined = undefined
  next: Entry | undefined = undefined
  constructor(source: number, tag: number) {
    this.source = source
    this.tag = tag
  }
}

const fits = (a: TestEntry, source: number, tag: number) =>
  (a.source === source || a.source === ANY_SOURCE || source === ANY_SOURCE) &&
  (a.tag === tag || a.tag === ANY_TAG || tag === ANY_TAG)

describe('entry lists', () => {
  it.each(['messages', 'patterns'] as const)('of %s give the earliest match, short or long', (holds) => {
    const source = fc.integer({ min: -1, max: 4 })
    const tag = fc.oneof(fc.integer({ min: -1, max: 4 }), fc.constant(0x7fffffff))
    const step = fc.record({ add: fc.integer({ min: 0, max: 9 }), take: fc.boolean(), source, tag })
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 400, size: 'max' }),
        fc.integer({ min: 2, max: 7 }),
        (steps, growth) => {
          const list = new EntryList<TestEntry>(holds)
          let model: TestEntry[] = []
          for (const { add, take, source, tag } of steps) {
            const exact = (value: number) => Math.max(0, value)
            if (add < growth) {
              const entry =
                holds === 'messages' ? new TestEntry(exact(source), exact(tag)) : new TestEntry(source, tag)
              list.add(entry)
              model.push(entry)
              continue
            }
            const query = holds === 'messages' ? { source, tag } : { source: exact(source), tag: exact(tag) }
            const found = list.find(query.source, query.tag)
            expect(found).toBe(model.find((entry) => fits(entry, query.source, query.tag)))
            const leaving = take ? found : model[add % (model.length + 1)]
            if (leaving === undefined) continue
            list.remove(leaving)
            model = model.filter((entry) => entry !== leaving)
            expect(list.size).toBe(model.length)
          }
          expect([...list]).toEqual(model)
        },
      ),
      { numRuns: 120 },
    )
  })

  it('may lose the entry an iteration is at', () => {
    const list = new EntryList<TestEntry>('messages')
    for (let tag = 0; tag < 40; tag++) list.add(new TestEntry(0, tag))
    for (const entry of list) if (entry.tag % 2 === 0) list.remove(entry)
    expect([...list].map(({ tag }) => tag)).toEqual(Array.from({ length: 20 }, (_, i) => 2 * i + 1))
  })
})

describe('many messages', () => {
  const many = 10_000

  it.each([1, 2])(
    'that nobody expected are found by tag in any order, on %i processes',
    async (processes) => {
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
    },
  )

  it.each([1, 2])('find receives that were posted in any order, on %i processes', async (processes) => {
    await onEveryRank({ ranks: 2, processes }, async (comm) => {
      if (comm.rank === 0) {
        const receives = Array.from({ length: many }, (_, n) => comm.irecv<Int32Array>(1, many - 1 - n))
        await comm.send(null, 1, 0)
        for (const [n, receive] of receives.entries()) {
          const { data } = await receive.wait()
          if (data[0] !== many - 1 - n) expect(data[0]).toBe(many - 1 - n)
        }
        return
      }
      await comm.recv(0, 0)
      for (let tag = 0; tag < many; tag++) await comm.send(Int32Array.of(tag), 0, tag)
    })
  })
})

describe('a rank table that answers later', () => {
  it('does not let a send overtake one that waits for its look-up', async () => {
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
      Object.defineProperty(state!, 'table', {
        value: { ...state!.table, kind: 'distributed', size: 2, lookup },
      })
      const [sender, receiver] = world.comms
      const sends = Array.from({ length: 5 }, (_, n) => sender!.isend(Int32Array.of(n), 1, 7))
      const cancelled = sender!.isend('never', 1, 7)
      cancelled.cancel()
      await expect(cancelled.wait()).rejects.toMatchObject({ code: 'ERR_ABORTED' })
      const receives = Array.from({ length: 3 }, () => receiver!.irecv<Int32Array>(0, 7))
      sends.push(sender!.isend(Int32Array.of(5), 1, 7))
      answer(1)
      for (let n = 3; n < 6; n++) receives.push(receiver!.irecv<Int32Array>(0, 7))
      for (const [n, receive] of receives.entries()) expect((await receive.wait()).data[0]).toBe(n)
      for (const send of sends) await send.wait()
      await world.session.close()
    }
  })

  it('fails the sends that wait for it when it fails', async () => {
    const world = await openWorld({ ranks: 2, processes: 2 })
    const lookup = (rank: number) => (rank === 0 ? 0 : Promise.reject(new Error('no answer')))
    Object.defineProperty(world.states[0]!, 'table', { value: { size: 2, lookup } })
    const send = world.comms[0]!.isend(1, 1)
    await expect(send.wait()).rejects.toThrow('no answer')
    await world.session.close()
  })
})
