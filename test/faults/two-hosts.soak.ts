import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { compiled } from '../support/compiled.js'
import { hostWorld, joinWorld, printedOnLocal } from '../support/faults/host-programs.js'
import { whyNoHosts, withTwoHosts } from '../support/faults/two-hosts.js'

const missing = whyNoHosts()
if (missing !== undefined) console.warn(`tests of two hosts are skipped: ${missing}`)

describe.skipIf(missing !== undefined)('a world on two hosts', () => {
  const program = compiled('faults/two-hosts-program.ts')

  it('passes conformance', async () => {
    await withTwoHosts(async ({ hosts: [near, far] }) => {
      const world = await hostWorld(near, '-n', '5', '--processes', '2')
      const joined = [near, far].map((host) => joinWorld(host, world, program, [], ['conformance']))
      const ended = await Promise.all(joined.map((each) => each.ended))
      expect(
        ended.map(({ code }) => code),
        ended.map(({ stderr }) => stderr).join('\n'),
      ).toEqual([0, 0])
      expect(ended.map(({ stdout }) => stdout).join('')).toMatch(/passed \d\d/)
      expect((await world.program.ended).code).toBe(0)
    })
  })

  it('runs the example of sparse matrices, with the same result as on one', async () => {
    const example = fileURLToPath(new URL('../../examples/spmm.ts', import.meta.url))
    const expected = printedOnLocal(example, 8)
    await withTwoHosts(async ({ hosts: [near, far] }) => {
      const world = await hostWorld(near, '-n', '8', '--processes', '2')
      const joined = [near, far].map((host, n) => joinWorld(host, world, example, ['--process', String(n)]))
      const ended = await Promise.all(joined.map((each) => each.ended))
      expect(
        ended.map(({ code }) => code),
        ended.map(({ stderr }) => stderr).join('\n'),
      ).toEqual([0, 0])
      expect(ended.map(({ stdout }) => stdout).join('')).toBe(expected)
    })
  })

  it('learns by heartbeat that the cable was cut, and each side continues or ends', async () => {
    await withTwoHosts(async ({ hosts: [near, far], cutCable }) => {
      const world = await hostWorld(near, '-n', '3', '--processes', '3', '--silence', '2')
      const joined = [near, near, far].map((host, n) =>
        joinWorld(host, world, program, ['--process', String(n)], ['until lost']),
      )
      await Promise.all(joined.map((each, n) => each.printed(`rank ${n} communicates`)))
      cutCable()
      const [first, second, cut] = await Promise.all(joined.map((each) => each.ended))
      for (const [rank, { stdout, stderr }] of [first, second].entries()) {
        expect(stdout, stderr).toMatch(new RegExp(`rank ${rank} has (ERR_PEER_LOST|ERR_REVOKED)`))
        expect(stdout, stderr).toContain(`rank ${rank} is one of 2, sum 1`)
      }
      expect(first.stdout + second.stdout).toContain('has ERR_PEER_LOST')
      expect(cut.stdout, cut.stderr).toContain('rank 2 has ERR_WORLD_LOST')
      expect(cut.code).toBe(3)
      const { code, stderr } = await world.program.ended
      expect(code).toBe(3)
      expect(stderr).toMatch(/process 2 was lost: .*silent/)
    })
  })
})
