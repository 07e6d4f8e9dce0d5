import { describe, expect, it } from 'vitest'
import overviewProgram from '../../../../src/cli/program/overview-program.js'
import { run } from '../../../../src/launch/run.js'
import { mooreTopology } from '../../../../src/topology/generate/stencil.js'
import { cli, onlyObject } from '../run-cli.js'
import { spawnCli } from '../spawn-cli.js'

const operations = [
  ['ping-pong', 8],
  ['ping-pong', 2 ** 20],
  ['allreduce', 8],
  ['neighbor allgather, direct', 8],
  ['neighbor allgather, common-neighbor', 8],
]

describe('measure --ranks', () => {
  it('measures every operation on threads and reports where the figures come from', async () => {
    const words = ['measure', '-n', '4', '--runs', '1', '--json']
    const answer = await spawnCli(words)
    expect(answer.exitCode).toBe(0)
    const object = onlyObject(answer)
    expect(object).toMatchObject({
      ...{ ranks: 4, processes: 2, fabric: 'threads', runs: 1, topology: 'moore:2x2:r=2' },
      node: process.version,
      cpu: expect.any(String),
    })
    const results = object['results'] as { operation: string; bytes: number; microseconds: object }[]
    expect(results.map(({ operation, bytes }) => [operation, bytes])).toEqual(operations)
    for (const { microseconds } of results) {
      const spread = { median: expect.any(Number), min: expect.any(Number), max: expect.any(Number) }
      expect(microseconds).toEqual(spread)
    }
  })

  it('a single rank has no ping-pong, and the text is a table with median, min and max', async () => {
    const { exitCode, stdout } = await cli('measure', '-n', '1', '--fabric', 'local', '--runs', '1')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^1 rank, 1 process, local fabric, 1 run; neighbors of moore:1x1:r=2\n/)
    expect(stdout).toMatch(/operation +bytes +median +min +max\n +allreduce +8 B +[\d.]+ us/)
    expect(stdout).not.toContain('ping-pong')
  })

  it('every rank runs the same number of operations, one figure per run', async () => {
    const topology = mooreTopology({ dims: [3, 3], radius: 1 })
    const options = { ranks: 9, processes: 3, args: { runs: 3, runMs: 0.1, topology } }
    const [figures, ...others] = await run(overviewProgram, options)
    expect(figures!.map(({ operation, bytes }) => [operation, bytes])).toEqual(operations)
    for (const { microseconds, iterations } of figures!) {
      expect(microseconds).toHaveLength(3)
      expect(iterations).toBeGreaterThan(0)
    }
    expect(others).toEqual(new Array(8).fill(null))
  })
})
