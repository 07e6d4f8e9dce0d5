import { local } from 'rankweave'
import { expect } from 'vitest'
import { compiled } from './compiled.js'
import { type Mpi, rankweave, runJob } from './mpi.js'
import { type Checked, casesOf } from './mpi-conformance.js'

/** The command runs the cases on so many processes of one job, and prints what has passed on every rank. */
export async function expectConformance(mpi: Mpi, processes: number, checked: Checked): Promise<void> {
  const ranks = processes + 1
  const program = [compiled('mpi-conformance.ts'), '-n', String(ranks), '--fabric', 'mpi', '--json']
  const command = rankweave('run', ...program, '--', JSON.stringify(checked))
  const { code, stdout, stderr } = await runJob(mpi, processes, command)
  expect(code, stderr).toBe(0)
  const names = casesOf(checked, local({ processes })).map(({ name }) => name)
  expect(JSON.parse(stdout)).toMatchObject({
    ranks,
    processes,
    fabric: 'mpi',
    results: Array(ranks).fill(names),
  })
}
