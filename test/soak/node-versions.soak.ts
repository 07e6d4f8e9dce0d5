import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { launchers } from '../support/find-mpi.js'
import { ownFolder } from '../support/temporary-folder.js'

// The packed library on every Node.js of its `engines`, as npm installs both: no program may print a warning.

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = ownFolder('node-versions')
const manifestOf = (path: string) =>
  JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as {
    readonly version: string
    readonly engines: { readonly node: string }
    readonly devDependencies: Readonly<Record<string, string>>
  }
const { version, engines, devDependencies } = manifestOf('.')

/** The oldest that works, and the newest of each later line; npm has every Node.js as a package with one program. */
const versions = ['20.9.0', '22', '24', '26']
const programOf = (node: string) => join(folder, 'node_modules', `node-${node}`, 'bin')

const asRoot = { OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' }

const npm = (args: readonly string[], cwd: string, env = process.env) =>
  promisify(execFile)('npm', [...args, '--no-audit', '--no-fund'], { cwd, env, encoding: 'utf8' })

const installed = await installedVersions()

/** @returns whether npm has brought all of them; the run prints why not */
async function installedVersions(): Promise<boolean> {
  const platform = `node-${process.platform}-${process.arch}`
  const wanted = versions.map((node) => `node-${node}@npm:${platform}@${node}`)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  try {
    await npm(['install', '--fetch-retries', '0', ...wanted], folder)
    return true
  } catch (error) {
    const { stderr } = error as { readonly stderr: string }
    if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|network|E404/.test(stderr)) throw error
    console.warn(`Other versions of Node.js are not tested: npm cannot install ${platform}. ${stderr}`)
    return false
  }
}

it('engines is what is tested', () => {
  expect(engines.node).toBe('^20.9.0 || ^22 || ^24 || >=26')
  expect(manifestOf('packages/service').engines).toEqual(engines)
})

describe.runIf(installed)('the packed library', () => {
  const tarballs = ['', 'packages/service'].map((path) => ({
    source: join(root, path),
    tarball: join(folder, `rankweave-${path === '' ? '' : 'service-'}${version}.tgz`),
  }))

  it.each(versions)('installs and runs without a warning on Node.js %s', async (version) => {
    for (const { source, tarball } of tarballs)
      if (!existsSync(tarball)) await npm(['pack', '--ignore-scripts', '--pack-destination', folder], source)
    const env = { ...process.env, ...asRoot, PATH: `${programOf(version)}${delimiter}${process.env['PATH']}` }
    const user = join(folder, `user-${version}`)
    mkdirSync(user)
    writeFileSync(join(user, 'package.json'), '{ "private": true, "type": "module" }')
    // Below version 22 Node.js does not remove types.
    const others = ['koffi', ...(version.startsWith('20') ? ['tsx'] : [])]
    const packages = [
      ...tarballs.map(({ tarball }) => tarball),
      ...others.map((name) => `${name}@${devDependencies[name]}`),
    ]
    const answer = await npm(['install', '--engine-strict', '--prefer-offline', ...packages], user, env)
    expect(answer.stderr.replace(expectedOfNpm, '')).toBe('')

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
    const mpirun = found.at(versions.indexOf(version) % Math.max(1, found.length))
    if (mpirun !== undefined) {
      const words = ['-n', '2', 'node', command, ...ring, '--fabric', 'mpi']
      const oversubscribed = mpirun === launchers['Open MPI'] ? ['--oversubscribe'] : []
      expect(await run(mpirun, [...oversubscribed, ...words])).toContain('allHome: true')
    }

    const serving = spawn('node', [command, 'serve', '--port', '0', '--data', 'data'], {
      ...{ cwd: user, env, stdio: ['ignore', 'pipe', 'pipe'] },
    })
    onTestFinished(() => void serving.kill('SIGKILL'))
    let said = ''
    serving.stderr.setEncoding('utf8').on('data', (text) => {
      said += text
    })
    const [line] = (await once(serving.stdout, 'data')) as [Buffer]
    const [, url] = /^listening on (http:\S+)/.exec(line.toString())!
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' })
    serving.kill()
    expect(await once(serving, 'close')).toEqual([0, null])
    // The log is lines of JSON.
    expect(said.replace(/^\{.*\}\n/gm, '')).toBe('')
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
