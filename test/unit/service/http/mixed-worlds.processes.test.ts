import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { WorldInfo } from '../../../../src/client/protocol/worlds.js'
import { AskingMember } from '../../../support/asking-member.js'
import { asking, startService } from '../../../support/service.js'
import { onlyObject } from '../../cli/run-cli.js'
import { spawnCli } from '../../cli/spawn-cli.js'

it('rankweave join brings programs into a world of members that ask, with the token of the world', async () => {
  const token = 'a-token-of-at-least-thirty-two-characters'
  const { service, lines, end } = await startService({ tokens: [token] })
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-mixed-'))
  try {
    const program = join(folder, 'program.mjs')
    writeFileSync(
      program,
      `export default async (world) => {
        const part = await world.split(1)
        await world.barrier()
        return [...(await part.allreduce(Float64Array.of(world.rank), 'sum')), part.size]
      }`,
    )
    const members = await Promise.all([0, 1].map(() => AskingMember.connected(service.url, token)))
    const { world, token: ofWorld } = await members[0].ask('createWorld', { members: 2, programs: 2 })
    await Promise.all(members.map((member) => member.ask('join', { world })))
    const rendezvous = `${service.url.replace('http', 'ws')}/v1/rendezvous`
    const wrong = spawnCli(['join', rendezvous, '--token', token, program])
    const programs = [0, 1].map(() => spawnCli(['join', rendezvous, '--token', ofWorld!, '--json', program]))
    await Promise.all(members.map((member) => member.event('begun')))
    const places = await Promise.all(
      members.map((member) => member.ask('split', { comm: 'world', color: 0 })),
    )
    expect(places.map(({ size }) => size)).toEqual([2, 2])
    await Promise.all(members.map((member) => member.ask('barrier', { comm: 'world' })))
    await Promise.all(members.map((member) => member.ask('leave', {})))
    const answers = await Promise.all(programs)
    expect(answers.map(({ exitCode, stderr }) => (exitCode === 0 ? '' : stderr))).toEqual(['', ''])
    expect(answers.map((answer) => onlyObject(answer))).toMatchObject([
      { ranks: 4, processes: 4, results: [[5, 2]] },
      { ranks: 4, processes: 4, results: [[5, 2]] },
    ])
    // The token of a tenant is none of a world.
    expect(await wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('ERR_TOKEN') })
    expect(lines.join('')).not.toContain(ofWorld)
    for (const { socket } of members) socket.close()
  } finally {
    await end()
    rmSync(folder, { recursive: true })
  }
})

it('a program that is killed is lost to the members that ask and to the programs; all who live shrink the world', async () => {
  const { service, end } = await startService()
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-mixed-'))
  try {
    const program = join(folder, 'program.mjs')
    writeFileSync(
      program,
      `export default async (world) => {
        if (world.rank === 3) {
          console.error('rank 3')
          return new Promise(() => setInterval(() => {}, 2 ** 30))
        }
        const code = await world.barrier().catch((error) => error.code)
        await world.ackFailed()
        const rest = await world.shrink()
        const part = await rest.split(1)
        return [code, rest.rank, rest.size, part.size]
      }`,
    )
    const members = await Promise.all([0, 1].map(() => AskingMember.connected(service.url)))
    const watcher = await AskingMember.connected(service.url)
    await watcher.ask('watch', {})
    const { world, token } = await members[0].ask('createWorld', { members: 2, programs: 2 })
    await Promise.all(members.map((member) => member.ask('join', { world })))
    const rendezvous = `${service.url.replace('http', 'ws')}/v1/rendezvous`
    let killRank3 = () => {}
    const ready = new Promise<void>((resolve) => {
      killRank3 = resolve
    })
    const programs = [0, 1].map(() =>
      spawnCli(['join', rendezvous, '--token', token!, '--json', program], {
        onError: (text, kill) => {
          if (!text.includes('rank 3')) return
          void ready.then(() => kill('SIGKILL'))
        },
      }),
    )
    const answered = Promise.allSettled(programs)
    await Promise.all(members.map((member) => member.event('begun')))
    const pending = members.map((member) => member.ask('barrier', { comm: 'world' }))
    killRank3()
    for (const call of pending) await expect(call).rejects.toMatchObject({ code: 'ERR_PEER_LOST' })
    for (const member of members) {
      expect(await member.event('member')).toMatchObject({ world, rank: 3, state: 'lost' })
      expect(await member.ask('failed', { comm: 'world' })).toEqual({ ranks: [3] })
      await member.ask('ackFailed', { comm: 'world' })
    }
    const { body } = await asking(service).json<{ worlds: WorldInfo[] }>('/v1/worlds')
    expect(body.worlds).toMatchObject([{ id: world, lost: [3], left: [] }])
    const shrunk = await Promise.all(members.map((member) => member.ask('shrink', { comm: 'world' })))
    expect(shrunk.map(({ rank, size }) => [rank, size])).toEqual([
      [0, 3],
      [1, 3],
    ])
    const comm = shrunk[0].comm!
    const parts = await Promise.all(members.map((member) => member.ask('split', { comm, color: 0 })))
    expect(parts.map(({ size }) => size)).toEqual([2, 2])
    const ended = watcher.event('worldEnded')
    await Promise.all(members.map((member) => member.ask('leave', {})))
    const answers = await answered
    expect(answers.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { message: expect.stringContaining('SIGKILL') } },
    ])
    const lived = answers.find((answer) => answer.status === 'fulfilled')!.value
    expect(lived).toMatchObject({ exitCode: 0 })
    expect(onlyObject(lived)).toMatchObject({ results: [['ERR_PEER_LOST', 2, 3, 1]] })
    expect(await ended).toMatchObject({ world })
    for (const { socket } of [...members, watcher]) socket.close()
  } finally {
    await end()
    rmSync(folder, { recursive: true })
  }
})
