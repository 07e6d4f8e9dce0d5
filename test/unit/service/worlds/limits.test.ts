import { expect, it } from 'vitest'
import { AskingMember, askAll, begunWorld, worldService } from '../../../support/asking-member.js'
import type { MemorySocket } from '../../../support/memory-socket.js'

const tokens = ['a'.repeat(32), 'b'.repeat(32)] as const
const code = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    (error) => error.code,
  )

it('a wrong token closes the socket, and a first message that is no hello', async () => {
  const worlds = worldService({}, tokens)
  const wrong = new AskingMember(worlds)
  wrong.say({ id: 1, kind: 'hello', protocol: 1, token: 'c'.repeat(32) })
  expect(await wrong.event('refused')).toMatchObject({ error: { code: 'ERR_TOKEN' } })
  await wrong.whenClosed()
  expect(wrong.closed).toMatchObject({ code: 4001 })
  const rude = new AskingMember(worlds)
  rude.say({ id: 1, kind: 'barrier', comm: 'world' })
  expect(await rude.event('refused')).toMatchObject({ error: { code: 'ERR_PROTOCOL' } })
  const old = new AskingMember(worlds)
  old.say({ id: 1, kind: 'hello', protocol: 7, more: true })
  expect(await old.event('refused')).toMatchObject({ error: { code: 'ERR_VERSION_MISMATCH' } })
})

it('tenants neither see nor join nor name worlds of each other', async () => {
  const worlds = worldService({}, tokens)
  const [a, b] = [
    await AskingMember.greeted(worlds, tokens[0]),
    await AskingMember.greeted(worlds, tokens[1]),
  ]
  const { world } = await a.ask('createWorld', { members: 1, name: 'same' })
  expect(await code(b.ask('join', { world }))).toBe('ERR_NOT_FOUND')
  expect(await b.ask('watch', {})).toEqual({ worlds: [] })
  await b.ask('createWorld', { members: 2, name: 'same' })
  await a.ask('join', { world })
  await a.event('begun')
  expect(b.events.filter(({ event }) => event === 'world' && JSON.stringify(event).includes(world))).toEqual(
    [],
  )
  expect(worlds.list({ id: 'local' })).toEqual([])
})

it('messages that are replayed or malformed are refused, and the member continues', async () => {
  const worlds = worldService()
  const [member] = (await begunWorld(worlds, 1)) as [AskingMember]
  const barrier = { id: 100, kind: 'barrier', comm: 'world' }
  member.say('{')
  expect(await member.event('refused')).toMatchObject({ id: null, error: { code: 'ERR_PROTOCOL' } })
  member.say('[[[[[[1]]]]]]')
  expect(await member.event('refused')).toMatchObject({ id: null, error: { code: 'ERR_PROTOCOL' } })
  member.say(' '.repeat(2 ** 16 + 1))
  expect(await member.event('refused')).toMatchObject({ id: null, error: { code: 'ERR_MESSAGE_TOO_LARGE' } })
  member.say({ ...barrier, id: 1 })
  expect(await member.event('refused')).toMatchObject({ id: 1, error: { code: 'ERR_REPLAYED' } })
  expect(await code(member.ask('barrier', { comm: '7.7' }))).toBe('ERR_NOT_FOUND')
  expect(await code(member.ask('barrier', { comm: '__proto__' }))).toBe('ERR_PROTOCOL')
  expect(await code(member.ask('free', { comm: 'world' }))).toBe('ERR_ARGUMENT')
  expect(await code(member.ask('join', { name: 'other', members: 1 }))).toBe('ERR_WORLD')
  await member.ask('barrier', { comm: 'world' })
})

it('calls in flight, communicators, worlds, members, sockets and messages are limited', async () => {
  const worlds = worldService({
    maxCallsInFlight: 2,
    maxCommunicators: 2,
    maxWorlds: 2,
    maxMembers: 4,
    maxSockets: 5,
    maxMessagesPerSecond: 50,
  })
  const [first, second] = (await begunWorld(worlds, 2)) as [AskingMember, AskingMember]
  const pending = [first.ask('barrier', { comm: 'world' }), first.ask('barrier', { comm: 'world' })]
  expect(await code(first.ask('barrier', { comm: 'world' }))).toBe('ERR_LIMIT')
  // It can still ask what is lost.
  expect(await first.ask('failed', { comm: 'world' })).toEqual({ ranks: [] })
  await Promise.all([...pending, ...[1, 2].map(() => second.ask('barrier', { comm: 'world' }))])
  await askAll([first, second], 'dup', { comm: 'world' })
  expect(await code(first.ask('dup', { comm: 'world' }))).toBe('ERR_LIMIT')
  // The name is that of `--limits`.
  await expect(second.ask('createWorld', { members: 5 })).rejects.toThrow(/world \(members\)$/)
  await second.ask('createWorld', { members: 2, name: 'x' })
  expect(await code(second.ask('createWorld', { members: 2, name: 'x' }))).toBe('ERR_WORLD')
  expect(await code(second.ask('createWorld', { members: 2 }))).toBe('ERR_LIMIT')
  const others = await Promise.all(Array.from({ length: 3 }, () => AskingMember.greeted(worlds)))
  const beyond = new AskingMember(worlds)
  expect(await beyond.event('refused')).toMatchObject({ error: { code: 'ERR_LIMIT' } })
  for (let n = 0; n < 60; n++) others[0].say('{')
  await others[0].whenClosed()
  expect(others[0].closed).toMatchObject({ code: 4007 })
  await others[1].ask('watch', {})
})

it('a tenant takes only its share of the sockets', async () => {
  const worlds = worldService({ maxTenantSockets: 2 }, tokens)
  const [first] = await Promise.all([1, 2].map(() => AskingMember.greeted(worlds, tokens[0])))
  const third = new AskingMember(worlds)
  third.say({ id: 1, kind: 'hello', protocol: 1, token: tokens[0] })
  expect(await third.event('refused')).toMatchObject({ error: { code: 'ERR_LIMIT' } })
  await third.whenClosed()
  expect(third.closed).toMatchObject({ code: 4007 })
  await AskingMember.greeted(worlds, tokens[1])
  first.socket.close()
  await first.whenClosed()
  await AskingMember.greeted(worlds, tokens[0])
})

it('a member that does not read is lost, and its world continues', async () => {
  const worlds = worldService({ maxBufferedBytes: 1_000 })
  const [slow, other] = (await begunWorld(worlds, 2)) as [AskingMember, AskingMember]
  ;(slow.socket as MemorySocket).reads = false
  for (let n = 0; n < 20; n++) slow.say({ id: 1_000 + n, kind: 'describe', comm: 'world' })
  expect(await other.event('member')).toMatchObject({ rank: 0, state: 'lost' })
})

it('members on many sockets that read nothing are lost when they all together have too much, and one that reads is not', async () => {
  const worlds = worldService({ maxUnreadBytes: 4_000 })
  const members = await begunWorld(worlds, 6)
  const [reading, ...silent] = members as AskingMember[]
  for (const { socket } of silent) (socket as MemorySocket).reads = false
  for (let n = 0; n < 20; n++)
    for (const each of silent) each.say({ id: 1_000 + n, kind: 'describe', comm: 'world' })
  expect(await reading!.event('member')).toMatchObject({ state: 'lost' })
  const unread = silent.reduce((bytes, { socket }) => bytes + socket.bufferedAmount, 0)
  expect(unread).toBeLessThan(4_000)
  await reading!.ask('describe', { comm: 'world' })
})

it('a named world is made by the first that joins; one whose members all went away is gone', async () => {
  const worlds = worldService()
  const [a, b, c] = await Promise.all([1, 2, 3].map(() => AskingMember.greeted(worlds)))
  expect(await code(a.ask('join', { name: 'n' }))).toBe('ERR_NOT_FOUND')
  expect(await code(a.ask('join', {}))).toBe('ERR_ARGUMENT')
  await a.ask('join', { name: 'n', members: 2 })
  expect(await code(b.ask('join', { name: 'n', members: 3 }))).toBe('ERR_WORLD')
  expect(await code(a.ask('barrier', { comm: 'world' }))).toBe('ERR_WORLD')
  await b.ask('join', { name: 'n' })
  expect([(await a.event('begun')).rank, (await b.event('begun')).rank]).toEqual([0, 1])
  expect(await code(c.ask('join', { name: 'n' }))).toBe('ERR_WORLD_FULL')
  await c.ask('join', { name: 'm', members: 2 })
  expect(worlds.metrics().worlds).toBe(2)
  await c.ask('leave', {})
  expect(worlds.metrics().worlds).toBe(1)
  await c.ask('createWorld', { members: 2 })
  const gone = c.whenClosed()
  c.socket.close()
  await gone
  expect(worlds.metrics().worlds).toBe(1)
})
