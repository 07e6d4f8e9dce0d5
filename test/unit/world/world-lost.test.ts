import { type Communicator, RankweaveError } from 'rankweave'
import { expect, it } from 'vitest'
import { hostSession } from '../../../src/world/world.js'
import { MemoryWorld } from '../../support/memory-membership.js'
import { coded } from '../../support/on-ranks.js'

const outcomes = (world: MemoryWorld, main: (world: Communicator) => Promise<unknown>) =>
  world.sessions.map((session) =>
    hostSession(session, main, { ranks: world.sessions.length }).then(
      (results) => ({ results }),
      (error: unknown) => ({ error }),
    ),
  )

const lost = () => new RankweaveError('ERR_WORLD_LOST', 'the rendezvous is lost')

it('a world whose rendezvous is lost fails at every process with ERR_WORLD_LOST, pending operations too', async () => {
  const world = await MemoryWorld.open(3)
  const codes: unknown[] = []
  let waiting = 0
  const ran = outcomes(world, async (comm) => {
    await comm.barrier()
    const pending = comm.recv(comm.rank)
    if (++waiting === comm.size) for (const member of world.members) member.loseWorld(lost())
    await pending.catch((error: RankweaveError) => codes.push(error.code))
    await comm.barrier().catch((error: RankweaveError) => codes.push(error.code))
  })
  expect(await Promise.all(ran)).toEqual([1, 2, 3].map(() => ({ error: coded('ERR_WORLD_LOST') })))
  expect(codes).toEqual(Array(6).fill('ERR_WORLD_LOST'))
})

it('a process that is aborted after it has returned, while another fails, gets the error that was decided on', async () => {
  const world = await MemoryWorld.open(2)
  const abort = new AbortController()
  let fail!: (error: Error) => void
  const failure = new Promise<never>((_, reject) => {
    fail = reject
  })
  let returned!: () => void
  const hasReturned = new Promise<void>((resolve) => {
    returned = resolve
  })
  const main = async (comm: Communicator) => {
    if (comm.rank === 1) await failure
    else returned()
  }
  const ran = world.sessions.map((session, process) =>
    hostSession(session, main, { ranks: 2, ...(process === 0 ? { signal: abort.signal } : {}) }).then(
      () => 'returned',
      (error: Error) => error.message,
    ),
  )
  await hasReturned
  await new Promise((resolve) => setImmediate(resolve))
  abort.abort(new Error('by the user'))
  fail(new Error('of rank 1'))
  expect(await Promise.all(ran)).toEqual(
    ['of rank 1', 'of rank 1'].map(() => expect.stringContaining('of rank 1')),
  )
})
