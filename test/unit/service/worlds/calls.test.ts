import { expect, it } from 'vitest'
import { type AskingMember, askAll, begunWorld, worldService } from '../../../support/asking-member.js'

const tenant = { id: 'local' }

it('a watcher sees the tree of communicators, as members make and free them', async () => {
  const worlds = worldService({ watchMs: 1 })
  const members = await begunWorld(worlds, 4)
  const watching = await members[0].ask('watch', {})
  expect(watching.worlds).toMatchObject([
    { state: 'running', joined: 4, communicators: [{ id: 'world', size: 4 }] },
  ])
  const [{ comm }] = await Promise.all(
    members.map((member, rank) =>
      member.ask('create', { comm: 'world', ranks: rank === 1 ? [] : [3, 0, 2] }),
    ),
  )
  const three = [0, 2, 3].map((rank) => members[rank])
  const [dup] = await askAll(three, 'dup', { comm: comm! })
  await expect(members[0].ask('lookup', { comm: comm!, rank: 3 })).rejects.toMatchObject({ code: 'ERR_RANK' })
  await expect(members[0].ask('create', { comm: 'world', ranks: [0, 0] })).rejects.toMatchObject({
    code: 'ERR_RANK',
    message: expect.stringMatching(/^create.ranks: expected distinct ranks, got .*0,\s?0/),
  })
  const tree = () => worlds.list(tenant)[0].communicators
  expect(tree()).toEqual([
    { id: 'world', parent: null, operation: 'world', color: null, size: 4, worldRanks: [0, 1, 2, 3] },
    { id: comm, parent: 'world', operation: 'create', color: null, size: 3, worldRanks: [3, 0, 2] },
    { id: dup.comm, parent: comm, operation: 'dup', color: null, size: 3, worldRanks: [3, 0, 2] },
  ])
  await askAll(three, 'free', { comm: comm! })
  expect(tree().map(({ id, parent }) => [id, parent])).toEqual([
    ['world', null],
    [dup.comm, 'world'],
  ])
  expect(await members[0].event('world')).toMatchObject({ event: 'world' })
})

it('calls that differ fail on all ranks, and the world continues', async () => {
  const worlds = worldService()
  const members = (await begunWorld(worlds, 2)) as [AskingMember, AskingMember]
  const dups = await askAll(members, 'dup', { comm: 'world' })
  const comm = dups[0].comm!
  const errors = await Promise.all([
    members[0].ask('barrier', { comm }).catch((error) => error),
    members[1].ask('split', { comm, color: 0 }).catch((error) => error),
  ])
  expect(errors.map(({ code }) => code)).toContain('ERR_COLLECTIVE_MISMATCH')
  // A member has no options of a program.
  for (const { message } of errors) expect(message).not.toContain('diagnose')
  await askAll(members, 'barrier', { comm: 'world' })
})

it('what is made while its parent is freed is a child of the nearest that is not', async () => {
  const worlds = worldService()
  const members = await begunWorld(worlds, 2)
  const halves = await askAll(members, 'split', { comm: 'world', color: 0 })
  const comm = halves[0].comm!
  // All at once: the communicator is freed before the other one is there.
  const made = members.map((member) => [member.ask('dup', { comm }), member.ask('free', { comm })] as const)
  const [dup] = await Promise.all(made.map(([dup]) => dup))
  await Promise.all(made.map(([, freed]) => freed))
  expect(worlds.list(tenant)[0].communicators).toMatchObject([
    { id: 'world', parent: null },
    { id: dup.comm, parent: 'world', operation: 'dup' },
  ])
})
