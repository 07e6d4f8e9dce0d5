import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readTuningFile } from '../../../src/tuning/models/read-tuning-file.js'
import { callFilesOf, disagreements, recordsByCall } from '../../support/call-folders.js'
import { describeEitherMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { childKey, otherChoices, worldKey } from '../../support/mpi-online.js'
import { compileProgram, compileShim, runPreloaded } from '../../support/shim.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const command = new URL('../../../dist/cli/main.js', import.meta.url).pathname
const right = { code: 0, stdout: 'right\n', stderr: '' }

describeEitherMpi('online tuning of an MPI program', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('shim-online')
  const skipped = it.skipIf(mpicc === null)
  let library: string
  let program: string
  let runs = 0

  const pathOf = (name: string) => join(folder(), name)
  const start = (ranks: number, args: readonly string[], words: string) =>
    runPreloaded(mpi, ranks, library, [program, ...args], { RANKWEAVE_SHIM: words })
  /** The file of a run that ends well. */
  const recorded = async (ranks: number, args: readonly string[], options = '') => {
    const name = `runs-${runs++}`
    expect(await start(ranks, args, `online:${pathOf(name)}${options}`)).toEqual(right)
    expect(readdirSync(pathOf(name))).toHaveLength(1)
    return callFilesOf(pathOf(name))[0]
  }

  beforeAll(() => {
    if (mpicc === null) return
    library = compileShim(folder(), mpicc).library
    program = compileProgram(folder(), mpicc, 'online', ['-pthread'])
  })

  skipped('takes the settings that its seed draws, each call once', async () => {
    const file = await recorded(3, ['parts', '24'], ',seed=77,calls=200')
    expect(file).toMatchObject({ mode: 'tuning', model: '', seed: 77, processes: 3 })
    expect(file.source).toMatchObject({ kind: 'mpi', name: expect.stringContaining(mpi.name) })
    const shapes = file.communicators.map(({ processes }) => processes)
    // The world, its even ranks and a copy of these, its last two ranks; one rank is left to MPI.
    expect(shapes).toEqual([3, 2, 2, 2])
    const even = childKey(worldKey, 0, 0)
    const keys = [worldKey, even, childKey(even, 0, 0), childKey(worldKey, 1, 2)]
    expect(otherChoices(file, new Map(keys.map((key, id) => [id, key])))).toEqual([])
    const counted = (communicator: number, process: number) =>
      file.records.get(process)!.filter((record) => record.communicator === communicator)
    for (const process of [0, 1, 2])
      expect(counted(0, process).map(({ call }) => call)).toEqual(Array.from({ length: 48 }, (_, i) => i))
    expect(counted(1, 0)).toHaveLength(24)
    expect(counted(1, 1)).toHaveLength(0)
    expect(counted(3, 2)).toHaveLength(24)
    expect(disagreements(file)).toEqual([])
    expect(new Set(counted(0, 0).map(({ setting }) => setting)).size).toBeGreaterThan(4)
  })

  skipped('records as many calls as it may, of the processes that are measured', async () => {
    const file = await recorded(3, ['parts', '20'], ',calls=30,measured=2')
    expect([...file.records.keys()]).toEqual([0, 1])
    // Of 30 the world uses 20, its parts have half of 10 and a copy half of what is left of these; then the world has 2.
    const calls = [...recordsByCall(file).keys()].map((key) => Number(key.split(' ')[0]))
    const counts = file.communicators.map(({ id }) => calls.filter((each) => each === id).length)
    expect(counts[0]).toBe(23)
    expect(counts[1]).toBe(5)
    const all = [...file.records.values()].map((records) => records.length)
    expect(Math.max(...all)).toBeLessThanOrEqual(30)
  })

  skipped('leaves what MPI alone serves to MPI', async () => {
    const file = await recorded(3, ['odd'])
    const sizes = new Set([...file.records.values()].flat().map(({ bytes }) => bytes))
    expect([...sizes].sort()).toEqual([40, 400])
    expect(disagreements(file)).toEqual([])
    expect(Math.min(...file.communicators.map(({ processes }) => processes))).toBe(3)
  })

  skipped('learns between runs, and takes the best', async () => {
    const name = 'learned'
    const words = `online:${pathOf(name)},calls=400`
    for (const seed of [1, 2])
      expect(await start(2, ['world', '400'], `${words},seed=${seed}`)).toEqual(right)
    const learn = () => spawnSync(process.execPath, [command, 'learn', pathOf(name)], { encoding: 'utf8' })
    const first = learn()
    expect(first.stdout).toMatch(/^2 runs of .* on .*, 800 calls; 0 evaluation runs$/m)
    const model = readTuningFile(readFileSync(join(pathOf(name), 'model.json'), 'utf8'))
    expect(model.decisions.allreduce).toMatchObject({ kind: 'grid', isTrained: true })
    for (const mode of ['tuning', 'tuned'])
      expect(await start(2, ['world', '100'], `${words},seed=3,mode=${mode}`)).toEqual(right)
    const later = callFilesOf(pathOf(name)).filter(({ seed }) => seed === 3)
    for (const file of later) {
      expect(file.model).toBe(model.checksum)
      expect(otherChoices(file, new Map([[0, worldKey]]), model)).toEqual([])
    }
    expect(later.map(({ mode }) => mode)).toEqual(['tuning', 'tuned'])
    expect(learn().stdout).toMatch(/^3 runs of .*, 900 calls; 1 evaluation run$/m)
    const tuned = await start(2, ['world', '60'], `tune:${pathOf(name)}/model.json,report`)
    expect(tuned).toMatchObject({ code: 0, stdout: 'right\n' })
    expect(tuned.stderr).toMatch(
      /: \d+ calls?: \d+ (in the setting|left to MPI: (the file chooses so|too few))/,
    )
  })

  skipped('records two runs at once into one folder', async () => {
    const name = 'at-once'
    const both = [1, 2].map((seed) => start(2, ['world', '40'], `online:${pathOf(name)},seed=${seed}`))
    expect(await Promise.all(both)).toEqual([right, right])
    expect(
      callFilesOf(pathOf(name))
        .map(({ seed }) => seed)
        .sort(),
    ).toEqual([1, 2])
    expect(readdirSync(pathOf(name))).toHaveLength(2)
  })

  skipped('leaves no file where a process is killed', async () => {
    const { code, stdout } = await start(3, ['killed', '40'], `online:${pathOf('killed')}`)
    expect(code).not.toBe(0)
    expect(stdout).not.toContain('right')
    expect(readdirSync(pathOf('killed'))).toEqual([])
  })

  describe('leaves all calls to MPI, and says so once,', () => {
    const cases: readonly (readonly [string, (path: string) => string, string])[] = [
      [
        'for calls that are no number',
        (path) => `online:${path},calls=many`,
        'calls=many: expected an integer from 1 to 1048576',
      ],
      ['for no calls', (path) => `online:${path},calls=0`, 'calls=0: expected an integer from 1 to 1048576'],
      [
        'for a number that is too large',
        (path) => `online:${path},seed=4294967296`,
        'expected an integer from 0 to 4294967295',
      ],
      [
        'for an unknown mode',
        (path) => `online:${path},mode=fast`,
        'mode=fast: expected mode=tuning or mode=tuned',
      ],
      [
        'besides a tuning file',
        (path) => `tune:t.json,online:${path}`,
        'expected online:FOLDER or tune:FILE, got both',
      ],
      [
        'where the folder is a file',
        () => `online:${program}`,
        'files cannot be written there: Not a directory',
      ],
      [
        'where the folder cannot be made',
        () => `online:${program}/inside`,
        'files cannot be written there: Not a directory',
      ],
      ['for a model that is damaged', (path) => `online:${path}`, 'model.json: at byte 1 it is cut off'],
      ['for a model that is a pipe', (path) => `online:${path}`, 'model.json: it is not a regular file'],
      [
        'without the name of a folder',
        () => 'online:',
        'RANKWEAVE_SHIM: online:: expected the name of a folder, as in online:runs',
      ],
    ]
    skipped.each(cases)('%s', async (title, words, message) => {
      const path = pathOf(`wrong-${runs++}`)
      if (title.includes('model')) {
        mkdirSync(path)
        if (title.includes('pipe')) execFileSync('mkfifo', [join(path, 'model.json')])
        else writeFileSync(join(path, 'model.json'), '{')
      }
      const { code, stdout, stderr } = await start(2, ['world', '20'], words(path))
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'right\n' })
      const lines = stderr.trimEnd().split('\n')
      expect(lines).toEqual([expect.stringContaining(message)])
      expect(lines[0]).toMatch(/^rankweave shim: online tuning( in .*)? is not used: /)
      if (existsSync(path)) expect(readdirSync(path).filter((name) => name.endsWith('.calls'))).toEqual([])
    })

    skipped.each([
      [
        'other numbers',
        'RANKWEAVE_SHIM=$RANKWEAVE_SHIM,calls=3',
        'processes name different mode, calls, measured or seed',
      ],
      ['no folder', 'RANKWEAVE_SHIM=on', ''],
    ])('where one process names %s', async (_, change, message) => {
      const path = pathOf(`partly-${runs++}`)
      const other = `[ "\${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && export ${change}; exec "$@"`
      const words = ['sh', '-c', other, 'sh', program, 'world', '20']
      const ended = await runPreloaded(mpi, 2, library, words, { RANKWEAVE_SHIM: `online:${path}` })
      expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
      expect(ended.stderr).toContain(message)
      expect(ended.stderr).toMatch(/^rankweave shim: online tuning in .* is not used: .*\n$/)
      expect(existsSync(path)).toBe(false)
    })
  })

  skipped('names words that it does not know once, with those that it knows', async () => {
    const path = pathOf('unknown-words')
    const { code, stdout, stderr } = await start(3, ['world', '20'], `online:${path},mods=tuned,seeds=3`)
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'right\n' })
    const lines = stderr.trimEnd().split('\n')
    expect(lines.map((line) => line.split(', got ')[1])).toEqual(['mods=tuned', 'seeds=3'])
    for (const line of lines)
      expect(line).toContain('online:FOLDER, mode=tuning, mode=tuned, calls=N, measured=N, seed=N, ')
    expect(callFilesOf(path)).toHaveLength(1)
  })

  skipped('names a word without effect once', async () => {
    const { code, stdout, stderr } = await start(3, ['world', '20'], 'calls=3')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'right\n' })
    expect(stderr).toBe(
      'rankweave shim: RANKWEAVE_SHIM: calls=3 is without effect: expected online:FOLDER besides\n',
    )
  })

  skipped.each([
    ['has vanished', 'No such file or directory', (path: string) => ['vanished', path]],
    ['takes no more', 'File too large', () => ['limited', '40']],
  ] as const)(
    'warns where the folder %s at the end, and the program ends as it would',
    async (title, reason, words) => {
      const path = pathOf(title.replaceAll(' ', '-'))
      const ended = await start(2, words(path), `online:${path}`)
      expect(ended).toMatchObject({ code: 0, stdout: 'right\n' })
      const message = `the calls of this run are not recorded in ${path}: ${reason}`
      expect(ended.stderr).toBe(`rankweave shim: online tuning: ${message}\n`)
      if (existsSync(path)) expect(readdirSync(path)).toEqual([])
    },
  )

  skipped.each(['conjugate-gradients', 'transposition'])('serves the example %s', async (name) => {
    const source = new URL(`../../../examples/c/${name}.c`, import.meta.url).pathname
    const example = pathOf(name)
    execFileSync(mpicc!, ['-std=c99', '-O2', '-Wall', '-Wextra', '-Werror', '-o', example, source, '-lm'])
    const words = `online:${pathOf(`${name}-runs`)}`
    const command = [example, name === 'transposition' ? '4' : '50', '3']
    const ended = await runPreloaded(mpi, 3, library, command, { RANKWEAVE_SHIM: words })
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^right: /), stderr: '' })
    const [file] = callFilesOf(pathOf(`${name}-runs`))
    expect(recordsByCall(file).size).toBeGreaterThan(3)
  })
})
