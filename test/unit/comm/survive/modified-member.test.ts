import { describe, expect, it } from 'vitest'
import {
  caught,
  changedWord,
  distributed,
  isCall,
  type Modified,
  membersOf,
  otherRows,
  untilLost,
  withModified,
} from '../../../support/modified-members.js'

const [modified, last] = [1, 3]
const processes = last + 1
const honest = [0, 2, 3]

/** Members of `distributed(world, 3)` that live. */
const inOrder = [0, 3, 2]

describe('a member that contributes what it cannot to a call of survivors is lost, and only that one:', () => {
  it.each<[string, NonNullable<Modified['contribute']>, string]>([
    ['three bytes', (key, own) => (isCall(key) ? own.slice(0, 3) : own), 'expected 20 bytes, got 3'],
    ['a rank that it does not host', changedWord(4, 2), 'expected a rank that it hosts or -1, got 2'],
  ])('%s', async (_, contribute, fault) => {
    const { ended, lost } = await withModified(processes, { [modified]: { contribute } }, async (world) => {
      if (world.rank === modified) return untilLost(world, () => world.agree(7))
      const { code, details } = await caught(world.agree(7))
      // Fails once the loss is known here.
      await caught(world.recv(modified, 1))
      await world.ackFailed()
      const second = await world.agree(world.rank === 0 ? 3 : 7)
      const rest = await world.shrink()
      return [code, details?.['process'], second, await membersOf(rest, world)]
    })
    for (const process of honest)
      expect(ended[process]).toEqual({ result: ['ERR_PEER_LOST', modified, 3, honest] })
    expect(lost).toEqual([
      { process: modified, reason: expect.stringContaining(`a contribution of process 1: ${fault}`) },
    ])
  })

  it.each<[string, number, number]>([
    ['no name of the communicator', 3, 0],
    ['a negative one', 3, -1],
  ])('%s', async (_, at, value) => {
    const contribute = changedWord(at, value)
    const { ended, lost } = await withModified(processes, { [modified]: { contribute } }, async (world) => {
      if (world.rank === modified) return untilLost(world, () => world.shrink())
      const rest = await world.shrink()
      return membersOf(rest, world)
    })
    for (const process of honest) expect(ended[process]).toEqual({ result: honest })
    expect(lost.map(({ process }) => process)).toEqual([modified])
  })
})

describe('a member that sends rows that it cannot have when survivors shrink is lost, and only that one:', () => {
  it.each<[string, Modified]>([
    ['a rank twice', otherRows(([rank, world]) => [rank, world, rank, world])],
    ['the rank of another one', otherRows(([, world]) => [0, world])],
    ['a world rank of another one', otherRows(([rank]) => [rank, 0])],
    ['other rows to one of them', otherRows((own, to) => (to === 0 ? [2, own[1]] : own))],
    ['a rank of one to another', otherRows((own, to) => (to === 3 ? [1, own[1]] : own))],
  ])('%s', async (_, member) => {
    const { ended, lost } = await withModified(processes, { [modified]: member }, async (world) => {
      const comm = await distributed(world, 3)
      if (world.rank === modified) return untilLost(world, () => comm.shrink())
      const rest = await comm.shrink()
      return [rest.rank, ...(await membersOf(rest, world))]
    })
    for (const process of honest)
      expect(ended[process]).toEqual({ result: [inOrder.indexOf(process), ...inOrder] })
    expect(lost).toEqual([
      { process: modified, reason: expect.stringContaining('rows of survivors of process 1: expected') },
    ])
  })
})

describe('process 0, which names the communicator of survivors,', () => {
  it.each([
    ['all of them', [0, 1, 2, 3]],
    ['one of them', [0, 2]],
  ])('is lost when it gives the name of one that %s have, and all shrink again', async (_, members) => {
    const { ended, lost } = await withModified(
      processes,
      { 0: { contribute: changedWord(3, 1) } },
      async (world) => {
        await world.split(members.includes(world.rank) ? 0 : null, world.rank)
        if (world.rank === 0) return untilLost(world, () => world.shrink())
        const { code, details } = await caught(world.shrink())
        await caught(world.recv(0, 1))
        const rest = await world.shrink()
        return [code, details?.['process'], ...(await membersOf(rest, world))]
      },
    )
    for (const process of [1, 2, 3]) expect(ended[process]).toEqual({ result: ['ERR_PEER_LOST', 0, 1, 2, 3] })
    expect(lost).toEqual([
      { process: 0, reason: expect.stringContaining('has given the name of another communicator') },
    ])
  })
})
