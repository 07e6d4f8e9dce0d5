import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startService } from '../../../support/service.js'
import { cli, json, onlyObject, typed } from '../run-cli.js'

const token = 'a'.repeat(32)
const machine = typed`--machine cluster:nodes=8,cores=8,profile=simgrid-fast`

let folder: string
let started: Awaited<ReturnType<typeof startService>>
let server: readonly string[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-server-'))
  started = await startService({ tokens: [token], limits: { workers: 1 } })
  writeFileSync(join(folder, 'token'), `${token}\n`)
  server = ['--server', started.service.url, '--token-file', join(folder, 'token')]
})
afterAll(async () => {
  await started.end()
  rmSync(folder, { recursive: true, force: true })
})

/** What a command writes and prints, planned here and by the service. */
async function both(...argv: readonly string[]) {
  const file = join(folder, 'out')
  const answers = []
  for (const more of [[], server]) {
    const answer = await cli`${argv} -o ${file} ${more}`
    expect(answer.exitCode, answer.stderr).toBe(0)
    answers.push({ ...answer, written: readFileSync(file, 'utf8') })
  }
  return answers as [(typeof answers)[0], (typeof answers)[0]]
}

/** Without what is measured. */
const unmeasured = (text: string) =>
  text.replaceAll(/[\d.,]+ m?s\b|"(planMs|timeMs)":[\d.e-]+|~?[\d.,]+ starts?/g, '')

const plans = [
  typed`moore:8x8:r=2 --k 4`,
  typed`moore:8x8:r=2 --k 3 ${machine} --no-dedupe --schedule-version 1`,
  typed`er:64:d=0.2:seed=3 --strategy routed`,
  typed`mtx:test/matrices/dwt_193.mtx:ranks=64 --labels 7`,
  typed`rgg:64:r=0.25:seed=3 --k 2 ${machine} --map auto`,
] as const

it.each(plans)('plan %s is the same, byte for byte', async (...argv) => {
  const [here, there] = await both('plan', ...argv)
  expect(there.written === here.written).toBe(true)
  expect(unmeasured(there.stdout)).toBe(unmeasured(here.stdout))
})

it.each([['moore:8x8:r=2'], typed`rgg:64:r=0.25:seed=3 --map auto`])(
  'auto chooses, and reports, the same for %s',
  async (...spec) => {
    const argv = typed`plan ${spec} --strategy auto ${machine} --bytes 64`
    const [here, there] = await both(...argv, '--json')
    expect(there.written === here.written).toBe(true)
    expect(Object.keys(onlyObject(there))).toEqual(Object.keys(onlyObject(here)))
    expect(onlyObject(there)['mapping']).toEqual(onlyObject(here)['mapping'])
    const text = await cli`${argv} ${server}`
    expect(text.stdout).toContain(`\n  * ${onlyObject(here)['chosen']} `)
  },
)

it('simulate, export and report take the plan of the service', async () => {
  const simulated = typed`simulate moore:8x8:r=2 --k 4 ${machine} --bytes 64 --json`
  expect((await cli`${simulated} ${server}`).stdout).toBe((await cli(...simulated)).stdout)
  for (const format of [['c'], typed`goal --bytes 8`]) {
    const [here, there] = await both(
      'export',
      'moore:4x4:r=1',
      '--format',
      ...format,
      '--operation',
      'neighbor-alltoall',
    )
    expect(there.written === here.written, format[0]).toBe(true)
  }
  const mapped = typed`simulate rgg:64:r=0.25:seed=3 ${machine} --bytes 64 --map auto --json`
  expect((await cli`${mapped} ${server}`).stdout).toBe((await cli(...mapped)).stdout)
  const drawn = await both('report', 'moore:8x8:r=2', '--k', '4', ...machine, '--bytes', '64', '--json')
  const [here, there] = drawn.map((answer) => onlyObject(answer))
  expect({ ...there, bytes: 0 }).toEqual({ ...here, bytes: 0 })
  const groups = drawn.map(({ written }) => /"groupOf":\[[\d,-]+\]/.exec(written)?.[0])
  expect(groups[0]).toMatch(/\d/)
  expect(groups[1]).toBe(groups[0])
})

it('report takes the length that auto names, and simulates its own', async () => {
  const auto = typed`--strategy auto:bytes=64,budget=1 ${machine} -o ${join(folder, 'report.html')}`
  const { exitCode, stderr } = await cli`report moore:4x4:r=1 ${auto}`
  expect(exitCode, stderr).toBe(0)
})

it('what a service cannot do, and one that is not there, is refused with a code', async () => {
  const code = async (...argv: string[]) => ((await json`${argv}`)['error'] as { readonly code: string }).code
  const plan = ['plan', 'moore:4x4:r=1']
  expect(await code(...plan, ...server, '--cache', folder)).toBe('ERR_USAGE')
  expect(await code(...plan, ...server, ...machine, '--bytes', '8', '--compare')).toBe('ERR_USAGE')
  expect(await code(...plan, '--token-file', join(folder, 'token'))).toBe('ERR_USAGE')
  expect(await code(...plan, '--server', started.service.url)).toBe('ERR_TOKEN')
  expect(await code(...plan, '--server', 'http://127.0.0.1:9')).toBe('ERR_SERVICE')
  expect(await code(...plan, '--server', 'nowhere')).toBe('ERR_ARGUMENT')
  expect(await code(...plan, ...server, '--strategy', 'nonsense')).toBe('ERR_STRATEGY')
  expect(await code('plan', 'edges:/does/not/exist', ...server)).toBe('ERR_FILE')
  const simulate = typed`simulate allgather-ring ${machine} --bytes 8`
  expect(await code(...simulate, ...server)).toBe('ERR_USAGE')
})

it('blocks longer than a service plans for are refused by the name of the option, before anything is sent', async () => {
  const argv = typed`plan moore:8x8:r=2 --strategy auto ${machine} --bytes 2147483648`
  const answer = await cli`${argv} --server http://127.0.0.1:1`
  const expected = '--bytes: expected at most 2147483647 with --server, got 2147483648'
  expect([answer.exitCode, answer.stderr]).toEqual([2, expect.stringContaining(expected)])
})
