import { describe, expect, it } from 'vitest'
import { cli, onlyObject } from '../run-cli.js'

interface Listed {
  readonly algorithms: readonly { algorithm: string; timeUs: number; segments: number }[]
}

describe('models', () => {
  it('lists the algorithms of a collective, the fastest first, with their segments', async () => {
    const options = ['bcast', '--profile', 'simgrid-fast', '--ranks', '64', '--bytes', '1048576']
    const answer = await cli('models', ...options)
    expect(answer.exitCode).toBe(0)
    expect(answer.stdout).toMatch(/^bcast of 1,048,576 bytes on 64 ranks, predicted by loggp/)
    expect(answer.stdout).toMatch(/bcast-chain .* us {2,}\d+ of [\d,]+ bytes/)
    const { algorithms } = onlyObject(await cli('models', ...options, '--json')) as unknown as Listed
    const times = algorithms.map(({ timeUs }) => timeUs)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(algorithms.map(({ algorithm }) => algorithm)).toContain('bcast-binomial')
  })

  it.each([
    ['no profile', ['bcast', '--ranks', '4'], 'ERR_USAGE'],
    ['no ranks', ['bcast', '--profile', 'simgrid-fast'], 'ERR_USAGE'],
    ['an unknown collective', ['shout', '--profile', 'simgrid-fast', '--ranks', '4'], 'ERR_ARGUMENT'],
    ['a file that is not there', ['bcast', '--profile', 'no-such.json', '--ranks', '4'], 'ERR_FILE'],
    ['a file that is no profile', ['bcast', '--profile', 'package.json', '--ranks', '4'], 'ERR_MACHINE'],
  ])('refuses %s', async (_, options, code) => {
    const { exitCode, stderr } = await cli('models', ...options)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(code)])
  })
})
