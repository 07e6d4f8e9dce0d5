import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { rankweave } from '../../support/mpi.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

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
      if (world.rank === 0) {
        console.error('reading')
        for await (const chunk of process.stdin) text += chunk
      }
      return world.bcast(text)
    }`,
  'reads-at-once.mjs': `
    import { readFileSync } from 'node:fs'
    export default (world) => {
      if (world.rank > 0) return world.bcast('')
      console.error('reading')
      return world.bcast(readFileSync(0, 'utf8'))
    }`,
  'reads-elsewhere.mjs': `
    export default async function main(world) {
      let text = 'nothing'
      if (world.rank === 1) for await (const chunk of process.stdin) text += chunk
      return text
    }`,
}

const folder = temporaryFolder('stdio')
beforeAll(() => {
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder(), name), text)
  mkdirSync(join(folder(), 'node_modules'))
  symlinkSync(join(import.meta.dirname, '../../..'), join(folder(), 'node_modules/rankweave'))
})

const shell = (script: string) => promisify(execFile)('bash', ['-c', script], { cwd: folder() })
const words = (program: string, fabric: string) =>
  rankweave('run', program, '-n', '2', '--fabric', fabric, '--processes', '2')
const run = (program: string, fabric: string) =>
  [process.execPath, ...words(program, fabric)].map((word) => `'${word}'`).join(' ')

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

describe('standard input', () => {
  /** What ranks return when words arrive once the program reads: a descriptor that does not block would have nothing. */
  function resultsOf(program: string, fabric: string): Promise<unknown> {
    const child = spawn(process.execPath, [...words(program, fabric), '--json'], { cwd: folder() })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    child.stderr.once('data', () => child.stdin.end('words\n'))
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', () => resolve((JSON.parse(printed) as { results: unknown }).results))
    })
  }

  it.each([
    ['reads.mjs', 'local'],
    ['reads-at-once.mjs', 'local'],
    ['reads.mjs', 'threads'],
    ['reads-at-once.mjs', 'threads'],
  ])('is read by a rank of process 0 as it arrives: %s on %s', async (program, fabric) => {
    expect(await resultsOf(program, fabric)).toEqual(['words\n', 'words\n'])
  })

  it('may be a file', async () => {
    const { stdout } = await shell(`echo words >input; ${run('reads.mjs', 'threads')} --json <input`)
    expect(JSON.parse(stdout)).toMatchObject({ results: ['words\n', 'words\n'] })
  })

  it('is at its end for processes other than process 0', async () => {
    const { stdout } = await shell(`echo words | ${run('reads-elsewhere.mjs', 'threads')} --json`)
    expect(JSON.parse(stdout)).toMatchObject({ results: ['nothing', 'nothing'] })
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
    const spmm = rankweave('spmm', '-', '-n', '2', '--fabric', 'threads', '--processes', '2')
    const { stdout } = await shell(`printf '${matrix}' | '${process.execPath}' ${spmm.join(' ')}`)
    expect(stdout).toMatch(/check +passed/)
  })
})
