import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { diagnosed, diagnosedProgram } from '../../support/diagnosed.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { spawnCli } from '../cli/spawn-cli.js'

const queues = `export default async (world) => {
  if (world.rank > 0) for (let tag = 0; tag < 40; tag++) await world.send(1, 0, tag)
  await world.barrier()
  if (world.rank === 0)
    for (let tag = 39; tag >= 0; tag--) for (let source = 1; source < world.size; source++) await world.recv(-1, tag)
}`

const folder = temporaryFolder('reports')
let file: string
beforeAll(() => {
  file = join(folder(), 'lines.ts')
  writeFileSync(file, diagnosedProgram)
  writeFileSync(join(folder(), 'queues.mjs'), queues)
})

const run = (program: string, ...words: readonly string[]) =>
  spawnCli(['run', program, '-n', '4', '--processes', '2', ...words], { cwd: folder() })

/** On MPI in mpi-command.soak.ts. */
describe.each(['threads', 'local'])('--diagnose on %s', (fabric) => {
  // Errors of messages and of whole worlds come to their lines in other ways on one thread.
  const kinds = Object.keys(diagnosed).filter((_, n) => fabric === 'threads' || n % 3 === 0)
  it.each(kinds)('%s: rank, peer, tag and line', async (kind) => {
    const { exitCode, stderr } = await run(file, '--fabric', fabric, '--diagnose', '--', kind)
    expect(exitCode).toBe(3)
    for (const part of diagnosed[kind]!) expect(stderr).toMatch(part)
  })
})

describe('without --diagnose', () => {
  it.each(['deadlock', 'truncate'])('%s: the message names the option', async (kind) => {
    const { stderr } = await run(file, '--', kind)
    expect(stderr).toMatch(/run with --diagnose, or diagnose: true, to see the line of the call/)
    expect(stderr).not.toMatch(/lines\.ts:/)
  })
})

describe('--report-matching', () => {
  it.each([
    ['', []],
    [', design list', ['--matching-design', 'list']],
  ])('prints how long queues were on threads%s', async (design, more) => {
    const answer = await run(
      'queues.mjs',
      '--fabric',
      'threads',
      '--report-matching',
      '--report-algorithms',
      ...more,
    )
    expect(answer.exitCode).toBe(0)
    for (const said of [
      `message matching of process 0\n  rank 0 of the world${design}: 120 receives, 100% of any source, 0% of any tag\n`,
      '120 searches, 0 found; 0.0 long, at most 0; 0.0 entries',
      '120 searches, 120 found; 60.5 long, at most 120; ',
      'message matching of process 1\n  none: no rank here took part in a message',
    ])
      expect(answer.stderr).toContain(said)
    expect(answer.stderr).toMatch(/the world\n +barrier: barrier-\w+, 2 participants, 1 call \(rule: /)
  })

  it('--matching-design refuses a design that starts from an earlier run', async () => {
    const answer = await run(file, '--matching-design', 'clusters')
    expect(answer.exitCode).toBe(2)
    expect(answer.stderr).toMatch(
      /--matching-design: expected index, list, source-lists, bins, partners-dynamic, array-list or vector-list, got "clusters"/,
    )
  })
})
