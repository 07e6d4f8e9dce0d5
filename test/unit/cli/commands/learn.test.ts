import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readTuningFile } from '../../../../src/tuning/models/read-tuning-file.js'
import { readCallFile } from '../../../../src/tuning/online/call-file.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, typed } from '../run-cli.js'

const root = ownFolder('learn')
const folderOf = (name: string) => join(root, name)

describe('learn', () => {
  it('adds simulated runs, and writes the model of all of them', async () => {
    const folder = folderOf('two')
    const first = await cli`learn ${folder} --simulate solver --runs 3`
    expect(first.exitCode).toBe(0)
    expect(first.stderr).toContain('simulated 3 runs: ')
    expect(first.stdout).toMatch(/^3 runs of solver on two levels, 3,000 calls; 0 evaluation runs\n/)
    const evaluated = typed`--simulate solver --runs 2 --evaluate`
    const second = await json`learn ${folder} ${evaluated}`
    expect(second).toMatchObject({
      runs: 3,
      calls: 3000,
      evaluationRuns: 4,
      refusedFiles: 0,
      skippedCalls: 0,
    })
    const model = readTuningFile(readFileSync(join(folder, 'model.json'), 'utf8'))
    expect(model.decisions.allreduce).toMatchObject({ kind: 'grid', isTrained: true })
    expect(readdirSync(folder).filter((name) => name.endsWith('.calls'))).toHaveLength(7)
  })

  it('takes nothing from the default calls of evaluation runs, and is repeatable', async () => {
    const [a, b] = await Promise.all(
      ['a', 'b'].map(async (name) => {
        await cli`learn ${folderOf(name)} --simulate graph --runs 2 --seed 5`
        return readFileSync(join(folderOf(name), 'model.json'), 'utf8')
      }),
    )
    expect(a).toBe(b)
  })

  it('uses what is whole, and says of the rest why not', async () => {
    const folder = folderOf('damaged')
    await cli`learn ${folder} --simulate solver --runs 2`
    const [first] = readdirSync(folder).filter((name) => name.endsWith('.calls'))
    const bytes = readFileSync(join(folder, first))
    writeFileSync(join(folder, 'cut.calls'), bytes.subarray(0, bytes.length - 100))
    writeFileSync(join(folder, 'empty.calls'), '')
    writeFileSync(join(folder, 'foreign.calls'), '{"format":"x"}\n')
    const answer = await cli`learn ${folder}`
    expect(answer.exitCode).toBe(0)
    expect(answer.stderr).toMatch(
      /not used: .*cut\.calls: expected \d+ bytes: the file was cut off or damaged/,
    )
    expect(answer.stderr).toMatch(/not used: .*empty\.calls: expected a file of calls, .*, got an empty file/)
    expect(answer.stderr).toMatch(/not used: .*foreign\.calls, format: expected 'rankweave-calls'/)
    expect(answer.stdout).toMatch(/^2 runs /)
  })

  it('counts a run once, and leaves out what is no regular file', async () => {
    const folder = folderOf('twice')
    await cli`learn ${folder} --simulate solver --runs 1`
    copyFileSync(join(folder, 'simulated-0000.calls'), join(folder, 'copy.calls'))
    mkdirSync(join(folder, 'folder.calls'))
    symlinkSync('/dev/zero', join(folder, 'zero.calls'))
    const answer = await cli`learn ${folder}`
    expect(answer.stdout).toMatch(/^1 run /)
    expect(answer.stderr).toMatch(/not used: .*simulated-0000\.calls: the same run as copy\.calls/)
    expect(answer.stderr).toMatch(/not used: .*folder\.calls: expected a regular file/)
    expect(answer.stderr).toMatch(/not used: .*zero\.calls: expected a regular file/)
  })

  it('never writes a model over the calls of a run', async () => {
    const folder = folderOf('over')
    await cli`learn ${folder} --simulate solver --runs 1`
    const calls = join(folder, 'simulated-0000.calls')
    const before = readFileSync(calls)
    const answer = await cli`learn ${folder} -o ${calls}`
    expect(answer.stderr).toMatch(/ERR_USAGE.*-o: expected a model/s)
    expect(readFileSync(calls)).toEqual(before)
  })

  it('refuses runs of two sources', async () => {
    const folder = folderOf('sources')
    await cli`learn ${folder} --simulate solver --runs 1`
    const answer = await cli`learn ${folder} --simulate graph --runs 1`
    expect(answer.stderr).toMatch(/ERR_MEASUREMENT.*expected simulated runs of graph, got .* of .* 'solver'/s)
    expect(answer.exitCode).not.toBe(0)
    const files = () => readdirSync(folder).filter((name) => name.endsWith('.calls'))
    expect(files()).toEqual(['simulated-0000.calls'])
    await cli`learn ${folderOf('graphs')} --simulate graph --runs 1`
    copyFileSync(join(folderOf('graphs'), files()[0]), join(folder, 'other.calls'))
    const mixed = await cli`learn ${folder}`
    expect(mixed.stderr).toMatch(/ERR_MEASUREMENT.*expected runs of one machine and fabric/s)
  })

  it('has the same model where it is started again from the files of runs alone', async () => {
    const [whole, again] = ['driven', 'again'].map(folderOf)
    const iteration = typed`--simulate solver --runs 2`
    await cli`learn ${whole} ${iteration}`
    mkdirSync(again)
    for (const name of readdirSync(whole).filter((name) => name.endsWith('.calls')))
      copyFileSync(join(whole, name), join(again, name))
    for (const folder of [whole, again]) await cli`learn ${folder} ${iteration}`
    const [expected, got] = [whole, again].map((folder) => readFileSync(join(folder, 'model.json'), 'utf8'))
    expect(got).toBe(expected)
    const { iterations } = await json`learn ${again} --report`
    expect(iterations).toMatchObject([
      { runs: 2, calls: 2000 },
      { runs: 2, calls: 2000 },
    ])
  })

  it('says what it leaves out', async () => {
    const folder = folderOf('left-out')
    await cli`learn ${folder} --simulate solver --runs 3`
    const named = await cli`learn ${folder} --without allgather-bruck bcast-linear`
    expect(named.stderr).toContain('left out of allgather: 1 setting, allgather-bruck\n')
    expect(named.stderr).toContain('left out of bcast: 4 settings, bcast-linear bcast-linear:segment=1024 ')
    expect((await cli`learn ${folder}`).stderr).not.toContain('left out')
    const none = await cli`learn ${folder} --report --without-slower 1000`
    expect(none.stderr).toContain('left out: no setting\n')
    const slow = await cli`learn ${folder} --report --without-slower 1.5`
    const counts = [...slow.stderr.matchAll(/left out of \w+: (\d+) settings?, (.*)/g)]
    expect(counts.length).toBeGreaterThan(0)
    for (const [, count, names] of counts) {
      const others = Number(/ and (\d+) others?$/.exec(names)?.[1] ?? 0)
      expect(names.replace(/ and \d+ others?$/, '').split(' ').length + others).toBe(Number(count))
    }
  })

  it('simulates runs that never try what is left out', async () => {
    const folder = folderOf('without')
    const bruck = 'allgather-bruck'
    await cli`learn ${folder} --simulate solver --runs 3 --without ${bruck}`
    const files = readdirSync(folder).filter((name) => name.endsWith('.calls'))
    for (const name of files) {
      const { settings, records } = readCallFile(name, readFileSync(join(folder, name)))
      const own = settings.filter(({ collective }) => collective === 'allgather')
      const taken = new Set(
        [...records.values()]
          .flat()
          .flatMap(({ collective, setting }) =>
            collective === 'allgather' ? [own[setting - 1].algorithm] : [],
          ),
      )
      expect(taken.size).toBeGreaterThan(2)
      expect(taken.has(bruck)).toBe(false)
    }
  })

  it.each([
    [typed`--runs 2`, 'is for --simulate'],
    [typed`--call bcast:bytes=8,nodes=2,per-node=1`, '--call is for --report'],
    [typed`--report -o x`, '--output is not for --report'],
    [typed`--report --simulate solver`, '--simulate is not for --report'],
    [typed`--report --call bcast:8`, '--call: expected allreduce:bytes=16'],
    [typed`--report --call x:bytes=8,nodes=2,per-node=1`, '--call: expected allreduce:bytes=16'],
    [typed`--report --call bcast:bytes=8,nodes=0,per-node=1`, '--call: expected allreduce:bytes=16'],
    [typed`--simulate x`, 'refinement'],
    [typed`--least-calls 0`, 'least-calls'],
    [typed`--simulate solver --noise -1`, 'noise'],
  ])('refuses %j', async (args, expected) => {
    const answer = await cli`learn ${folderOf('refused')} ${args}`
    expect(answer.exitCode).not.toBe(0)
    expect(answer.stderr).toContain(expected)
  })

  it('refuses an empty folder, none, and settings that no run has', async () => {
    const folder = folderOf('whole')
    await cli`learn ${folder} --simulate solver --runs 1`
    const unknown = await cli`learn ${folder} --without bcast-of-mine`
    expect(unknown.stderr).toMatch(/ERR_USAGE.*--without: expected a setting that runs have/s)
    expect((await cli`learn ${folderOf('none')}`).stderr).toMatch(/ERR_FILE.*cannot read/s)
    expect((await cli`learn ${root}`).stderr).toMatch(/expected files of calls \(\*\.calls\)/)
  })

  it('writes a model without performances, in which no blacklisted setting is the best', async () => {
    const folder = folderOf('best')
    await cli`learn ${folder} --simulate solver --runs 5`
    const output = join(root, 'best.json')
    const doubling = 'allreduce-recursive-doubling'
    const answer = await json`learn ${folder} -o ${output} --best-only --without ${doubling}`
    const { sizes } = (answer['collectives'] as { collective: string; sizes: { best: string }[] }[]).find(
      ({ collective }) => collective === 'allreduce',
    )!
    expect(sizes.length).toBeGreaterThan(0)
    for (const { best } of sizes) expect(best).not.toBe(doubling)
    expect(answer['leftOut']).toEqual({ allreduce: [doubling] })
    expect(readFileSync(output, 'utf8')).not.toContain('performances')
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
    expect(exitCode).toBe(0)
    expect(stderr).toBe('')
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
    for (const { trends } of collectives)
      for (const { points } of trends) {
        expect(points).toHaveLength(2)
        const sum = Object.values(points[1].next).reduce((total, share) => total + share, 0)
        expect(sum).toBeCloseTo(1, 9)
      }
  })

  it('says where the next runs have another model, or none', async () => {
    const other = await cli`learn ${folder} --report --least-calls 500`
    expect(other.stderr).toMatch(
      /model\.json: the next runs use it, and these runs and options give another one/,
    )
    rmSync(join(folder, 'model.json'))
    const none = await cli`learn ${folder} --report`
    expect(none.stderr).toMatch(/model\.json: there is none, so the next runs try all settings alike/)
    expect((await cli`learn ${folderOf('nowhere')} --report`).stderr).toMatch(/ERR_FILE.*cannot read/s)
  })

  it('refuses a call of a collective that no run may tune', async () => {
    const answer = await cli`learn ${folder} --report --call scan:bytes=8,nodes=2,per-node=1`
    expect(answer.stderr).toMatch(/ERR_USAGE.*--call: expected one of allreduce, /s)
  })
})

it('files of simulated runs are read as those of real ones', async () => {
  const folder = folderOf('files')
  await cli`learn ${folder} --simulate transform --runs 1`
  const file = readCallFile('f', readFileSync(join(folder, 'simulated-0000.calls')))
  expect(file.mode).toBe('tuning')
  expect([...file.records.values()].map((records) => records.length)).toEqual([1000, 1000, 1000, 1000])
})
