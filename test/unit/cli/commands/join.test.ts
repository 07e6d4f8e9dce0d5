import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { cli, refused } from '../run-cli.js'

const program = fileURLToPath(new URL('../../../support/threads-program.ts', import.meta.url))

it.each([
  ['a URL of another kind', 'http://127.0.0.1:9', [], 2, 'ERR_ARGUMENT'],
  ['no URL', 'nonsense', [], 2, 'ERR_ARGUMENT'],
  ['its own address that it cannot have', 'ws://127.0.0.1:9', ['--listen', '192.0.2.1:0'], 2, 'ERR_FABRIC'],
  [
    'its address without --listen',
    'ws://127.0.0.1:9',
    ['--no-listen', '--advertise', 'here'],
    2,
    'ERR_USAGE',
  ],
  ['an address where no server listens', 'ws://127.0.0.1:9', [], 3, 'ERR_WORLD_LOST'],
] as const)('join reports %s in one line', async (_, url, options, exitCode, code) => {
  const answer = await cli`join ${url} --token token ${options} ${program}`
  expect(answer).toMatchObject({ exitCode, stderr: expect.stringMatching(new RegExp(`^${code}: .*\n$`)) })
})

it('host accepts no silence shorter than a garbage collection', async () => {
  const message = 'ERR_USAGE: --silence: expected seconds from 0.1 to 86400, got "0.02"\n'
  expect(await cli`host -n 2 --silence 0.02`).toMatchObject(refused(message))
})
