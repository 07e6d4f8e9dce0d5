import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { cli, typed } from '../run-cli.js'

const program = fileURLToPath(new URL('../../../support/threads-program.ts', import.meta.url))

it.each([
  ['a URL of another kind', 'http://127.0.0.1:9', [], 2, 'ERR_ARGUMENT'],
  ['no URL', 'nonsense', [], 2, 'ERR_ARGUMENT'],
  ['its own address that it cannot have', 'ws://127.0.0.1:9', typed`--listen 192.0.2.1:0`, 2, 'ERR_FABRIC'],
  [
    'where others reach it, though it does not listen',
    'ws://127.0.0.1:9',
    typed`--no-listen --advertise here`,
    2,
    'ERR_USAGE',
  ],
  ['an address where no server listens', 'ws://127.0.0.1:9', [], 3, 'ERR_WORLD_LOST'],
] as const)('join reports %s in one line', async (_, url, options, exitCode, code) => {
  const result = await cli`join ${url} --token token ${options} ${program}`
  expect(result.stderr).toMatch(new RegExp(`^${code}: .*\n$`))
  expect(result.exitCode).toBe(exitCode)
})

it('host accepts no silence shorter than a garbage collection', async () => {
  const result = await cli`host -n 2 --silence 0.02`
  expect(result.stderr).toBe('ERR_USAGE: --silence: expected seconds from 0.1 to 86400, got "0.02"\n')
  expect(result.exitCode).toBe(2)
})
