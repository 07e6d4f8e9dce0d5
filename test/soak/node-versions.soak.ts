import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { binOf, nodeVersions, userOf } from '../../scripts/install-node-versions.js'
import { launchers } from '../support/find-mpi.js'

// The packed library on every Node.js of its `engines`, as npm installed both: no program may print a warning.

const root = fileURLToPath(new URL('../..', import.meta.url))
const enginesOf = (path: string) =>
  (JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as { readonly engines: unknown })
    .engines

const asRoot = { OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' }

const folder = process.env['RANKWEAVE_NODE_VERSIONS'] ?? ''
if (folder === '')
  console.warn(
    'Other versions of Node.js are not tested: RANKWEAVE_NODE_VERSIONS does not name the folder of scripts/install-node-versions.ts.',
  )

it('engines is what is tested', () => {
  const engines = { node: '^20.9.0 || ^22 || ^24 || >=26' }
  expect([enginesOf('.'), enginesOf('packages/service')]).toEqual([engines, engines])
})

describe.runIf(folder !== '')('the packed library', () => {
  it.each(nodeVersions)('installs and runs without a warning on Node.js %s', async (version) => {
    const user = userOf(folder, version)
    const env = {
      ...process.env,
      ...asRoot,
      PATH: `${binOf(folder, version)}${delimiter}${process.env['PATH']}`,
    }
    const said = readFileSync(join(user, 'install.log'), 'utf8')
    expect(said.replace(expectedOfNpm, '')).toBe('npm ended with 0\n')

    const run = async (file: string, args: readonly string[]) => {
      const { stdout, stderr } = await promisify(execFile)(file, args, { cwd: user, env, encoding: 'utf8' })
      expect(stderr.replace(/^\d+ ranks on .*\n/gm, '')).toBe('')
      return stdout
    }
    const command = join('node_modules', 'rankweave', 'bin', 'rankweave.js')
    // Node.js removes no types below node_modules.
    cpSync(join(user, 'node_modules/rankweave/examples'), join(user, 'examples'), { recursive: true })
    writeFileSync(join(user, 'every.mjs'), everyExample)
    expect(JSON.parse(await run('node', ['every.mjs']))).toEqual(results)
    const ring = ['run', join('examples', 'ring.ts'), '-n', '4']
    const onThreads = await run('node', [command, ...ring, '--fabric', 'threads', '--processes', '2'])
    expect(onThreads).toContain('allHome: true')
    // Versions take the MPI libraries in turn.
    const found = inject('mpirun')
    const mpirun = found.at(nodeVersions.indexOf(version) % Math.max(1, found.length))
    if (mpirun !== undefined) {
      const words = ['-n', '2', 'node', command, ...ring, '--fabric', 'mpi']
      const oversubscribed = mpirun === launchers['Open MPI'] ? ['--oversubscribe'] : []
      expect(await run(mpirun, [...oversubscribed, ...words])).toContain('allHome: true')
    }

    const serving = spawn('node', [command, 'serve', '--port', '0', '--data', 'data'], {
      ...{ cwd: user, env, stdio: ['ignore', 'pipe', 'pipe'] },
    })
    onTestFinished(() => void serving.kill('SIGKILL'))
    let log = ''
    serving.stderr.setEncoding('utf8').on('data', (text) => {
      log += text
    })
    const [line] = (await once(serving.stdout, 'data')) as [Buffer]
    const [, url] = /^listening on (http:\S+)/.exec(line.toString())!
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' })
    serving.kill()
    expect(await once(serving, 'close')).toEqual([0, null])
    // The log is lines of JSON.
    expect(log.replace(/^\{.*\}\n/gm, '')).toBe('')
  })
})

/** The newest npm reports scripts that it did not run, and that the oldest Node.js is too old for itself. */
const expectedOfNpm = /^npm warn (install-scripts|cli npm v\S+ does not support Node.js).*\n?/gm

/** Runs the examples on each fabric in one program, since each start of a program costs more than what it computes. */
const everyExample = `
  import { run } from 'rankweave'
  const on = (name, ranks, fabric, args = []) =>
    run(new URL('./examples/' + name + '.ts', import.meta.url), { ranks, fabric, processes: 2, args })
  const first = async (...call) => (await on(...call))[0]
  const results = {}
  for (const fabric of ['local', 'threads', 'websocket']) {
    const { pointsDiffering } = await first('mandelbrot', 2, fabric, ['0'])
    const { allHome } = await first('ring', 4, fabric)
    const { isRight } = await first('conjugate-gradients', 4, fabric)
    results[fabric] = { pointsDiffering, allHome, isRight }
  }
  for (const name of ['halo-exchange', 'persistent-halo', 'spmm']) results[name] = (await first(name, 6, 'local')).differing
  results.survivors = (await first('jacobi-survivor', 6, 'threads')).survivors
  console.log(JSON.stringify(results))
`
const ofFabric = { pointsDiffering: 0, allHome: true, isRight: true }
const results = {
  ...{ local: ofFabric, threads: ofFabric, websocket: ofFabric },
  ...{ 'halo-exchange': 0, 'persistent-halo': 0, spmm: 0, survivors: 6 },
}
