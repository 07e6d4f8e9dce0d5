import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readCallFolder } from '../../../../src/cli/input/measured-input.js'
import { readTuningFile } from '../../../../src/tuning/models/read-tuning-file.js'
import { readCallFile } from '../../../../src/tuning/online/read-call-file.js'
import { refusal } from '../../../support/refusal.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json } from '../run-cli.js'

const root = ownFolder('learn')
const folderOf = (name: string) => join(root, name)
const solver = folderOf('solver')
const callsIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.calls'))
const readCalls = (folder: string, name: string) => readCallFile(name, readFileSync(join(folder, name)))

/** A folder with the same three runs of the solver and their model. */
function sameRuns(name: string): string {
  cpSync(solver, folderOf(name), { recursive: true })
  return folderOf(name)
}

describe('learn', () => {
  beforeAll(async () => {
    const { exitCode, stderr, stdout } = await cli`learn ${solver} --simulate solver --runs 3`
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('simulated 3 runs: ')])
    expect(stdout).toMatch(/^3 runs of solver on two levels, 3,000 calls; 0 evaluation runs\n/)
  })

  it('adds runs that evaluate, and writes the model of those that explored', async () => {
    const folder = sameRuns('evaluated')
    const before = readFileSync(join(folder, 'model.json'), 'utf8')
    const answer = await json`learn ${folder} --simulate solver --runs 2 --evaluate`
    expect(answer).toMatchObject({
      ...{ runs: 3, calls: 3000, evaluationRuns: 4, refusedFiles: 0, skippedCalls: 0 },
    })
    const after = readFileSync(join(folder, 'model.json'), 'utf8')
    expect(after).toBe(before)
    expect(readTuningFile(after).decisions.allreduce).toMatchObject({ kind: 'grid', isTrained: true })
    expect(callsIn(folder)).toHaveLength(7)
    const { mode, records } = readCalls(folder, 'simulated-0000.calls')
    expect(mode).toBe('tuning')
    for (const ofProcess of records.values()) expect(ofProcess).toHaveLength(1000)
  })

  it('uses each whole run once, and says of other files why not', async () => {
    const folder = sameRuns('damaged')
    const bytes = readFileSync(join(folder, 'simulated-0000.calls'))
    writeFileSync(join(folder, 'cut.calls'), bytes.subarray(0, bytes.length - 100))
    writeFileSync(join(folder, 'empty.calls'), '')
    writeFileSync(join(folder, 'foreign.calls'), '{"format":"x"}\n')
    writeFileSync(join(folder, 'copy.calls'), bytes)
    mkdirSync(join(folder, 'folder.calls'))
    symlinkSync('/dev/zero', join(folder, 'zero.calls'))
    const { exitCode, stderr, stdout } = await cli`learn ${folder}`
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^3 runs /)])
    for (const reason of [
      /not used: .*cut\.calls: expected \d+ bytes: the file was cut off or damaged/,
      /not used: .*empty\.calls: expected a file of calls, .*, got an empty file/,
      /not used: .*foreign\.calls, format: expected 'rankweave-calls'/,
      /not used: .*simulated-0000\.calls: the same run as copy\.calls/,
      /not used: .*folder\.calls: expected a regular file/,
      /not used: .*zero\.calls: expected a regular file/,
    ])
      expect(stderr).toMatch(reason)
  })

  it('has the same model where it is started again from the files of runs alone', async () => {
    const [whole, again] = [sameRuns('driven'), folderOf('again')]
    mkdirSync(again)
    for (const name of callsIn(whole)) copyFileSync(join(whole, name), join(again, name))
    for (const folder of [whole, again]) await cli`learn ${folder} --simulate solver --runs 2 --seed 5`
    const [expected, got] = [whole, again].map((folder) => readFileSync(join(folder, 'model.json'), 'utf8'))
    expect(got).toBe(expected)
    const { iterations } = await json`learn ${again} --report`
    expect(iterations).toMatchObject([
      { runs: 3, calls: 3000 },
      { runs: 2, calls: 2000 },
    ])
  })

  it('leaves out settings that are named or slow, says which, and simulates runs that never try them', async () => {
    const folder = folderOf('without')
    const bruck = 'allgather-bruck'
    const named = await cli`learn ${folder} --simulate solver --runs 3 --without ${bruck} bcast-linear`
    expect(named.stderr).toContain(`left out of allgather: 1 setting, ${bruck}\n`)
    expect(named.stderr).toContain('left out of bcast: 4 settings, bcast-linear bcast-linear:segment=1024 ')
    for (const name of callsIn(folder)) {
      const { settings, records } = readCalls(folder, name)
      const own = settings.filter(({ collective }) => collective === 'allgather')
      const calls = [...records.values()].flat().filter(({ collective }) => collective === 'allgather')
      const taken = new Set(calls.map(({ setting }) => own[setting - 1].algorithm))
      expect(taken.size).toBeGreaterThan(2)
      expect(taken.has(bruck)).toBe(false)
    }
    const none = await cli`learn ${solver} --report --without-slower 1000`
    expect(none.stderr).toContain('left out: no setting\n')
    const slow = await cli`learn ${solver} --report --without-slower 1.5`
    const counts = [...slow.stderr.matchAll(/left out of \w+: (\d+) settings?, (.*)/g)]
    expect(counts.length).toBeGreaterThan(0)
    for (const [, count, names] of counts) {
      const others = Number(/ and (\d+) others?$/.exec(names)?.[1] ?? 0)
      expect(names.replace(/ and \d+ others?$/, '').split(' ').length + others).toBe(Number(count))
    }
  })

  it('writes a model without performances, in which no setting that is left out is the best', async () => {
    const doubling = 'allreduce-recursive-doubling'
    const output = join(root, 'best.json')
    const answer = await json`learn ${solver} -o ${output} --best-only --without ${doubling}`
    const collectives = answer['collectives'] as { collective: string; sizes: { best: string }[] }[]
    const { sizes } = collectives.find(({ collective }) => collective === 'allreduce')!
    expect(sizes.length).toBeGreaterThan(0)
    for (const { best } of sizes) expect(best).not.toBe(doubling)
    expect(answer['leftOut']).toEqual({ allreduce: [doubling] })
    expect(readFileSync(output, 'utf8')).not.toContain('performances')
  })

  it('refuses runs of two sources, and adds none', async () => {
    const [folder, graphs] = [sameRuns('sources'), folderOf('graphs')]
    const answer = await cli`learn ${folder} --simulate graph --runs 1`
    expect(answer.stderr).toMatch(/ERR_MEASUREMENT.*expected simulated runs of graph, got .* of .* 'solver'/s)
    expect(callsIn(folder)).toHaveLength(3)
    await cli`learn ${graphs} --simulate graph --runs 1`
    copyFileSync(join(graphs, 'simulated-0000.calls'), join(folder, 'other.calls'))
    const mixed = await cli`learn ${folder}`
    expect(mixed.stderr).toMatch(/ERR_MEASUREMENT.*expected runs of one machine and fabric/s)
  })

  it('never writes a model over the calls of a run', async () => {
    const calls = join(solver, 'simulated-0000.calls')
    const before = readFileSync(calls)
    expect((await cli`learn ${solver} -o ${calls}`).stderr).toMatch(/ERR_USAGE.*-o: expected a model/s)
    expect(readFileSync(calls)).toEqual(before)
  })

  it.each([
    [solver, '--runs 2', 'is for --simulate'],
    [solver, '--call bcast:bytes=8,nodes=2,per-node=1', '--call is for --report'],
    [solver, '--report -o x', '--output is not for --report'],
    [solver, '--report --simulate solver', '--simulate is not for --report'],
    [solver, '--report --call bcast:8', '--call: expected allreduce:bytes=16'],
    [solver, '--report --call x:bytes=8,nodes=2,per-node=1', '--call: expected allreduce:bytes=16'],
    [solver, '--report --call bcast:bytes=8,nodes=0,per-node=1', '--call: expected allreduce:bytes=16'],
    [solver, '--report --call scan:bytes=8,nodes=2,per-node=1', '--call: expected one of allreduce, '],
    [solver, '--simulate x', 'refinement'],
    [solver, '--least-calls 0', 'least-calls'],
    [solver, '--simulate solver --noise -1', 'noise'],
    [solver, '--without bcast-of-mine', '--without: expected a setting that runs have'],
    [folderOf('nowhere'), '--report', 'cannot read'],
    [folderOf('nowhere'), '', 'cannot read'],
    [root, '', 'expected files of calls (*.calls)'],
  ])('refuses %s %s', async (folder, options, expected) => {
    const answer = await cli`learn ${folder} ${options.split(' ').filter((word) => word !== '')}`
    expect(answer.exitCode).not.toBe(0)
    expect(answer.stderr).toContain(expected)
  })
})

describe('learn --report', () => {
  const folder = folderOf('reported')
  const contents = () =>
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString('base64')])

  it('writes nothing, and has evaluation runs apart', async () => {
    for (const more of [[], [], ['--evaluate']])
      await cli`learn ${folder} --simulate transform --runs 7 ${more}`
    const before = contents()
    const call = 'alltoall:bytes=2048,nodes=24,per-node=32'
    const { stdout, stderr, exitCode } = await cli`learn ${folder} --report --call ${call}`
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(contents()).toEqual(before)
    expect(stdout).toMatch(
      /^14 runs of transform on two levels, 14,000 calls; 14 evaluation runs\nclock: simulated\n/,
    )
    expect(stdout).toMatch(/\nexploring: \d\.\d\d \(\d\.\d\d to \d\.\d\d\) times the time by default/)
    expect(stdout).toMatch(/\n {2}2 +7 +7 +7 .* us +0\.\d\d \(0\.\d\d to \d\.\d\d\)\n/)
    expect(stdout).toContain('what runs try after each iteration, for 2048 B on 24 x 32')
    expect(stdout).toContain('of sizes: at least 95%')
    expect(stdout.split('\n').length).toBeLessThan(150)
  })

  it('as one object has the same, bounded', async () => {
    const report = await json`learn ${folder} --report`
    expect(report).toMatchObject({ runs: 14, calls: 14_000, evaluationRuns: 14, refusedFiles: 0 })
    expect(report['clocks']).toEqual([{ name: 'simulated', tickUs: 0 }])
    expect(report['evaluations']).toMatchObject([{ after: 2, runs: 7, defaultRuns: 7, pairs: 7 }])
    const collectives = report['collectives'] as {
      readonly collective: string
      readonly trends: readonly { readonly points: readonly { readonly next: Record<string, number> }[] }[]
    }[]
    expect(collectives.map(({ collective }) => collective).sort()).toEqual(['allreduce', 'alltoall'])
    for (const { points } of collectives.flatMap(({ trends }) => trends)) {
      expect(points).toHaveLength(2)
      const sum = Object.values(points[1].next).reduce((total, share) => total + share, 0)
      expect(sum).toBeCloseTo(1, 9)
    }
  })

  it('refuses a folder of more calls than fit, naming the file up to which they do', () => {
    expect(() => readCallFolder(folder, 1_500)).toThrow(
      refusal(
        'ERR_MEASUREMENT',
        /at most 1500 calls, .* got more up to simulated-0001\.calls: move the oldest away/,
      ),
    )
  })

  it('says where the next runs have another model, or none', async () => {
    const other = await cli`learn ${folder} --report --least-calls 500`
    expect(other.stderr).toMatch(
      /model\.json: the next runs use it, and these runs and options give another one/,
    )
    rmSync(join(folder, 'model.json'))
    const none = await cli`learn ${folder} --report`
    expect(none.stderr).toMatch(/model\.json: there is none, so the next runs try all settings alike/)
    symlinkSync('model.json', join(folder, 'model.json'))
    const loop = await cli`learn ${folder} --report`
    expect(loop.stderr).toMatch(/the next runs refuse the model: cannot read '.*model\.json': ELOOP/)
  })
})
