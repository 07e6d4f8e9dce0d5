import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { WorldInfo } from '../../../../src/client/protocol/worlds.js'
import { AskingMember } from '../../../support/asking-member.js'
import { asking, startService } from '../../../support/service.js'
import { onlyObject } from '../../cli/run-cli.js'
import { spawnCli } from '../../cli/spawn-cli.js'

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
