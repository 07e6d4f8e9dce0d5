import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { packedEnding, packedTuning } from '../../../src/shim/packed-files.js'
import { cellAxes, closedGrid, countCells } from '../../../src/tuning/models/decision-grid.js'
import { readTuningFile } from '../../../src/tuning/models/read-tuning-file.js'
import { callFilesOf, disagreements, recordsByCall } from '../../support/call-folders.js'
import { otherChoices, worldKey } from '../../support/mpi-online.js'
import { settingOf, tuningFileOf } from '../../support/mpi-tuning-file.js'
import { describeShim, right } from '../../support/shim.js'
import { perTier } from '../../support/soak.js'
import { cli } from '../cli/run-cli.js'

const calls = perTier({ test: 200, soak: 400, long: 10_000 })
const ofWorld = new Map([[0, worldKey]])

describeShim('online tuning of an MPI program', (shim) => {
  const isMpich = shim.mpi.name === 'MPICH'
  // Waiting processes of MPICH do not give up their core.
  const few = isMpich ? 2 : 4
  let runs = 0

  const start = (ranks: number, cases: readonly string[], words: string) =>
    shim.run(ranks, cases, { RANKWEAVE_SHIM: words })
  const silent = (...cases: readonly string[]) => ({ ...right(...cases), stderr: '' })
  /** The file of a run that ends well. */
  const recorded = async (ranks: number, cases: readonly string[], options = '') => {
    const path = shim.path(`runs-${runs++}`)
    expect(await start(ranks, cases, `online:${path}${options}`)).toEqual(silent(...cases))
    expect(readdirSync(path)).toHaveLength(1)
    return callFilesOf(path)[0]
  }

  it.each([1, 2])('gives right data on random parts of many ranks, seed %i', async (seed) => {
    const cases = [`online random ${calls} ${seed}`]
    const file = await recorded(isMpich ? 4 : 16, cases, `,calls=1048576,seed=${seed}`)
    expect(disagreements(file)).toEqual([])
    expect(otherChoices(file, ofWorld)).toEqual([])
    const sizes = new Map(file.communicators.map(({ id, processes }) => [id, processes]))
    const byCall = recordsByCall(file)
    for (const [call, records] of byCall)
      expect([call, records.length]).toEqual([call, sizes.get(Number(call.split(' ')[0]))])
    expect(byCall.size).toBeGreaterThan(calls / 2)
    expect(file.communicators.length).toBeGreaterThan(12)
  })

  it('records as many calls as it may, of the processes that are measured', async () => {
    const file = await recorded(3, ['online parts 20'], ',calls=30,measured=2')
    expect([...file.records.keys()]).toEqual([0, 1])
    // Of 30 the world uses 20, its parts have half of 10 and a copy half of what is left of these; then the world has 2.
    const calls = [...recordsByCall(file).keys()].map((key) => Number(key.split(' ')[0]))
    const counts = file.communicators.map(({ id }) => calls.filter((each) => each === id).length)
    expect(counts.slice(0, 2)).toEqual([23, 5])
    const all = [...file.records.values()].map((records) => records.length)
    expect(Math.max(...all)).toBeLessThanOrEqual(30)
  })

  it('leaves what MPI alone serves to MPI', async () => {
    const file = await recorded(3, ['online odd'])
    const sizes = new Set([...file.records.values()].flat().map(({ bytes }) => bytes))
    expect([...sizes].sort()).toEqual([40, 400])
    expect(disagreements(file)).toEqual([])
    expect(Math.min(...file.communicators.map(({ processes }) => processes))).toBe(3)
  })

  it('learns between runs, and gives right data when it explores and takes the best', async () => {
    const path = shim.path('learned')
    const words = `online:${path},calls=${calls}`
    const world = [`online world ${calls}`]
    for (const seed of [1, 2, 3])
      expect(await start(few, world, `${words},seed=${seed}`)).toEqual(silent(...world))
    const first = await cli('learn', path)
    expect(first.stdout).toMatch(
      new RegExp(`^3 runs of .* on .*, ${(3 * calls).toLocaleString('en')} calls; 0 evaluation runs$`, 'm'),
    )
    const model = readTuningFile(readFileSync(join(path, 'model.json'), 'utf8'))
    expect(model.decisions.allreduce).toMatchObject({ kind: 'grid', isTrained: true })
    const cases = ['online random 400 5', 'online odd', 'online parts 40']
    for (const mode of ['tuning', 'tuned']) {
      expect(await start(few, cases, `${words},seed=9,mode=${mode}`)).toMatchObject(right(...cases))
      // Of several threads fewer settings serve: nothing may change the radix of trees in a call.
      const threads = ['online threads 20']
      expect(await start(few, threads, `${words},seed=8,mode=${mode}`)).toMatchObject(right(...threads))
    }
    const files = callFilesOf(path).filter(({ seed }) => seed === 9)
    expect(files.map(({ mode, model }) => [mode, model])).toEqual([
      ['tuning', model.checksum],
      ['tuned', model.checksum],
    ])
    for (const file of files) {
      expect(disagreements(file)).toEqual([])
      expect(otherChoices(file, ofWorld, model)).toEqual([])
    }
    const tuned = await start(few, ['online world 60'], `tune:${path}/model.json,report`)
    expect(tuned).toMatchObject(right('online world 60'))
    expect(tuned.stderr).toMatch(
      /: \d+ calls?: \d+ (in the setting|left to MPI: (the file chooses so|too few))/,
    )
  })

  it('records many runs at once into one folder', async () => {
    const path = shim.path('many')
    const [seeds, cases] = [[1, 2, 3, 4], ['online world 40']]
    const all = seeds.map((seed) => start(2, cases, `online:${path},seed=${seed}`))
    for (const ended of await Promise.all(all)) expect(ended).toEqual(silent(...cases))
    const files = callFilesOf(path)
    expect(files.map(({ seed }) => seed).sort()).toEqual(seeds)
    expect(readdirSync(path)).toHaveLength(files.length)
  })

  it('leaves no file where a process is killed', async () => {
    const { code, stdout } = await start(3, ['online killed 40'], `online:${shim.path('killed')}`)
    expect(code).not.toBe(0)
    expect(stdout).not.toContain('right')
    expect(readdirSync(shim.path('killed'))).toEqual([])
  })

  it.each([
    ['calls that are no number', 'FOLDER,calls=many', 'calls=many: expected an integer from 1 to 1048576'],
    ['no calls', 'FOLDER,calls=0', 'calls=0: expected an integer from 1 to 1048576'],
    ['a number that is too large', 'FOLDER,seed=4294967296', 'expected an integer from 0 to 4294967295'],
    ['an unknown mode', 'FOLDER,mode=fast', 'mode=fast: expected mode=tuning or mode=tuned'],
    ['a folder that is a file', 'FILE', 'files cannot be written there: Not a directory'],
    ['a folder that cannot be made', 'FILE/inside', 'files cannot be written there: Not a directory'],
    [
      'a model that is damaged',
      'FOLDER',
      'model.json: the file beside it that ends with .packed is of another kind',
    ],
    [
      'a model that is a pipe',
      'FOLDER',
      'model.json: the file beside it that ends with .packed is not a regular file',
    ],
    ['no name of a folder', '', 'online:: expected the name of a folder, as in online:runs'],
    ['a tuning file besides', 'FOLDER,tune:t.json', 'expected online:FOLDER or tune:FILE, got both'],
  ])('leaves all calls to MPI, and says so once, for %s', async (title, words, message) => {
    const path = shim.path(`wrong-${runs++}`)
    if (title.startsWith('a model')) {
      mkdirSync(path)
      writeFileSync(join(path, 'model.json'), '{}')
      const packed = join(path, `model.json${packedEnding}`)
      if (title.includes('pipe')) execFileSync('mkfifo', [packed])
      else writeFileSync(packed, '{}')
    }
    const given = words.replace('FOLDER', path).replace('FILE', shim.library)
    const { code, stdout, stderr } = await start(2, ['online world 20'], `online:${given}`)
    expect({ code, stdout }).toEqual(right('online world 20'))
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringContaining(message)])
    expect(stderr).toMatch(/^rankweave shim: online tuning( in .*)? is not used: /)
    if (existsSync(path)) expect(readdirSync(path).filter((name) => name.endsWith('.calls'))).toEqual([])
  })

  it.each([
    [
      'other numbers',
      'RANKWEAVE_SHIM=$RANKWEAVE_SHIM,calls=3',
      'processes name different mode, calls, measured or seed',
    ],
    ['no folder', 'RANKWEAVE_SHIM=on', ''],
  ])('leaves all calls to MPI where one process names %s', async (_, change, message) => {
    const path = shim.path(`partly-${runs++}`)
    const command = shim.unless(1, `export ${change}`, 'online world 20')
    const ended = await shim.start(2, command, { RANKWEAVE_SHIM: `online:${path}` })
    expect(ended).toMatchObject(right('online world 20'))
    expect(ended.stderr).toContain(message)
    expect(ended.stderr).toMatch(/^rankweave shim: online tuning in .* is not used: .*\n$/)
    expect(existsSync(path)).toBe(false)
  })

  it('names words that it does not know once, with those that it knows', async () => {
    const path = shim.path('unknown-words')
    const { code, stdout, stderr } = await start(3, ['online world 20'], `online:${path},mods=tuned,seeds=3`)
    expect({ code, stdout }).toEqual(right('online world 20'))
    const lines = stderr.trimEnd().split('\n')
    expect(lines.map((line) => line.split(', got ')[1])).toEqual(['mods=tuned', 'seeds=3'])
    for (const line of lines)
      expect(line).toContain('online:FOLDER, mode=tuning, mode=tuned, calls=N, measured=N, seed=N, ')
    expect(callFilesOf(path)).toHaveLength(1)
  })

  it('names a word without effect once', async () => {
    const said = 'rankweave shim: RANKWEAVE_SHIM: calls=3 is without effect: expected online:FOLDER besides\n'
    expect(await start(3, ['online world 20'], 'calls=3')).toEqual({
      ...right('online world 20'),
      stderr: said,
    })
  })

  it.each([
    ['has vanished', 'No such file or directory', (path: string) => `online vanished ${path}`],
    ['takes no more', 'File too large', () => 'online limited 40'],
  ])(
    'warns where the folder %s at the end, and the program ends as it would',
    async (title, reason, caseOf) => {
      const path = shim.path(title.replaceAll(' ', '-'))
      const ended = await start(2, [caseOf(path)], `online:${path}`)
      const message = `the calls of this run are not recorded in ${path}: ${reason}`
      expect(ended).toEqual({ ...right(caseOf(path)), stderr: `rankweave shim: online tuning: ${message}\n` })
      if (existsSync(path)) expect(readdirSync(path)).toEqual([])
    },
  )

  it.each(['conjugate-gradients', 'transposition'])('serves the example %s', async (name) => {
    const source = fileURLToPath(new URL(`../../../examples/c/${name}.c`, import.meta.url))
    const example = shim.path(name)
    execFileSync(shim.mpicc, ['-std=c99', '-O2', '-Wall', '-Wextra', '-Werror', '-o', example, source, '-lm'])
    const path = shim.path(`${name}-runs`)
    const command = [example, name === 'transposition' ? '4' : '50', '3']
    const ended = await shim.start(few, command, { RANKWEAVE_SHIM: `online:${path}` })
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^right: /), stderr: '' })
    expect(recordsByCall(callFilesOf(path)[0]).size).toBeGreaterThan(3)
  })

  if (!isMpich)
    describe('by the best settings', () => {
      it('runs their algorithms once a call', async () => {
        const best = [
          ['allgather', 'ring', 'allgather_intra_ring'],
          ['alltoall', 'modified_bruck', 'alltoall_intra_bruck'],
          ['allreduce', 'basic_linear', 'allreduce_intra_basic_linear'],
          ['bcast', 'pipeline:segment=1024', 'bcast_intra_pipeline'],
        ] as const
        const path = shim.path('best')
        const cases = best.map(([collective]) => `tuned many ${collective} 250 50`)
        const run = (mode: string) =>
          shim.run(4, cases, { RANKWEAVE_SHIM: `online:${path},mode=${mode}` }, [shim.tool('seen')])
        await run('tuning')
        const { name, machine } = callFilesOf(path)[0].source
        const axes = cellAxes({ nodes: 1, processesPerNode: 1 })
        const grids = best.map(([collective, setting]) => [
          collective,
          closedGrid({
            ...{ settings: [settingOf(collective, setting)], axes, isTrained: true },
            ...{ best: new Int32Array(countCells(axes)).fill(1), performances: undefined },
          }),
        ])
        const file = tuningFileOf(name, Object.fromEntries(grids), machine)
        writeFileSync(join(path, 'model.json'), JSON.stringify(file))
        writeFileSync(join(path, `model.json${packedEnding}`), packedTuning(file))
        const { stdout, stderr } = await run('tuned')
        expect(stderr).toBe('')
        for (const [, , algorithm] of best) {
          const times = Number(new RegExp(`^seen ${algorithm} (\\d+)$`, 'm').exec(stdout)?.[1])
          // The library's own calls in MPI_Init and MPI_Finalize may come on top.
          expect(times).toBeGreaterThanOrEqual(50)
          expect(times).toBeLessThan(60)
        }
      })
    })
})
