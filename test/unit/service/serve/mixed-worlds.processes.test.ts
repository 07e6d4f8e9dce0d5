import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { AskingMember } from '../../../support/asking-member.js'
import { startService } from '../../../support/service.js'
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
    const { world, token: ofWorld } = await members[0]!.ask('createWorld', { members: 2, programs: 2 })
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
