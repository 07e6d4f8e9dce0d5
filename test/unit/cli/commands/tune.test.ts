import { existsSync, linkSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatMeasurement, type Measurement } from '../../../../src/tuning/measured/measurement.js'
import { readTuningFile } from '../../../../src/tuning/models/read-tuning-file.js'
import { openMpiJsonChoice } from '../../../support/open-mpi-json-rules.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { measurementOf, powersOfTwo } from '../../../support/tuning-data.js'
import { cli, json, refused, typed } from '../run-cli.js'

const folder = ownFolder('tune')

const source = { kind: 'rankweave', name: 'threads', machine: '<b>"here"</b> & there' } as const
const inFolder = (name: string) => join(folder, name)
const written = (name: string, data: readonly Measurement[]) => {
  writeFileSync(inFolder(name), data.map((one) => `${formatMeasurement(one)}\n`).join(''))
  return inFolder(name)
}

/** Up to 1 KiB the ring is the best, above recursive doubling. */
function measured(given: Partial<Measurement> = {}): Measurement[] {
  return [2, 4, 8].flatMap((nodes) =>
    powersOfTwo(14).flatMap((bytes) => {
      const [ring, doubling] = bytes <= 1024 ? [10, 15] : [20, 10]
      return (
        [
          ['allgather-ring', ring],
          ['allgather-recursive-doubling', doubling],
          ['allgather-bruck', 30],
        ] as const
      ).map(([algorithm, timeUs]) =>
        measurementOf({
          ...{ source, collective: 'allgather', algorithm, nodes, processesPerNode: 1, bytes, timeUs },
          ...given,
        }),
      )
    }),
  )
}

const data = written('data.jsonl', measured())

describe('tune', () => {
  it('writes the tuning file, and reports what decisions lose', async () => {
    const answer = await cli`tune ${data} -o ${inFolder('tuning.json')}`
    expect(answer.stderr).toBe(`wrote ${inFolder('tuning.json')}\n`)
    expect(answer.exitCode).toBe(0)
    expect(answer.stdout).toMatch(/^measured: rankweave 'threads' on '<b>"here"<\/b> & there'/)
    expect(answer.stdout).toMatch(/allgather: 42 calls, 3 settings, 2 leaves/)
    expect(answer.stdout).toMatch(/training set +0\.0% +0\.0% +0\.0% +0\.0% +0\n/)
    expect(answer.stdout).toMatch(/held-out points, 3 folds +0\.0% +0\.0% +0\.0% +0\.0% +0\n/)
    expect(answer.stdout).toMatch(/default +200\.0% +200\.0% +200\.0% +200\.0% +0\n/)
    const file = readTuningFile(readFileSync(inFolder('tuning.json'), 'utf8'))
    expect(file.source).toEqual(source)
    expect(file.decisions.allgather?.settings.map(({ algorithm }) => algorithm)).toEqual([
      'allgather-recursive-doubling',
      'allgather-ring',
    ])
  })

  it('joins files, and reports as one object', async () => {
    const [one, two] = [measured().slice(0, 63), measured().slice(63)]
    const files = [written('one.jsonl', one), written('two.jsonl', two)]
    const answer = await json`tune ${files} -o ${inFolder('joined.json')}`
    expect(answer).toMatchObject({
      source,
      file: inFolder('joined.json'),
      collectives: [{ collective: 'allgather', calls: 42, settings: 3, leaves: 2 }],
    })
    expect(readFileSync(inFolder('joined.json'), 'utf8')).toContain('"decisions":{"allgather"')
  })

  it('says where the tree loses more than the default', async () => {
    // Each number of processes has another winner, so none is learned from the others.
    const winners = ['allgather-ring', 'allgather-recursive-doubling', 'allgather-neighbor-exchange']
    const rows = [2, 4, 8].flatMap((nodes, i) =>
      powersOfTwo(14).flatMap((bytes) =>
        [...winners, 'default'].map((algorithm, j) =>
          measurementOf({
            ...{ source, collective: 'allgather', algorithm, nodes, processesPerNode: 1, bytes },
            timeUs: i === j ? 10 : algorithm === 'default' ? 11 : 40,
          }),
        ),
      ),
    )
    const options = typed`-o ${inFolder('worse.json')}`
    const answer = await cli`tune ${written('worse.jsonl', rows)} ${options}`
    expect(answer.stdout).toMatch(/the tree loses more than the default: measure more calls/)
    expect((await cli`tune ${data} -o ${inFolder('w.json')}`).stdout).not.toContain('loses more')
  })

  it('writes functions in C and TypeScript, and the file to standard output', async () => {
    const [c, ts] = [inFolder('decide.c'), inFolder('decide.ts')]
    const answer = await cli`tune ${data} -o - --c ${c} --ts ${ts}`
    expect(readTuningFile(answer.stdout).source).toEqual(source)
    expect(answer.stderr).toContain('allgather: 42 calls')
    expect(readFileSync(c, 'utf8')).toContain('int rankweave_allgather(const rankweave_allgather_call *call)')
    expect(readFileSync(ts, 'utf8')).toContain('export function decideAllgather(')
  })

  it.each([
    [typed`--learner quadtree --depth 4`, 14],
    [typed`--learner c45 -m 1 --no-prune --tolerance 0 --attributes plain`, 2],
    [typed`--learner c45 --depth 0 -c 5`, 1],
    [typed`-m 1 --gain 0 --attributes plain`, 2],
    [typed`--gain 1000`, 1],
  ])('learns by %j', async (options, leaves) => {
    const answer = await json`tune ${data} -o ${inFolder('other.json')} ${options}`
    expect(answer['collectives']).toMatchObject([{ leaves }])
  })

  it('reports the shape of a quadtree, and writes the quadtree itself in C', async () => {
    const c = inFolder('quadtree.c')
    const answer = await cli`tune ${data} -o ${inFolder('quadtree.json')} --learner quadtree --c ${c}`
    expect(answer.stdout).toMatch(
      /\n {2}quadtree of \d+ x \d+ cells: \d+ leaves, \d+ nodes, depth \d to \d, mean \d\.\d\d; [\d,]+ bytes, [\d,]+ bytes of C; \d[\d.]* ns a decision\n/,
    )
    const source = readFileSync(c, 'utf8')
    expect(source).toContain('int rankweave_allgather(int64_t processes, int64_t bytes)')
    const { collectives } =
      (await json`tune ${data} -o ${inFolder('quadtree.json')} --learner quadtree`) as unknown as {
        readonly collectives: readonly {
          readonly quadtree: {
            readonly nodes: number
            readonly leaves: number
            readonly memoryBytes: number
            readonly side: number
          }
        }[]
      }
    const { nodes, leaves, memoryBytes, side } = collectives[0].quadtree
    expect([nodes, source.match(/if \(/g)?.length]).toEqual([(4 * leaves - 1) / 3, nodes - 1])
    expect(memoryBytes - 48 * nodes - 4 * side).toBe(6 * 3)
  })

  it('reports one tree over all collectives', async () => {
    const answer = await cli`tune ${data} -o ${inFolder('one.json')} --learner c45 --together`
    expect(answer.stdout).toMatch(
      /\n\none tree: \d+ leaves before pruning, \d+ leaves after; \d+ errors? in 42 cases, [\d.]+ expected\n\nallgather: /,
    )
    const answers = await Promise.all(
      [typed`--together`, typed`--learner c45 --together --folds 2`].map(
        (options) => cli`tune ${data} -o ${inFolder('one.json')} ${options}`,
      ),
    )
    for (const each of answers) expect(each).toMatchObject(refused('ERR_USAGE'))
  })

  it('writes rules of Open MPI for the processes per node that are named', async () => {
    const openMpi = { kind: 'mpi', name: 'Open MPI 4.1.4', machine: 'four nodes' } as const
    const ofOpenMpi = (processesPerNode: number) =>
      measured({ source: openMpi, processesPerNode }).map((one) => ({
        ...one,
        algorithm: one.algorithm.replace('allgather-', '').replaceAll('-', '_'),
      }))
    const both = written('openmpi.jsonl', [...ofOpenMpi(1), ...ofOpenMpi(2)])
    const words = typed`tune ${both} -o ${inFolder('openmpi.json')} --ompi-rules ${inFolder('rules.txt')}`
    expect(await cli(...words)).toMatchObject(refused(/ERR_USAGE: .*expected --per-node, one of 1, 2/))
    const safe = await cli`${words} --per-node 2`
    expect([safe.exitCode, safe.stderr]).toEqual([
      0,
      expect.stringMatching(/rules\.txt leaves 6 rules to the library: 6 unless --assume equal-arguments\n$/),
    ])
    const named = await cli`${words} --per-node 2 --assume equal-arguments,commutative`
    expect([named.exitCode, named.stderr]).toEqual([0, expect.stringMatching(/rules\.txt\n$/)])
    expect(readFileSync(inFolder('openmpi.json.packed')).subarray(0, 8).toString()).toBe('rwtuning')
    const rules = readFileSync(inFolder('rules.txt'), 'utf8')
    expect(rules).toMatch(/^# Open MPI 4.1.4 on four nodes\n# nodes: 2, 4, 8; processes of each: 2\n/)
    expect(rules).toContain('# assumed of all programs: equal-arguments, commutative\n')
    expect(rules).toMatch(/ # ring\n/)
    expect(rules).toMatch(/ # recursive_doubling\n/)
    const rulesJson = typed`tune ${both} -o ${inFolder('openmpi.json')} --ompi-json ${inFolder('rules.json')}`
    expect(await cli(...rulesJson)).toMatchObject(refused(/--ompi-json: expected --per-node, one of 1, 2/))
    expect((await cli`${rulesJson} --per-node 3`).stderr).toMatch(/--per-node: expected one of 1, 2, got 3/)
    const byNodes = await cli`${rulesJson} --per-node 2`
    expect([byNodes.exitCode, byNodes.stderr]).toEqual([
      0,
      expect.stringMatching(
        /rules\.json leaves \d+ rules to the library: \d+ unless --assume equal-arguments\n$/,
      ),
    ])
    expect(openMpiJsonChoice(readFileSync(inFolder('rules.json'), 'utf8'))('bcast', 1, 1, 0)).toBeNull()
    const other = await cli`${words} --per-node 3`
    expect(other.stderr).toMatch(/--per-node: expected one of 1, 2, got 3/)
    const unknown = await cli`${words} --per-node 2 --assume commutative,luck`
    expect(unknown.stderr).toMatch(
      /ERR_USAGE: --assume: expected words of commutative, equal-arguments separated by commas, got/,
    )
    expect(await cli`tune ${both} -o ${inFolder('openmpi.json')} --assume commutative`).toMatchObject(
      refused(/ERR_USAGE: --assume is for --ompi-rules and --ompi-json/),
    )
  })

  it('takes outputs of OSU micro-benchmarks', async () => {
    const osu = (name: string, us: number) => {
      const head =
        '# OSU MPI Broadcast Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size         Avg Latency(us)\n'
      const rows = powersOfTwo(6).map((bytes) => `${bytes}                         ${us}\n`)
      writeFileSync(inFolder(name), `\n${head}${rows.join('')}`)
      return ['--osu', `bcast ${name} nodes=4 per-node=2 ${inFolder(name)}`]
    }
    const words = ['tune', ...osu('default', 9.5), ...osu('chain:segment=8192,fanout=2', 5.25)]
    const out = ['-o', inFolder('osu.json'), '--osu-source', 'Open MPI 4.1.4 on grig']
    const answer = await cli(
      ...words,
      ...out,
      '--ompi-rules',
      inFolder('osu.txt'),
      '--assume',
      'equal-arguments',
    )
    expect([answer.exitCode, answer.stdout]).toEqual([
      0,
      expect.stringMatching(/^measured: mpi 'Open MPI 4\.1\.4' on 'grig \(OSU 7\.4, mean of ranks\)'/),
    ])
    expect(readFileSync(inFolder('osu.txt'), 'utf8')).toContain(
      '\n0 2 2 8192 # chain:fanout=2,segment=8192\n',
    )
    writeFileSync(inFolder('default'), '# OSU MPI Broadcast Latency Test v7.4\n# Size\n')
    expect(await cli(...words, ...out)).toMatchObject(
      refused(`ERR_MEASUREMENT: ${inFolder('default')}, line 2: expected the names of columns`),
    )
    expect(await cli(...words, ...out.slice(0, 2))).toMatchObject(
      refused('--osu and --osu-source: expected both'),
    )
    const wrong = ['tune', '--osu', 'bcast chain nodes=4 FILE', ...out]
    expect(await cli(...wrong)).toMatchObject(
      refused(/ERR_USAGE: --osu: expected 'bcast chain:fanout=4 nodes=2/),
    )
    expect(await cli('tune', '--osu', 'bcast ring nodes=4 per-node=2 FILE', ...out)).toMatchObject(
      refused(
        /ERR_USAGE: --osu: expected an algorithm of bcast in Open MPI 4.1.4, default, .*binomial.*, got 'ring'/,
      ),
    )
  })

  it('refuses rules of a library that was not measured, and a selection without the library', async () => {
    expect(await cli`tune ${data} -o ${inFolder('t.json')} --ompi-rules ${inFolder('r.txt')}`).toMatchObject(
      refused(/ERR_TUNING: .*Open MPI 4.1/),
    )
    const selection = await cli`tune ${data} -o ${inFolder('t.json')} --mpich ${inFolder('m.json')}`
    expect(selection.stderr).toMatch(/ERR_USAGE: --mpich: expected --mpich-lib/)
    const absent =
      await cli`tune ${data} -o ${inFolder('t.json')} --mpich ${inFolder('m.json')} --mpich-lib ${inFolder('none.so')}`
    expect(absent.stderr).toMatch(/ERR_FILE: cannot read/)
    const endless = await cli(
      ...['tune', data, '-o', inFolder('t.json'), '--mpich', inFolder('m.json'), '--mpich-lib', '/dev/zero'],
    )
    expect(endless.stderr).toMatch(
      /ERR_FILE: cannot read '\/dev\/zero': expected a file, got a pipe or device/,
    )
  })

  it('learns without settings that are named, with their other parameters', async () => {
    const rows = [
      ['pipeline', {}, 30],
      ['knomial', { radix: 4 }, 20],
      ['knomial', { radix: 2 }, 15],
      ['knomial', { radix: 2, segment: 8192 }, 10],
    ] as const
    const openMpi = { kind: 'mpi', name: 'Open MPI 4.1.4', machine: 'here' } as const
    const file = written(
      'knomial.jsonl',
      rows.map(([algorithm, parameters, timeUs]) =>
        measurementOf({ source: openMpi, collective: 'bcast', algorithm, parameters, timeUs }),
      ),
    )
    const words = typed`tune ${file} -o ${inFolder('knomial.json')} --ompi-rules ${inFolder('knomial.txt')}`
    expect(await cli(...words)).toMatchObject(refused('rules cannot say radix=2'))
    const answer = await cli`${words} --without knomial:radix=2`
    expect(answer.exitCode).toBe(0)
    expect(readFileSync(inFolder('knomial.txt'), 'utf8')).toContain('# knomial:radix=4\n')
    expect((await cli`${words} --without knomial`).exitCode).toBe(0)
    expect(readFileSync(inFolder('knomial.txt'), 'utf8')).toContain('# pipeline\n')
    const unmeasured = await cli`${words} --without knomial:radix=2 knomial:radix=8`
    expect([unmeasured.exitCode, unmeasured.stderr]).toEqual([
      0,
      expect.stringContaining('--without knomial:radix=8 leaves nothing out: no such setting was measured'),
    ])
    const unknown = ['knomal', 'knomial:radics=2', 'knomial:radix', 'knomial:radix=x', 'pipeline:radix=2']
    for (const text of unknown) {
      const other = await cli`${words} --without ${text}`
      expect(other).toMatchObject(refused('ERR_MEASUREMENT'))
      expect(other.stderr).toContain(`got '${text}'`)
      expect(other.stderr).toContain('knomial:radix=2,segment=8192')
    }
    expect(await cli`${words} --without knomial pipeline`).toMatchObject(refused('ERR_MEASUREMENT'))
  })

  it('writes a report of calls with too many sizes for a picture, which says so', async () => {
    const wide = Array.from({ length: 400 }, (_, i) =>
      measurementOf({
        ...{ source, collective: 'allgather', algorithm: 'allgather-ring', timeUs: 10 },
        ...{ nodes: 2 + i, processesPerNode: 1, bytes: 1 + i },
      }),
    )
    const file = inFolder('wide.html')
    await cli`tune ${written('wide.jsonl', wide)} -o ${inFolder('wide.json')} --report ${file}`
    const page = readFileSync(file, 'utf8')
    expect(page).toContain('Not drawn are 400 x 400 cells: a page has at most 262144.')
    expect(page.length).toBeLessThan(100_000)
  })

  it('writes a report that loads nothing, with names as text', async () => {
    const file = inFolder('report.html')
    const { exitCode } = await cli`tune ${data} -o ${inFolder('t.json')} --report ${file}`
    expect(exitCode).toBe(0)
    const page = readFileSync(file, 'utf8')
    expect(page).toMatch(/^<!DOCTYPE html>/)
    expect(page).not.toMatch(/<script|<b>|src=|href=|url\(|@import/)
    expect(page).toContain('&lt;b&gt;&quot;here&quot;&lt;/b&gt; &amp; there')
    for (const part of ['fastest measured setting', 'what the tree chooses', 'what the tree loses'])
      expect(page).toContain(part)
    expect(page).toContain('what the default loses')
    expect(page).toContain('held-out points')
    expect(page).toContain('Checked are allgather: the best setting at 42 of 42 calls.')
    expect(page).toMatch(/Guidelines violated|No guideline is violated/)
  })

  const mixed = written('mixed.jsonl', [
    ...measured(),
    measurementOf({ source: { kind: 'simulator', name: 'loggp', machine: 'x' } }),
  ])
  const one = written('one-number.jsonl', [measurementOf()])
  const damaged = inFolder('damaged.jsonl')
  writeFileSync(damaged, `${formatMeasurement(measurementOf())}\n{"version":1}\n`)
  it('refuses reductions of two types of elements, also of two collectives', async () => {
    const of = (collective: 'reduce' | 'scan', elementType: 'int32' | 'float64') =>
      measurementOf({ collective, algorithm: `${collective}-linear`, elementType })
    for (const other of [of('reduce', 'float64'), of('scan', 'float64')]) {
      const two = written('types.jsonl', [of('reduce', 'int32'), other])
      expect(await cli`tune ${two} -o ${inFolder('types.json')}`).toMatchObject(
        refused(/ERR_MEASUREMENT: .*one type of elements, got int32 and float64/),
      )
      expect(existsSync(inFolder('types.json'))).toBe(false)
    }
  })

  describe('refuses files that are one', () => {
    const [given, link, hard] = [inFolder('given.jsonl'), inFolder('link.jsonl'), inFolder('hard.jsonl')]
    const folderLink = inFolder('folder')
    const [out, library] = [inFolder('distinct.json'), written('libmpich.so', [])]
    written('given.jsonl', measured())
    symlinkSync(given, link)
    linkSync(given, hard)
    symlinkSync(folder, folderLink)
    const outputs = typed`-o --c --ts --ompi-rules --mpich --report`
    const others = [
      ...outputs.map((option) => [`${option} and the data`, option, given] as const),
      ['another spelling of the data', '--c', `${folder}/./../${basename(folder)}/given.jsonl`],
      ['a symbolic link to the data', '--ts', link],
      ['a hard link to the data', '--report', hard],
      ['data in a folder by a link', '--c', join(folderLink, 'given.jsonl')],
      ['two outputs', '--c', out],
      ['two outputs, in a folder by a link', '--ts', join(folderLink, 'distinct.json')],
      ['an output and the library', '--c', library],
    ] as const
    it.each(others)('%s', async (_, option, file) => {
      const before = readFileSync(given)
      const words = option === '-o' ? typed`-o ${file}` : typed`-o ${out} ${option} ${file}`
      const more = file === library ? typed`--mpich ${inFolder('m')} --mpich-lib ${library}` : []
      const { exitCode, stderr } = await cli`tune ${given} ${words} ${more}`
      expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/ERR_USAGE: .*expected different files/)])
      expect(stderr).toContain(file)
      expect(readFileSync(given)).toEqual(before)
      expect(existsSync(out)).toBe(false)
    })

    it('but not devices', async () => {
      const answer = await cli`tune ${given} /dev/null -o ${out}`
      expect(answer.exitCode).toBe(0)
      rmSync(out)
    })
  })

  const other = `-o ${inFolder('x.json')}`
  it.each([
    ['no output', data, 'ERR_USAGE'],
    ['two files on standard output', `${data} -o - --c -`, 'ERR_USAGE'],
    ['a file that is not there', 'none.jsonl -o x.json', 'ERR_FILE'],
    ['a damaged line', `${damaged} ${other}`, 'ERR_MEASUREMENT: .*damaged.jsonl: measurement in line 2'],
    ['data of two sources', `${mixed} ${other}`, "ERR_MEASUREMENT: .*'threads'.*'loggp'"],
    ['an empty file', `/dev/null ${other}`, 'ERR_MEASUREMENT: expected at least one'],
    ['an unknown learner', `${data} ${other} --learner guess`, 'ERR_USAGE'],
    ['a threshold without a quadtree', `${data} ${other} --threshold 0.5`, 'ERR_USAGE'],
    ['a tolerance without c45', `${data} ${other} --tolerance 1`, 'ERR_USAGE'],
    ['a gain for c45', `${data} ${other} --learner c45 --gain 1`, 'ERR_USAGE'],
    ['-m for a quadtree', `${data} ${other} --learner quadtree -m 3`, 'ERR_USAGE'],
    [
      '--per-node without rules',
      `${data} ${other} --per-node 2`,
      '--per-node is for --ompi-rules, --ompi-json and --mpich',
    ],
    [
      '--mpich-lib alone',
      `${data} ${other} --mpich-lib libmpich.so`,
      'ERR_USAGE: --mpich-lib is for --mpich',
    ],
    ['a confidence', `${data} ${other} --learner c45 --no-prune -c 5`, 'is for pruning, not for --no-prune'],
    ['folds of one number of processes', `${one} ${other} --folds 2`, 'ERR_ARGUMENT: --folds 2: .* held out'],
    ['more folds than numbers of processes', `${data} ${other} --folds 4`, 'ERR_ARGUMENT'],
  ])('refuses %s', async (_, line, expected) => {
    expect(await cli`tune ${line.split(' ')}`).toMatchObject(refused(new RegExp(expected)))
  })
})
