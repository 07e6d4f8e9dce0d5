import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { upgradeTo } from '../../../../src/websocket/socket/transport-nodejs.js'
import { AskingMember, begunWorld, worldService } from '../../../support/asking-member.js'
import type { MemorySocket } from '../../../support/memory-socket.js'

/** As one read of the network brings them. */
function sayAtOnce(member: AskingMember, count: number): void {
  const { peer } = member.socket as MemorySocket
  for (let n = 0; n < count; n++) peer.emit('message', { data: '{' })
}

it('a client waits for a few messages of each client that sends many at once', async () => {
  const worlds = worldService()
  const flooding = await Promise.all(Array.from({ length: 20 }, () => AskingMember.greeted(worlds)))
  let answers = 0
  for (const { socket } of flooding) socket.addEventListener('message', () => answers++)
  const healthy = new AskingMember(worlds)
  for (const member of flooding) sayAtOnce(member, 300)
  await healthy.ask('hello', { protocol: 1 })
  expect(answers).toBeLessThan(5 * flooding.length)
  await healthy.ask('watch', {})
  expect(answers).toBeLessThan(10 * flooding.length)
})

it('what a member sent before it closed its socket is handled first', async () => {
  const worlds = worldService()
  const [leaving, staying] = (await begunWorld(worlds, 2)) as [AskingMember, AskingMember]
  sayAtOnce(leaving, 300)
  const own = leaving.socket as MemorySocket
  own.peer.emit('message', { data: '{"id":2000,"kind":"leave"}' })
  own.peer.ended(1000, '')
  expect(worlds.metrics().sockets).toBe(2)
  expect(await staying.event('member')).toMatchObject({ rank: 0, state: 'left' })
  await staying.ask('describe', { comm: 'world' })
  expect(worlds.metrics().sockets).toBe(1)
})

it('messages wait on no socket that is refused', async () => {
  const worlds = worldService()
  const member = await AskingMember.greeted(worlds)
  sayAtOnce(member, 300)
  const { peer } = member.socket as MemorySocket
  peer.ended(1000, '')
  expect(worlds.metrics().sockets).toBe(1)
  await worlds.close()
  expect(worlds.metrics().sockets).toBe(0)
})

it('a socket that sends more messages than may wait is refused', async () => {
  const worlds = worldService()
  const member = await AskingMember.greeted(worlds)
  sayAtOnce(member, 5_000)
  await member.whenClosed()
  expect(member.closed).toMatchObject({ code: 4007 })
})

it('over the network thousands of requests are answered in their order, and the socket closes', async () => {
  const worlds = worldService()
  const server = createServer()
  onTestFinished(() => void server.close())
  const greeted: string[] = []
  const upgrade = upgradeTo((...accepted) => worlds.accept(...accepted), 2 ** 16)
  server.on('upgrade', (request, connection, head) =>
    upgrade(request, connection, head, () => greeted.push(request.url!)),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const dial = async (path: string) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`)
    await once(socket, 'open')
    return socket
  }
  const rude = await dial('/rude')
  rude.send('{"id":1,"kind":"watch"}')
  expect((await once(rude, 'close'))[0]).toBe(4000)
  const socket = await dial('/polite')
  const replies: unknown[] = []
  socket.on('message', (data) => replies.push(JSON.parse(String(data)).reply))
  socket.send('{"id":0,"kind":"hello","protocol":1}')
  for (let id = 1; id < 3_000; id++) socket.send(`{"id":${id},"kind":"watch"}`)
  while (replies.length < 3_000) await once(socket, 'message')
  expect(replies).toEqual(Array.from({ length: 3_000 }, (_, id) => id))
  for (let id = 3_000; id < 6_000; id++) socket.send(`{"id":${id},"kind":"watch"}`)
  socket.close(1000)
  expect((await once(socket, 'close'))[0]).toBe(1000)
  expect(greeted).toEqual(['/polite'])
})
