import { expect, it } from 'vitest'
import { onlyObject, typed } from '../unit/cli/run-cli.js'
import { commandFromSource, spawnCli } from '../unit/cli/spawn-cli.js'

it.each(['local', 'threads'])('the command from source runs programs on %s', async (fabric) => {
  const line = typed`run examples/halo-exchange.ts -n 6 --processes 2 --fabric ${fabric} --json`
  const [fromSource, built] = [await spawnCli(line, { command: commandFromSource }), await spawnCli(line)]
  expect(fromSource.exitCode).toBe(0)
  expect(onlyObject(fromSource)).toEqual({ ...onlyObject(built), seconds: expect.any(Number) })
})
