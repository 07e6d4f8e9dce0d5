import { expect, it } from 'vitest'
import { cli, typed } from '../run-cli.js'

const plan = (...words: string[]) => cli`plan er:14:d=0.6:seed=2 --k 3 --theta 2 --json ${words}`

it.each(['greedy', 'improved', 'exact'])('plans with the engine %s', async (engine) => {
  const { exitCode, stdout } = await plan('--engine', engine)
  expect(exitCode).toBe(0)
  const { matching, verified } = JSON.parse(stdout)
  expect(verified).toBe(true)
  expect(matching).toMatchObject({ engine, weight: expect.any(Number) })
  expect(matching.messages).toBe(null)
})

it('refuses the engine distributed, which this process could only simulate', async () => {
  const { exitCode, stderr } = await plan('--engine', 'distributed')
  expect({ exitCode, stderr: stderr.split(':')[0] }).toEqual({ exitCode: 2, stderr: 'ERR_STRATEGY' })
  expect(stderr).toContain('here every process would simulate all ranks: use greedy')
})

it('--labels breaks ties by a permutation: plans differ between seeds', async () => {
  const weights = []
  for (const seed of ['1', '2', '3', '4']) {
    const { stdout } = await plan('--labels', seed)
    weights.push(JSON.parse(stdout).messages.planned)
  }
  expect(new Set(weights).size).toBeGreaterThan(1)
})

it('rejects unknown engines and seeds out of range', async () => {
  for (const words of [typed`--engine best`, typed`--labels -1`]) {
    const { exitCode, stderr } = await plan(...words)
    expect({ exitCode, stderr: stderr.split(':')[0] }).toEqual({ exitCode: 2, stderr: 'ERR_USAGE' })
  }
})
