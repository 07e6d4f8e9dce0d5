import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rankweave } from '../../support/mpi.js'

const programs: Readonly<Record<string, string>> = {
  'chatty.mjs': `
    export default async function main(world) {
      for (let i = 0; i < 5_000; i++) console.log('line ' + i + ' ' + 'x'.repeat(60))
      await world.barrier()
    }`,
  'listens.mjs': `
    import { run } from 'rankweave'
    process.stdout.on('error', (error) => console.error(error.code))
    await run(new URL('./chatty.mjs', import.meta.url), { ranks: 2, fabric: 'threads' })`,
  'reads.mjs': `
    export default async function main(world) {
      let text = ''
      if (world.rank === 0) for await (const chunk of process.stdin) text += chunk
      return world.bcast(text)
    }`,
  'reads-at-once.mjs': `
    import { readFileSync } from 'node:fs'
    export default (world) => world.bcast(world.rank === 0 ? readFileSync(0, 'utf8') : '')`,
  'reads-elsewhere.mjs': `
    export default async function main(world) {
      let text = 'nothing'
      if (world.rank === 1) for await (const chunk of process.stdin) text += chunk
      return text
    }`,
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-stdio-'))
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text)
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(import.meta.dirname, '../../..'), join(folder, 'node_modules/rankweave'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const shell = (script: string) => promisify(execFile)('bash', ['-c', script], { cwd: folder })
const run = (program: string, fabric: string) =>
  [process.execPath, ...rankweave('run', program, '-n', '2', '--fabric', fabric, '--processes', '2')]
    .map((word) => `'${word}'`)
    .join(' ')

describe.each(['local', 'threads'])('standard output on %s', (fabric) => {
  it('ends the world quietly with exit code 141 when its reader leaves early', async () => {
    const { stdout, stderr } = await shell(
      `${run('chatty.mjs', fabric)} | head -n 1; echo "\${PIPESTATUS[0]}"`,
    )
    expect(stdout).toMatch(/^line 0 x+\n141\n$/)
    expect(stderr).toBe('')
  })

  it.skipIf(!existsSync('/dev/full'))('that is full is reported once (needs /dev/full)', async () => {
    const { stdout, stderr } = await shell(`${run('chatty.mjs', fabric)} >/dev/full; echo $?`)
    expect(stdout).toBe('2\n')
    expect(stderr).toMatch(/^ERR_FILE: cannot write the output: ENOSPC.*\n$/)
  })
})

describe.each(['local', 'threads'])('standard input on %s', (fabric) => {
  it('is read by a rank of process 0 as a stream, and at once', async () => {
    // Later than the program starts: a descriptor that does not block would have nothing yet.
    const late = '(sleep 1; echo words)'
    const [stream, atOnce] = await Promise.all([
      shell(`${late} | ${run('reads.mjs', fabric)} --json`),
      shell(`${late} | ${run('reads-at-once.mjs', fabric)} --json`),
    ])
    for (const { stdout } of [stream, atOnce]) {
      expect(JSON.parse(stdout)).toMatchObject({ results: ['words\n', 'words\n'] })
    }
  })

  it('may be a file', async () => {
    const { stdout } = await shell(`echo words >input; ${run('reads.mjs', fabric)} --json <input`)
    expect(JSON.parse(stdout)).toMatchObject({ results: ['words\n', 'words\n'] })
  })
})

describe('the workers of `run`', () => {
  it('do not wait for a standard output that has failed', async () => {
    const { stderr } = await shell(`'${process.execPath}' listens.mjs | head -n 1; exit \${PIPESTATUS[0]}`)
    expect(stderr).toContain('EPIPE')
  })

  it('run after the command has read standard input itself', async () => {
    // A closed descriptor 0 would become that of a file or socket of a worker.
    const matrix = '%%%%MatrixMarket matrix coordinate real general\\n2 2 1\\n1 2 3\\n'
    const words = rankweave('spmm', '-', '-n', '2', '--fabric', 'threads', '--processes', '2')
    const { stdout } = await shell(`printf '${matrix}' | '${process.execPath}' ${words.join(' ')}`)
    expect(stdout).toMatch(/check +passed/)
  })

  it('other than process 0 find standard input at its end', async () => {
    const { stdout } = await shell(`echo words | ${run('reads-elsewhere.mjs', 'threads')} --json`)
    expect(JSON.parse(stdout)).toMatchObject({ results: ['nothing', 'nothing'] })
  })
})
