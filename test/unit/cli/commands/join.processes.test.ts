import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loopbackTls } from '../../../support/loopback-certificate.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, onlyObject, refused, typed } from '../run-cli.js'
import { spawnCli } from '../spawn-cli.js'

const folder = ownFolder('join')
const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const program = file(
  'sum.mjs',
  `export default async (world, args) => {
    console.log('rank ' + world.rank + ' of ' + world.size + ' with ' + args)
    return (await world.allreduce(Float64Array.of(world.rank), 'sum'))[0]
  }`,
)

interface Hosting {
  readonly url: string
  readonly token: string
  readonly ended: ReturnType<typeof spawnCli>
  readonly interrupt: () => void
}

/** A world that `host` has opened in its own process. */
const hosted = (words: readonly string[]) =>
  new Promise<Hosting>((resolve) => {
    const ended = spawnCli(['host', ...words, '--json'], {
      onOutput: (text, kill) => {
        const { url, token } = JSON.parse(text) as { url: string; token: string }
        resolve({ url, token, ended, interrupt: () => kill('SIGINT') })
      },
    })
  })

it('processes join a world that host has opened, and one with a wrong token is refused', async () => {
  const tokenFile = join(folder, 'token')
  const { url, ended } = await hosted(typed`-n 3 --processes 2 --token-file ${tokenFile}`)
  expect(statSync(tokenFile).mode & 0o777).toBe(0o600)
  const wrong = `${'0'.repeat(16)}.${'0'.repeat(32)}`
  expect(await cli`join ${url} --token ${wrong} ${program}`).toMatchObject(refused('ERR_TOKEN'))
  const joined = typed`join ${url} --token-file ${tokenFile} ${program}`
  const [first, second] = await Promise.all([
    spawnCli(typed`${joined} --process 0 -- these`),
    spawnCli(typed`${joined} --process 1 --json -- these`),
  ])
  expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('rank 1 returned 3\n') })
  expect(first.stdout).toContain('rank 0 of 3 with these\n')
  expect(second).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('rank 2 of 3 with these\n') })
  expect(onlyObject(second)).toMatchObject({ ranks: 3, process: 1, processes: 2, firstRank: 2, results: [3] })
  const host = await ended
  expect(host.exitCode).toBe(0)
  expect(onlyObject(host)).toMatchObject({ url, tokenFile, ranks: 3, processes: 2 })
})

it('a rank that fails ends host with exit code 3 and its error; over TLS: one process does not listen', async () => {
  const failing = file(
    'failing.mjs',
    `export default async (world) => {
      await world.barrier()
      if (world.rank === 1) throw new RangeError('too far')
      await world.barrier()
    }`,
  )
  const cert = file('cert.pem', loopbackTls.cert)
  const listening = typed`--listen 127.0.0.1:0 --tls-cert ${cert} --tls-key ${file('key.pem', loopbackTls.key)}`
  const { url, token, ended } = await hosted(typed`-n 2 --silence 20 ${listening} --advertise localhost`)
  expect(url).toMatch(/^wss:\/\/localhost:\d+$/)
  const joined = await Promise.all(
    [['--no-listen'], listening].map((options) =>
      spawnCli(typed`join ${url} --token ${token} --ca ${cert} ${options} ${failing}`),
    ),
  )
  for (const answer of joined)
    expect(answer).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('too far') })
  const stderr = expect.stringContaining('the world has failed: RangeError: too far')
  expect(await ended).toMatchObject({ exitCode: 3, stderr })
})

it('a process with another program is refused, and a host that is interrupted ends its world', async () => {
  const { url, token, ended, interrupt } = await hosted(typed`-n 2`)
  const other = file('other.mjs', 'export default () => 1')
  let waiting!: ReturnType<typeof spawnCli>
  // The first to join decides which program it is.
  await new Promise<void>((accepted) => {
    waiting = spawnCli(typed`join ${url} --token ${token} ${program}`, {
      onError: (text) => {
        if (text.includes('joined; 1 of 2 processes are here')) accepted()
      },
    })
  })
  const answer = await cli`join ${url} --token ${token} ${other}`
  expect(answer).toMatchObject(refused('ERR_PROGRAM_MISMATCH'))
  interrupt()
  expect(await ended).toMatchObject({ exitCode: 3 })
  expect(await waiting).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('ERR_WORLD_LOST') })
})
