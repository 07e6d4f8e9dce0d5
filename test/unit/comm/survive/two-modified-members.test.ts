import { expect, it } from 'vitest'
import { bytesOf } from '../../../../src/base/bytes.js'
import type { Communicator } from '../../../../src/handles/communicator.js'
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

// Of five members, 1 and 3 are modified and act together.
const processes = 5
const pair = [1, 3]
const honest = [0, 2, 4]
const isModified = ({ rank }: Communicator) => pair.includes(rank)
const both = (member: Modified) => ({ 1: member, 3: member })
/** Members of `distributed(world, 2)`: an order that no stride has. */
const inOrder = [0, 3, 1, 4, 2]
const living = inOrder.filter((process) => !pair.includes(process))

it('two that contribute what they cannot are both lost, and the others agree and shrink', async () => {
  const member: Modified = { contribute: (key, own) => (isCall(key) ? own.slice(0, 3) : own) }
  const { ended, lost } = await withModified(processes, both(member), async (world) => {
    if (isModified(world)) return untilLost(world, () => world.agree(1))
    const { code } = await caught(world.agree(1))
    await Promise.all(pair.map((process) => caught(world.recv(process, 1))))
    await world.ackFailed()
    const flag = await world.agree(5)
    const rest = await world.shrink()
    return [code, flag, ...(await membersOf(rest, world))]
  })
  for (const process of honest) expect(ended[process]).toEqual({ result: ['ERR_PEER_LOST', 5, ...honest] })
  expect(lost.map(({ process }) => process).toSorted()).toEqual(pair)
})

it.each([
  ['the same rank of a third member', otherRows(([, worldRank]) => [0, worldRank])],
  ['the rank of each other', otherRows(([rank, worldRank]) => [rank === 1 ? 2 : 1, worldRank])],
  ['other ranks to each survivor', otherRows(([, worldRank], to) => [to === 0 ? 1 : 2, worldRank])],
])('two that name %s have no table differ: the others take the same one', async (_, member) => {
  const { ended, lost } = await withModified(processes, both(member), async (world) => {
    const comm = await distributed(world, 2)
    if (isModified(world)) return untilLost(world, () => comm.shrink())
    const rest = await comm.shrink()
    return membersOf(rest, world)
  })
  for (const process of honest) expect(ended[process]).toEqual({ result: living })
  expect(lost.map(({ process }) => process).toSorted()).toEqual(pair)
})

it('two that commit to the rank of a lost member may have it, but the others have the same table, and their order', async () => {
  const { createHash } = await import('node:crypto')
  // Process 2 is lost, which has the last rank.
  const claimed = (process: number) => [processes - 1, process]
  const memberOf = (process: number): Modified => ({
    ...otherRows(() => claimed(process)),
    contribute: (key, own) => {
      if (!isCall(key) || own.length !== 52) return own
      const digest = createHash('sha256')
        .update(bytesOf(Int32Array.from(claimed(process))))
        .digest()
      return Uint8Array.of(...own.subarray(0, 20), ...digest)
    },
  })
  const { ended, lost } = await withModified(
    processes,
    { 1: memberOf(1), 3: memberOf(3) },
    async (world, kill) => {
      const comm = await distributed(world, 2)
      await caught(world.barrier())
      if (world.rank === 0) kill(2)
      if (isModified(world)) return untilLost(world, () => comm.shrink())
      const rest = await comm.shrink()
      const table = [...(await (await rest.group()).worldRanks())]
      for (const process of pair) if (world.rank === 0) kill(process)
      await Promise.all(pair.map((process) => caught(world.recv(process, 1))))
      await world.ackFailed()
      return table
    },
  )
  expect(lost.map(({ process }) => process)).toEqual([2, 1, 3])
  for (const process of [0, 4]) expect(ended[process]).toEqual({ result: [0, 4, 1, 3] })
})

it('one that names a repeated communicator, and one that says it is new, have the others shrink again together', async () => {
  const first: Modified = { contribute: changedWord(3, 1) }
  const second: Modified = { contribute: (key, own) => (key.endsWith('.id') ? Uint8Array.of(1) : own) }
  const { ended, lost } = await withModified(processes, { 0: first, 3: second }, async (world) => {
    await world.split(world.rank === 0 || world.rank === 2 ? 0 : null, world.rank)
    if (world.rank === 0) return untilLost(world, () => world.shrink())
    const { code, details } = await caught(world.shrink())
    await caught(world.recv(0, 1))
    const rest = await world.shrink()
    return [code, details?.['process'], ...(await membersOf(rest, world))]
  })
  for (const process of [1, 2, 4])
    expect(ended[process]).toEqual({ result: ['ERR_PEER_LOST', 0, 1, 2, 3, 4] })
  expect(lost.map(({ process }) => process)).toEqual([0])
})

it('two that refuse each new name cost at most one other: each shrink that fails has the refuser or the namer lost', async () => {
  const member: Modified = { contribute: (key, own) => (key.endsWith('.id') ? Uint8Array.of(0) : own) }
  const { ended, lost } = await withModified(processes, both(member), async (world) => {
    const refuse = async () => {
      for (let times = 0; times < processes; times++) await caught(world.shrink())
    }
    if (isModified(world)) return untilLost(world, refuse)
    for (;;) {
      const rest = await world.shrink().catch(() => undefined)
      if (rest !== undefined) return membersOf(rest, world)
      // Fails once there is a loss that is not acknowledged.
      await caught(world.recv())
      await world.ackFailed()
    }
  })
  for (const process of [2, 4]) expect(ended[process]).toEqual({ result: [2, 4] })
  expect(lost.map(({ process }) => process)).toEqual([1, 0, 3])
})
