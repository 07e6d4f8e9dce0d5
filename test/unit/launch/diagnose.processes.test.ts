import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeEitherMpi, rankweave, runJob } from '../../support/mpi.js'
import { daily } from '../../support/soak.js'
import { spawnCli } from '../cli/spawn-cli.js'

const program = `import type { Communicator } from 'rankweave'

interface Halo { readonly left: number }

export default async function main(world: Communicator, [kind]: readonly string[]) {
  const halo: Halo = { left: 2 }
  if (kind === 'deadlock') {
    if (world.rank === 3) await world.recv(halo.left, 7)
    await world.barrier()
  } else if (kind === 'mismatch') {
    if (world.rank === 3) await world.allreduce(Float64Array.of(1), 'sum')
    else await world.barrier()
  } else if (kind === 'truncate') {
    if (world.rank === 0) await world.send(new Float64Array(4), 3, 7)
    if (world.rank === 3) await world.recv(0, 7, { into: new Float64Array(2) })
    await world.barrier()
  } else if (kind === 'long') {
    if (world.rank === 0) await world.send(new Float64Array(40_000), 3, 7)
    if (world.rank === 3) await world.irecv(0, 7, { into: new Float64Array(2) }).wait()
    await world.barrier()
  } else if (kind === 'split') {
    const half = await world.split(world.rank & 1)
    half.setName('halves')
    await half.recv(half.rank, 5)
  } else if (kind === 'queues') {
    if (world.rank > 0) for (let tag = 0; tag < 40; tag++) await world.send(1, 0, tag)
    await world.barrier()
    if (world.rank === 0)
      for (let tag = 39; tag >= 0; tag--) for (let source = 1; source < world.size; source++) await world.recv(-1, tag)
  } else {
    if (world.rank === 3 && kind !== 'barrier') throw new TypeError('thrown on purpose')
    await world.barrier()
  }
}
`

/** What standard error has with `--diagnose`, all of it. */
const said: Readonly<Record<string, readonly RegExp[]>> = {
  deadlock: [
    /^ERR_DEADLOCK: deadlock: 4 ranks are blocked/m,
    /rank 3 waits in recv\(source 2, tag 7\) on communicator 0\.0; called at \S*lines\.ts:8:\d+/,
    /in barrier\(\) #0.*; called at \S*lines\.ts:9:\d+/,
  ],
  mismatch: [
    /^ERR_COLLECTIVE_MISMATCH: /m,
    /rank [012] called barrier\(\)/,
    /rank 3 called allreduce\(sum, 1 x Float64Array\)/,
    /lines\.ts:11:\d+/,
    /lines\.ts:12:\d+/,
  ],
  truncate: [
    /^ERR_TRUNCATE: rank 3 \(world 3\), recv\(source 0, tag 7\) on communicator 0\.0: /m,
    /room for 2 elements, the message carries 4 \(from rank 0, tag 7\); called at \S*lines\.ts:15:\d+/,
    /thrown by rank 3/,
  ],
  long: [
    /^ERR_TRUNCATE: rank 3 \(world 3\), recv\(source 0, tag 7\) on communicator 0\.0: /m,
    /the message carries 40000 \(from rank 0, tag 7\); called at \S*lines\.ts:19:\d+/,
    /thrown by rank 3/,
  ],
  split: [
    /recv\(source [\w ]+, tag 5\) on communicator [01]\.1 'halves'; called at \S*lines\.ts:24:\d+/,
    /communicator [01]\.1 'halves' was made by split\(\) #0 of communicator 0\.0; called at \S*lines\.ts:22:\d+/,
  ],
  exception: [/^TypeError: thrown on purpose/m, /thrown by rank 3/, /lines\.ts:31:\d+/],
}

let folder: string
let file: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-lines-'))
  file = join(folder, 'lines.ts')
  writeFileSync(file, program)
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

const fabrics = {
  'local, 1 process': ['--fabric', 'local'],
  'local, 4 processes': ['--fabric', 'local', '--processes', '4'],
  threads: ['--fabric', 'threads', '--processes', '2'],
  websocket: ['--fabric', 'websocket', '--processes', '2'],
}

describe.each(daily(Object.entries(fabrics), 2))('--diagnose on %s', (_, flags) => {
  it.each(Object.keys(said))('%s: rank, peer, tag and line', async (kind) => {
    const { exitCode, stderr } = await spawnCli(['run', file, '-n', '4', ...flags, '--diagnose', '--', kind])
    expect(exitCode).toBe(3)
    for (const part of said[kind]) expect(stderr).toMatch(part)
  })
})

describeEitherMpi('--diagnose', (mpi) => {
  it.each(Object.keys(said))('%s: rank, peer, tag and line', async (kind) => {
    const run = rankweave('run', file, '-n', '4', '--fabric', 'mpi', '--diagnose', '--', kind)
    const { code, stderr } = await runJob(mpi, 2, run)
    expect(code).toBe(3)
    for (const part of said[kind]) expect(stderr).toMatch(part)
  })
})

describe('without --diagnose', () => {
  it.each(['deadlock', 'mismatch', 'truncate'])('%s: the message names the option', async (kind) => {
    const { stderr } = await spawnCli(['run', file, '-n', '4', '--processes', '2', '--', kind])
    expect(stderr).toMatch(/run with --diagnose, or diagnose: true, to see the line of the call/)
    expect(stderr).not.toMatch(/lines\.ts:/)
  })
})

describe('--report-matching', () => {
  it.each(daily(['threads', 'local', 'websocket'], 3))(
    'prints how long queues were on %s',
    async (fabric) => {
      const flags = ['-n', '4', '--fabric', fabric, '--processes', '2', '--report-matching']
      const { exitCode, stderr } = await spawnCli(['run', file, ...flags, '--', 'queues'])
      expect(exitCode).toBe(0)
      expect(stderr).toMatch(
        /message matching of process 0\n {2}rank 0 of communicator 0\.0, the world: 120 receives, 100% of any source, 0% of any tag\n/,
      )
      expect(stderr).toMatch(/posted receives: +120 searches, 0 found; 0\.0 long, at most 0; 0\.0 entries/)
      expect(stderr).toMatch(
        /unexpected messages: 120 searches, 120 found; 60\.5 long, at most 120; \d+\.\d entries/,
      )
      expect(stderr).toMatch(/message matching of process 1\n {2}none: no rank here took part in a message/)
    },
  )

  it.each(daily(['local', 'threads', 'websocket'], 3))('and their design on %s', async (fabric) => {
    const flags = ['-n', '4', '--fabric', fabric, '--processes', '2', '--report-matching']
    const by = ['--matching-design', 'list', '--', 'queues']
    const { exitCode, stderr } = await spawnCli(['run', file, ...flags, ...by])
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/rank 0 of communicator 0\.0, the world, design list: 120 receives, /)
    expect(stderr).toMatch(/unexpected messages: 120 searches, 120 found; 60\.5 long, at most 120; /)
  })

  it('--matching-design refuses a design that starts from an earlier run', async () => {
    const answer = await spawnCli(['run', file, '-n', '4', '--matching-design', 'clusters', '--', 'queues'])
    expect(answer.exitCode).toBe(2)
    expect(answer.stderr).toMatch(
      /--matching-design: expected index, list, source-lists, bins, partners-dynamic, array-list or vector-list, got "clusters"/,
    )
  })
})

describe('--report-algorithms', () => {
  it.each(['local', 'threads'])('prints what ran on %s', async (fabric) => {
    const flags = ['-n', '4', '--fabric', fabric, '--processes', '2', '--report-algorithms']
    const { exitCode, stderr } = await spawnCli(['run', file, ...flags, '--', 'barrier'])
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(
      /communicator 0\.0, the world\n +barrier: barrier-\w+, 2 participants, 1 call \(rule: /,
    )
  })
})
