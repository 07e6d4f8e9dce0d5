import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { builtInProfiles, formatProfile } from 'rankweave/machine'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startService } from '../../../support/service.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, onlyObject, refused, typed } from '../run-cli.js'
import { command, spawnCli } from '../spawn-cli.js'

const token = 'a'.repeat(32)
const machine = typed`--machine cluster:nodes=4,cores=4,profile=simgrid-fast`
const folder = ownFolder('server')
const tokenFile = join(folder, 'token')

let started: Awaited<ReturnType<typeof startService>>
let server: readonly string[]
beforeAll(async () => {
  started = await startService({ tokens: [token], limits: { workers: 1 } })
  writeFileSync(tokenFile, `${token}\n`)
  server = typed`--server ${started.service.url} --token-file ${tokenFile}`
})
afterAll(() => started.end())

/** What a command writes and prints, planned here and by the service. */
async function both(words: readonly string[]) {
  const file = join(folder, 'out')
  const answerOf = async (more: readonly string[]) => {
    const answer = await cli`${words} -o ${file} ${more}`
    expect(answer.exitCode, answer.stderr).toBe(0)
    return { ...answer, written: readFileSync(file, 'utf8') }
  }
  return [await answerOf([]), await answerOf(server)] as const
}

/** Without what is measured. */
const unmeasured = (text: string) =>
  text.replaceAll(/[\d.,]+ m?s\b|"(planMs|timeMs)":[\d.e-]+|~?[\d.,]+ starts?/g, '')

it.each([
  [typed`moore:6x6:r=2 --k 4`],
  [typed`moore:4x4:r=1 --k 3 ${machine} --no-dedupe --schedule-version 1`],
  [typed`er:32:d=0.2:seed=3 --strategy routed`],
  [typed`mtx:test/matrices/dwt_193.mtx:ranks=32 --labels 7`],
  [typed`rgg:16:r=0.4:seed=3 --k 2 ${machine} --map auto`],
])('plan %s is the same, byte for byte', async (words) => {
  const [here, there] = await both(['plan', ...words])
  expect(there.written === here.written).toBe(true)
  expect(unmeasured(there.stdout)).toBe(unmeasured(here.stdout))
})

it('auto chooses, and reports, the same for a mapped topology', async () => {
  const words = typed`plan rgg:16:r=0.4:seed=3 --map auto --strategy auto:budget=2 ${machine} --bytes 64`
  const [here, there] = await both([...words, '--json'])
  expect(there.written === here.written).toBe(true)
  expect(Object.keys(onlyObject(there))).toEqual(Object.keys(onlyObject(here)))
  expect(onlyObject(there)['mapping']).toEqual(onlyObject(here)['mapping'])
  const text = await cli`${words} ${server}`
  expect(text.stdout).toContain(`\n  * ${onlyObject(here)['chosen']} `)
})

it('simulate, export and report take the plan of the service', async () => {
  for (const words of [
    typed`moore:4x4:r=1 --k 4 ${machine} --bytes 64`,
    typed`rgg:16:r=0.4:seed=3 ${machine} --bytes 64 --map auto`,
  ])
    expect(await json`simulate ${words} ${server}`).toEqual(await json`simulate ${words}`)
  for (const form of [typed`c`, typed`goal --bytes 8`]) {
    const exported = typed`export moore:4x4:r=1 --operation neighbor-alltoall --format ${form}`
    const [here, there] = await both(exported)
    expect(there.written === here.written, form[0]).toBe(true)
  }
  const drawn = await both(typed`report moore:4x4:r=1 --k 4 ${machine} --bytes 64 --json`)
  const [here, there] = drawn.map((answer) => onlyObject(answer))
  expect({ ...there, bytes: 0 }).toEqual({ ...here, bytes: 0 })
  const groups = drawn.map(({ written }) => /"groupOf":\[[\d,-]+\]/.exec(written)?.[0])
  expect(groups[0]).toMatch(/\d/)
  expect(groups[1]).toBe(groups[0])
})

it('report takes the length that auto names, and simulates its own', async () => {
  const auto = typed`--strategy auto:bytes=64,budget=1 ${machine} -o ${folder}/report.html`
  expect(await cli`report moore:4x4:r=1 ${auto}`).toMatchObject({ exitCode: 0 })
})

const plan = typed`plan moore:4x4:r=1`
it.each([
  ['ERR_USAGE', () => typed`${plan} ${server} --cache ${folder}`],
  ['ERR_USAGE', () => typed`${plan} ${server} ${machine} --bytes 8 --compare`],
  ['ERR_USAGE', () => typed`${plan} --token-file ${tokenFile}`],
  ['ERR_TOKEN', () => typed`${plan} --server ${started.service.url}`],
  ['ERR_SERVICE', () => typed`${plan} --server http://127.0.0.1:9`],
  ['ERR_ARGUMENT', () => typed`${plan} --server nowhere`],
  ['ERR_STRATEGY', () => typed`${plan} ${server} --strategy nonsense`],
  ['ERR_FILE', () => typed`plan edges:/does/not/exist ${server}`],
  ['ERR_USAGE', () => typed`simulate allgather-ring ${machine} --bytes 8 ${server}`],
])('what a service cannot do, and one that is not there: %s', async (code, words) => {
  expect(await json`${words()}`).toMatchObject({ error: { code } })
})

it('longer blocks than a service plans for are refused by the name of the option, before anything is sent', async () => {
  const words = typed`${plan} --strategy auto ${machine} --bytes 2147483648 --server http://127.0.0.1:1`
  const message = '--bytes: expected at most 2147483647 with --server, got 2147483648'
  expect(await cli`${words}`).toMatchObject(refused(message))
})

it('a profile from a file is refused, because a service knows only the built-in ones', async () => {
  const own = join(folder, 'own.json')
  writeFileSync(own, formatProfile({ ...builtInProfiles[0], name: 'own' }))
  const words = typed`${plan} --machine cluster:nodes=4,cores=16,profile=${own} --server http://127.0.0.1:1`
  const message = "--machine: expected a built-in profile with --server, got 'own'"
  expect(await cli`${words}`).toMatchObject(refused(message))
})

it('serve without its package makes no folder, and names the command that adds it', async () => {
  const [node, main] = command
  const without = pathToFileURL(resolve('test/support/without-package.mjs'))
  const words = [node, '--import', `${without}?@rankweave/service`, main]
  const answer = await spawnCli(typed`serve --port 0 --data ${folder}/data`, { command: words, cwd: folder })
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
  const expected = `ERR_SERVICE_PACKAGE: .*: npm install @rankweave/service@${version} `
  expect(answer).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringMatching(expected) })
  expect(existsSync(join(folder, 'data'))).toBe(false)
})
