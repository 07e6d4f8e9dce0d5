import { describe, expect, it } from 'vitest'
import { ANY_SOURCE, ANY_TAG } from '../../../src/messages/mailboxes/envelope.js'
import { inWorlds } from '../../support/in-worlds.js'

describe('dup, compare and group', () => {
  it('dup isolates messages: those of one communicator never match receives of another', () =>
    inWorlds(async (world) => {
      const [a, b] = [await world.dup(), await world.dup()]
      const next = (world.rank + 1) % world.size
      const sent = [world, b, a].map((comm, i) => comm.isend(Int32Array.of(i, world.rank), next, 7))
      for (const [comm, mark] of [
        [a, 2],
        [world, 0],
        [b, 1],
      ] as const) {
        const { data } = await comm.recv<Int32Array>(ANY_SOURCE, ANY_TAG)
        expect([...data]).toEqual([mark, (world.rank + world.size - 1) % world.size])
        await world.barrier()
        expect(await comm.iprobe()).toBeNull()
      }
      for (const request of sent) await request.wait()
    }))

  it('compare distinguishes ident, congruent, similar and unequal', () =>
    inWorlds(async (world) => {
      const copy = await world.dup()
      const reversed = await world.split(0, -world.rank)
      const some = await world.split(world.rank < 2 ? 0 : 1)
      expect(await world.compare(world)).toBe('ident')
      expect(await world.compare(copy)).toBe('congruent')
      expect(await world.compare(reversed)).toBe(world.size === 1 ? 'congruent' : 'similar')
      expect(await world.compare(some)).toBe(world.size <= 2 ? 'congruent' : 'unequal')
      expect(await (await world.group()).compare(await copy.group())).toBe('ident')
    }))

  it('group returns the same object on every call', () =>
    inWorlds(async (world) => {
      expect(await world.group()).toBe(await world.group())
    }))
})
