import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, refused, typed } from '../run-cli.js'
import { spawnCli } from '../spawn-cli.js'

const folder = ownFolder('match-processes')
const program = join(folder, 'reverse.mjs')
writeFileSync(
  program,
  `export default async function main(world, [how]) {
  const messages = 100
  if (world.rank > 0) {
    for (let i = 0; i < messages; i++) await world.send(Float64Array.of(i), 0, i)
    await world.barrier()
    return
  }
  await world.probe(world.size - 1, messages - 1)
  for (let source = world.size - 1; source > 0; source--)
    for (let tag = messages - 1; tag >= 0; tag--) await world.recv(source, tag)
  if (how === 'fail') throw new Error('on purpose')
  await world.barrier()
}
`,
)
const traced = (fabric: string, directory: string) =>
  typed`run ${program} -n 4 --fabric ${fabric} --processes 2 --trace-matching ${directory}`

it.each([
  ['local', '2 logical processes of one thread'],
  ['threads', '2 threads'],
  ['websocket', '2 processes'],
])('run --trace-matching on %s writes what match reads', async (fabric, hosts) => {
  const directory = join(folder, fabric)
  const { exitCode, stderr } = await spawnCli(traced(fabric, directory))
  expect([exitCode, stderr]).toEqual([0, expect.stringMatching(`^4 ranks on ${hosts}: `)])
  expect(readdirSync(directory).sort()).toEqual([0, 1, 2, 3].map((rank) => `rank-${rank}.jsonl`))
  const { stdout } = await cli`match ${directory} --designs bins`
  expect(stdout).toMatch(/rank 0: \d+ operations; 300 receives, 300 messages, 300 matched/)
  expect(stdout).toMatch(
    /worst search: rank 0 receives from source \d, tag \d+ \(communicator 0\) while \d+ messages/,
  )
})

it('run --trace-matching writes what was recorded when the program fails', async () => {
  const directory = join(folder, 'failed')
  const words = typed`${traced('threads', directory)} --trace-operations 120 -- fail`
  expect(await spawnCli(words)).toMatchObject({ exitCode: 3 })
  const { stdout } = await cli`match ${directory} --designs bins`
  expect(stdout).toMatch(/rank 0: 120 operations, the first of its run; /)
  const bound = await cli`run ${program} -n 1 --trace-operations 5`
  expect(bound).toMatchObject(refused('--trace-operations is for --trace-matching'))
})

it('match refuses a pipe, which it would read without end', async () => {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  expect(await cli`match ${pipe}`).toMatchObject(refused("pipe': expected a file or a directory"))
})
