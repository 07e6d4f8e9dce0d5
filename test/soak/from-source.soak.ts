import { expect, it } from 'vitest'
import { onlyObject } from '../unit/cli/run-cli.js'
import { commandFromSource, spawnCli } from '../unit/cli/spawn-cli.js'

it.each(['local', 'threads'])('the command from source runs programs on %s', async (fabric) => {
  const words = [
    'run',
    'examples/halo-exchange.ts',
    '-n',
    '6',
    '--processes',
    '2',
    '--fabric',
    fabric,
    '--json',
  ]
  const [fromSource, built] = [await spawnCli(words, { command: commandFromSource }), await spawnCli(words)]
  expect(fromSource.exitCode).toBe(0)
  expect(onlyObject(fromSource)).toEqual({ ...(onlyObject(built) as object), seconds: expect.any(Number) })
})
