import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loopbackTls } from '../../../support/loopback-certificate.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { onlyObject, typed } from '../run-cli.js'
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
const other = file('other.mjs', 'export default () => 1')

it('processes join a world that host has opened; wrong token, other program and a missing token are refused', async () => {
  const tokenFile = join(folder, 'token')
  let opened: (url: string) => void
  const address = new Promise<string>((resolve) => {
    opened = resolve
  })
  const hosting = spawnCli(typed`host -n 3 --processes 2 --token-file ${tokenFile} --json`, {
    onOutput: (text) => opened((JSON.parse(text) as { url: string }).url),
  })
  const url = await address
  expect(statSync(tokenFile).mode & 0o777).toBe(0o600)

  const wrong = await spawnCli(typed`join ${url} --token ${'0'.repeat(16)}.${'0'.repeat(32)} ${program}`)
  expect(wrong.exitCode).toBe(2)
  expect(wrong.stderr).toContain('ERR_TOKEN')

  const joined = ['0', '1'].map((number) =>
    spawnCli([
      ...typed`join ${url} --token-file ${tokenFile} --process ${number} ${program}`,
      ...(number === '1' ? ['--json'] : []),
      ...['--', 'these'],
    ]),
  )
  const [first, second] = await Promise.all(joined)
  expect(first.stdout).toContain('rank 0 of 3 with these\n')
  expect(first.stdout).toContain('rank 1 returned 3\n')
  expect(onlyObject(second)).toMatchObject({ ranks: 3, process: 1, processes: 2, firstRank: 2, results: [3] })
  expect(second.stderr).toContain('rank 2 of 3 with these\n')
  expect([first.exitCode, second.exitCode]).toEqual([0, 0])

  const host = await hosting
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
  const tls = typed`--tls-cert ${cert} --tls-key ${file('key.pem', loopbackTls.key)}`
  let opened: (world: { url: string; token: string }) => void
  const address = new Promise<{ url: string; token: string }>((resolve) => {
    opened = resolve
  })
  const hosting = spawnCli(
    [...typed`host -n 2 --json --silence 20`, ...typed`--listen 127.0.0.1:0 --advertise localhost ${tls}`],
    { onOutput: (text) => opened(JSON.parse(text) as { url: string; token: string }) },
  )
  const { url, token } = await address
  expect(url).toMatch(/^wss:\/\/localhost:\d+$/)
  const join = (...options: string[]) =>
    spawnCli(typed`join ${url} --token ${token} --ca ${cert} ${options} ${failing}`)
  const joined = await Promise.all([join('--no-listen'), join('--listen', '127.0.0.1:0', ...tls)])
  for (const { exitCode, stderr } of joined) {
    expect(stderr).toContain('too far')
    expect(exitCode).toBe(3)
  }
  const host = await hosting
  expect(host.stderr).toContain('the world has failed: RangeError: too far')
  expect(host.exitCode).toBe(3)
})

it('a process with another program is refused, and a host that is interrupted ends its world', async () => {
  let end: () => void
  let opened: (world: { url: string; token: string }) => void
  const address = new Promise<{ url: string; token: string }>((resolve) => {
    opened = resolve
  })
  const hosting = spawnCli(typed`host -n 2 --json`, {
    onOutput: (text, kill) => {
      end = () => kill('SIGINT')
      opened(JSON.parse(text) as { url: string; token: string })
    },
  })
  const { url, token } = await address
  let accepted: () => void
  const isAccepted = new Promise<void>((resolve) => {
    accepted = resolve
  })
  const waiting = spawnCli(typed`join ${url} --token ${token} ${program}`, {
    onError: (text) => {
      if (text.includes('joined as number 1 of 2 processes')) accepted()
    },
  })
  // The first to join decides which program it is.
  await isAccepted
  const refused = await spawnCli(typed`join ${url} --token ${token} ${other}`)
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain('ERR_PROGRAM_MISMATCH')
  end!()
  expect((await hosting).exitCode).toBe(3)
  const lost = await waiting
  expect(lost.exitCode).toBe(3)
  expect(lost.stderr).toContain('ERR_WORLD_LOST')
})
