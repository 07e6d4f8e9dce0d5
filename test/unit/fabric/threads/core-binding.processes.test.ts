import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { allowedProcessors, processorsIn } from '../../../../src/base/allowed-processors.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * A program in which no module is imported: Node 20 would read it by the pool of threads for files, which then exists
 * before anything is bound. Node 22 reads modules without it.
 */
function programOf(code: string): string {
  const { outputFiles } = buildSync({
    stdin: { contents: code, resolveDir: root },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    external: ['koffi'],
    supported: { 'dynamic-import': false },
    write: false,
    logLevel: 'error',
  })
  return outputFiles[0].text
}

describe('bindThisThread', () => {
  it('leaves other threads of the process alone, those for files that start later included', () => {
    const allowed = allowedProcessors()
    const [first] = processorsIn(allowed)
    const code = `
      import { readdirSync, readFileSync, stat } from 'node:fs'
      import { bindThisThread } from './src/fabric/threads/core-binding.js'
      const processorsOf = (thread) =>
        /^Cpus_allowed_list:\\s*(\\S+)$/m.exec(readFileSync('/proc/self/task/' + thread + '/status', 'utf8'))[1]
      bindThisThread([${first}]).then(() => stat('.', () => {
        const threads = readdirSync('/proc/self/task')
        const own = String(process.pid)
        const others = threads.filter((thread) => thread !== own)
        console.log(JSON.stringify([processorsOf(own), ...new Set(others.map(processorsOf))]))
      }))`
    const printed = execFileSync(process.execPath, ['-'], {
      cwd: root,
      input: programOf(code),
      encoding: 'utf8',
    })
    expect(JSON.parse(printed)).toEqual([`${first}`, allowed])
  })
})

describe('rankweave run --bind-to core', () => {
  const program = 'test/support/threads-program.ts'
  const words = ['run', program, '-n', '1', '--fabric', 'threads', '--processes', '1', '--bind-to', 'core']

  it('without koffi names the package, and runs nothing', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', './test/support/without-package.mjs?koffi', 'dist/cli/main.js', ...words],
      { cwd: root, encoding: 'utf8' },
    )
    expect(stderr).toMatch(/^ERR_KOFFI: threads: bindTo 'core' needs .*npm install koffi/)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  })
})
