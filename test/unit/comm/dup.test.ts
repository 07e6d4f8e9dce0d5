import { describe, expect, it } from 'vitest'
import { inWorlds } from '../../support/in-worlds.js'

describe('dup, compare and group', () => {
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
