import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { algorithms, parseSchedule } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, onlyObject, refused, typed } from '../run-cli.js'

const folder = ownFolder('cli')

describe('schedule', () => {
  it('refuses a root where the collective has none', async () => {
    const answer = await cli`schedule allgather-ring --ranks 4 --root 2`
    const reason = '--root is for bcast, scatter, gather, reduce, not for allgather'
    expect(answer).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`ERR_USAGE: ${reason}`) })
  })

  it('takes as many segments as calls do, and says so', async () => {
    expect(await cli`schedule bcast-chain --ranks 4 --segments 4097`).toMatchObject(refused('from 1 to 4096'))
    for (const command of ['schedule', 'simulate'])
      expect((await cli`${command} --help`).stdout).toMatch(/--segments <number>[^-]*1 to 4096/)
  })

  it('--list lists the algorithms by collective', async () => {
    const { exitCode, stdout } = await cli`schedule --list`
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^bcast: calls bcast; in place$/m)
    expect(stdout).toMatch(/^ {2}bcast-chain +long data in many segments, few ranks; Open MPI: pipeline$/m)
    expect(stdout).toMatch(
      /^ {2}allgather-neighbor-exchange +long blocks, neighbors only; ranks: even; Open MPI/m,
    )
    expect(stdout).toMatch(/^ {2}reduce-rabenseifner +long data; order: tree or ranks$/m)
    expect(stdout).toMatch(/^scatter: calls scatter, scatterv \(blocks of varying lengths\); in place$/m)
    expect(stdout).toMatch(/^ {2}scatter-linear +long blocks$/m)
    expect(stdout).toMatch(/^barrier: calls barrier$/m)
    expect(stdout).toMatch(
      /^ {2}bcast-chain:fanout +chains that begin at the root, an integer from 1 to 64 \(default: 1\)$/m,
    )
    expect(stdout).toMatch(/^every algorithm: segments=NUMBER, from 1 to 4096$/m)
    expect(await json`schedule --list`).toEqual({
      algorithms: expect.arrayContaining([
        {
          ...{ collective: 'gather', id: 'gather-linear', serves: 'long blocks' },
          ...{ ranks: '', combines: '' },
          ...{ calls: ['gather', 'gatherv'], uneven: ['gatherv'], inPlace: true },
          ...{ parameters: [], openMpi: null },
        },
        {
          ...{ collective: 'bcast', id: 'bcast-chain', serves: 'long data in many segments, few ranks' },
          ...{ ranks: '', combines: '' },
          ...{ calls: ['bcast'], uneven: [], inPlace: true },
          openMpi: {
            coll_tuned_use_dynamic_rules: '1',
            coll_tuned_bcast_algorithm: 'pipeline',
            coll_tuned_bcast_algorithm_segmentsize: '0',
          },
          parameters: [
            { name: 'fanout', help: 'chains that begin at the root', least: 1, most: 64, default: 1 },
          ],
        },
      ]),
      withoutSchedule: [],
    })
  })

  it('names the setting of Open MPI that does the same, where there is one', async () => {
    const setting = async (...argv: string[]) => {
      const { stdout } = await cli`schedule ${argv}`
      return /^ {2}Open MPI +(.*)$/m.exec(stdout)?.[1]
    }
    const mca = (name: string, value: string | number) => `--mca coll_tuned_${name} ${value}`
    const rules = mca('use_dynamic_rules', 1)
    const chain = mca('bcast_algorithm', 'chain')
    expect(await setting('bcast-chain:fanout=3', '--ranks', '9')).toBe(
      [rules, chain, mca('bcast_algorithm_segmentsize', 0), mca('bcast_algorithm_chain_fanout', 3)].join(' '),
    )
    // Segments are bytes there, and so without a setting where bytes are not known.
    expect(await setting('bcast-chain:fanout=3,segments=4', '--ranks', '9')).toBeUndefined()
    expect(await setting('scan-tree', '--ranks', '4')).toBeUndefined()
    expect(await json`schedule scan-tree --ranks 4`).toMatchObject({ openMpi: null })
    const machine = 'cluster:nodes=4,cores=1,profile=simgrid-fast'
    const chosen = (await json`schedule bcast --machine ${machine} --bytes 1048576`) as {
      readonly segments: number
      readonly openMpi: Readonly<Record<string, string>>
    }
    expect(chosen.segments).toBeGreaterThan(1)
    expect(chosen.openMpi['coll_tuned_bcast_algorithm_segmentsize']).toBe(`${1048576 / chosen.segments}`)
  })

  it('takes parameters and segments in the text of an algorithm, and writes them', async () => {
    const file = join(folder, 'chains.jsonl')
    const text = 'bcast-chain:segments=3,fanout=4'
    const answer = await cli`schedule ${text} --ranks 9 -o ${file} --json`
    expect(onlyObject(answer)).toMatchObject({
      ...{ algorithm: 'bcast-chain:fanout=4', root: 0, segments: 3, fanout: 4 },
      ...{ phases: 4, messages: 24, verified: true },
    })
    const { strategy, parameters } = parseSchedule(readFileSync(file, 'utf8').trim().split('\n'))
    expect(strategy).toBe('bcast-chain:fanout=4')
    expect(parameters).toEqual({ root: 0, segments: 3, fanout: 4 })
    expect((await cli`verify ${file}`).stdout).toBe(
      `${file}: bcast by bcast-chain:fanout=4, 9 ranks, 24 messages: verified\n`,
    )
  })

  it.each([
    ['bcast-chain:segments=3,fanout=4', 'bcast-chain:fanout=4,segments=3: bcast of 9 ranks'],
    ['allreduce-ring:segments=8', 'allreduce-ring:segments=8: allreduce of 9 ranks'],
    ['allreduce-ring:segments=1', 'allreduce-ring: allreduce of 9 ranks'],
  ])('begins with %s as a user would name it', async (text, expected) => {
    const { stdout } = await cli`schedule ${text} --ranks 9`
    expect(stdout.split('\n', 1)).toEqual([expected])
  })

  it('limits the sends of a rank that are in progress, and writes how they wait', async () => {
    const file = join(folder, 'ports.jsonl')
    const words = typed`schedule alltoall-linear --ranks 8`
    const answer = await cli`${words} --ports 3 -o ${file} --json`
    expect(onlyObject(answer)).toMatchObject({ phases: 3, messages: 56, portsPerRank: 3, verified: true })
    const schedule = parseSchedule(readFileSync(file, 'utf8').trim().split('\n'))
    expect([...new Set(schedule.opAfter)].sort()).toEqual([-1, 0, 1])
    expect((await cli`verify ${file}`).stdout).toContain('56 messages: verified')
    expect((await cli`${words} --ports 7`).stdout).toMatch(/^ {2}ports +7 per rank$/m)
    expect(await json`${words}`).not.toHaveProperty('portsPerRank')
    const refused = await cli`${words} --ports 0`
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  })

  it('limits them to the ports of the machine where --ports does not say how many', async () => {
    const answerOf = async (...words: string[]) => await json`schedule alltoall-linear --ranks 8 ${words}`
    const machine = typed`--machine cluster:nodes=8,cores=1,ports=3`
    expect(await answerOf(...machine)).toEqual(await answerOf('--ports', '3'))
    expect(await answerOf(...machine, '--ports', '2')).toEqual(await answerOf('--ports', '2'))
    expect(await answerOf('--machine', 'cluster:nodes=8,cores=1')).toEqual(await answerOf())
  })

  it.each([
    [['bcast-chain:fanout=0'], 'ERR_ARGUMENT', 'an integer from 1 to 64'],
    [['bcast-chain:radix=2'], 'ERR_ARGUMENT', "expected fanout, segments or segment, got 'radix'"],
    [['bcast-ring:radix=2'], 'ERR_ARGUMENT', 'expected an algorithm among'],
    [typed`bcast-chain:segments=2 --segments 2`, 'ERR_USAGE', "--segments is in 'bcast-chain:segments=2'"],
    [typed`bcast-chain:segment=2 --segments 2`, 'ERR_USAGE', "--segments is in 'bcast-chain:segment=2'"],
    [['bcast-chain:segment=1KiB'], 'ERR_USAGE', 'expected segments=NUMBER'],
    [typed`allreduce-ring:segments=2 --root 1`, 'ERR_USAGE', '--root is for'],
  ])('refuses %j', async (argv, code, message) => {
    const answer = await cli`schedule ${argv} --ranks 4`
    expect([answer.exitCode, answer.stdout]).toEqual([2, ''])
    expect(answer.stderr).toContain(`${code}: `)
    expect(answer.stderr).toContain(message)
  })

  it('is on the grid of a machine, and says so', async () => {
    const text = 'allgather-bucket:ports=4'
    const answer = await cli`schedule ${text} --machine torus:dims=3x4 --json`
    expect(answer.exitCode).toBe(0)
    expect(onlyObject(answer)).toMatchObject({
      ...{ algorithm: text, ranks: 12, segments: 4, dims: '3x4', verified: true },
    })
    const mesh = typed`--machine mesh:dims=2x2,cores=2,profile=simgrid-fast --bytes 64 --json`
    const simulated = await cli`simulate allgather-reordered:ports=3 ${mesh}`
    const parameters = { segments: 3, dims: '2x2', wrap: '00', perNode: 2 }
    expect(onlyObject(simulated)).toMatchObject({ ranks: 8, parameters })
    const hosted = await cli`simulate bcast-bucket ${mesh} --ranks 16 --processes 4`
    expect(onlyObject(hosted)).toMatchObject({ parameters: { dims: '2x1', wrap: '00', perNode: 8 } })
  })

  it.each([
    [['allgather-bucket:ports=6'], 'ERR_ARGUMENT', 'ports must be at most the number of dimensions, 1,'],
    [typed`allgather-bucket:ports=2 --segments 3`, 'ERR_ARGUMENT', 'must be a multiple of 2'],
    [typed`allgather-reordered --machine torus:dims=3`, 'ERR_MACHINE', 'expected at least 4 cores'],
    [['allgather-reordered:order=0.1.2'], 'ERR_ARGUMENT', 'the order must be of the bits 0 to 1'],
  ])('refuses %j for a network', async (argv, code, message) => {
    const answer = await cli`schedule ${argv} --ranks 4`
    expect([answer.exitCode, answer.stdout]).toEqual([2, ''])
    expect(answer.stderr).toContain(`${code}: `)
    expect(answer.stderr).toContain(message)
  })

  it('writes a file that verifies, and reports what the schedule does', async () => {
    const file = join(folder, 'bcast.jsonl')
    const options = typed`--ranks 9 --root 4 --segments 3`
    const answer = await cli`schedule bcast-binomial ${options} -o ${file} --json`
    expect(answer.exitCode).toBe(0)
    expect(onlyObject(answer)).toEqual({
      ...{ algorithm: 'bcast-binomial', collective: 'bcast', ranks: 9, root: 4, segments: 3, phases: 6 },
      ...{ messages: 24, volumeBlocks: 24, combinations: 0, isOrdered: true, association: null },
      ...{ verified: true, openMpi: null, file },
    })
    const verified = await cli`verify ${file}`
    expect(verified).toMatchObject({
      exitCode: 0,
      stdout: `${file}: bcast by bcast-binomial, 9 ranks, 24 messages: verified\n`,
    })
    expect(await json`verify ${file}`).toMatchObject({
      ...{ ok: true, collective: 'bcast', strategy: 'bcast-binomial', ranks: 9 },
    })
  })

  it('reports how reductions are combined, as verify does', async () => {
    const rows = async (id: string) => {
      const file = join(folder, `${id}.jsonl`)
      const planned = await cli`schedule ${id} --ranks 6 -o ${file}`
      const verified = await cli`verify ${file}`
      const proof = /\n {2}contributors [\s\S]*$/
      const [reported, found] = [planned, verified].map(
        ({ stdout }) => proof.exec(stdout)?.[0].split('\n') ?? [],
      )
      expect({ planned: planned.exitCode, verified: verified.exitCode }).toEqual({ planned: 0, verified: 0 })
      expect(reported.slice(0, found.length - 1).map((line) => line.trim())).toEqual(
        found.slice(0, -1).map((line) => line.trim()),
      )
      return found.slice(1, -1).map((line) => line.trim().replace(/ {2,}/, ': '))
    }
    expect(await rows('allreduce-tree')).toEqual([
      'contributors: all, each once',
      'order: by rank',
      expect.stringMatching(/^association: [0-9a-f]{16}, that of order: 'tree'$/),
    ])
    expect(await rows('allreduce-ring')).toEqual([
      'contributors: all, each once',
      'order: not by rank: for commutative operations only',
      'association: differs between slots',
    ])
    expect(await rows('barrier-dissemination')).toEqual(['contributors: all, each at least once'])
  })

  it('verify --ordered demands rank order', async () => {
    const file = join(folder, 'ring.jsonl')
    await cli`schedule allreduce-ring --ranks 4 -o ${file}`
    const answer = await cli`verify ${file} --ordered --json`
    expect(answer.exitCode).toBe(1)
    expect(onlyObject(answer)).toMatchObject({
      ok: false,
      violations: expect.arrayContaining([expect.objectContaining({ code: 'slot-unordered' })]),
    })
    expect(await json`verify ${file}`).toMatchObject({ ok: true, isOrdered: false, association: null })
  })

  it('-o - writes the schedule to standard output and the report to standard error', async () => {
    const { stderr, stdout } = await cli`schedule bcast-binomial --ranks 4 -o -`
    expect(stderr).toMatch(/^bcast-binomial: bcast of 4 ranks\n {2}phases +2\n/)
    expect(parseSchedule(stdout.split('\n')).specification.ranks).toBe(4)
  })

  it('a schedule that was changed: violations and exit code 1', async () => {
    const file = join(folder, 'changed.jsonl')
    await cli`schedule bcast-binomial --ranks 4 -o ${file}`
    writeFileSync(file, readFileSync(file, 'utf8').replace('"to":1', '"to":3'))
    const answer = await cli`verify ${file}`
    expect(answer).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('receive-unmatched') })
    expect(answer.stdout).toMatch(/4 ranks, 3 messages: \d+ violations\n$/)
    const other = await cli`verify ${file} --topology cart:4`
    expect(other.stderr).toContain('topology-differs, rank 0: the schedule has no topology')
  })
})

describe('plan --schedule-version', () => {
  it('writes version 2 unless told otherwise, and verify reads both', async () => {
    const versions = []
    for (const flags of [[], typed`--schedule-version 1`, typed`--schedule-version 2`]) {
      const file = join(folder, 'plan.jsonl')
      expect((await cli`plan moore:4x4:r=1 -o ${file} ${flags}`).exitCode).toBe(0)
      versions.push(JSON.parse(readFileSync(file, 'utf8').split('\n')[0]).version)
      expect((await cli`verify ${file} --topology moore:4x4:r=1`).stdout).toBe(
        `${file}: common-neighbor, 16 ranks, 128 edges: verified\n`,
      )
    }
    expect(versions).toEqual([2, 1, 2])
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  const onMachine = typed`--machine cluster:nodes=4,cores=2,profile=simgrid-fast --bytes 65536`

  it('chooses the algorithm of a collective for a machine, and compares it with the others', async () => {
    const answer = await cli`schedule bcast ${onMachine} --root 3 --compare --json`
    const object = onlyObject(answer) as {
      readonly chosen: string
      readonly alternatives: readonly { readonly algorithm: string; readonly timeUs: number }[]
    }
    expect(object).toMatchObject({
      ...{ ranks: 8, root: 3, bytesPerUnit: 65_536, verified: true, notSimulated: [] },
    })
    expect(object).toMatchObject({ origins: { timeUs: 'simulated', planMs: 'measured' } })
    const times = object.alternatives.map(({ timeUs }) => timeUs)
    expect(object.alternatives[0]!.algorithm).toBe(object.chosen)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(new Set(object.alternatives.map(({ algorithm }) => algorithm.split(':')[0]))).toEqual(
      new Set(algorithms.filter(({ collective }) => collective === 'bcast').map(({ id }) => id)),
    )
    const named = await cli`schedule ${object.chosen} --ranks 8 --root 3 --json`
    const { phases, messages } = onlyObject(named) as { readonly phases: number; readonly messages: number }
    expect(object).toMatchObject({ phases, messages })
  })

  it('lists what it compared, and what cannot serve', async () => {
    const { exitCode, stdout } =
      await cli`schedule allgather --ranks 7 ${onMachine} --algorithm auto --compare`
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^ {2}\* allgather-.* us/m)
    expect(stdout).toContain(
      'not simulated: allgather-neighbor-exchange: the number of ranks must be even, got 7',
    )
  })

  it('takes an algorithm of the collective that is named', async () => {
    const args = typed`schedule reduce --algorithm reduce-binary --ranks 5 --json`
    expect(onlyObject(await cli(...args))).toMatchObject({ algorithm: 'reduce-binary', verified: true })
  })

  it.each([
    [typed`bcast --bytes 8`, 'ERR_USAGE', 'expected --machine'],
    [['bcast', ...onMachine.slice(0, 2)], 'ERR_USAGE', 'expected --bytes'],
    [typed`bcast ${onMachine} --segments 2`, 'ERR_USAGE', '--segments is chosen by'],
    [typed`allgather ${onMachine} --root 1`, 'ERR_USAGE', '--root is for'],
    [typed`bcast ${onMachine} --ranks 17`, 'ERR_MACHINE', '17'],
    [typed`bcast --algorithm reduce-tree --ranks 4`, 'ERR_ARGUMENT', 'expected an algorithm of bcast'],
    [typed`bcast --algorithm bcast-linear --ranks 4 --compare`, 'ERR_USAGE', '--compare is for'],
    [typed`bcast-linear --ranks 4 --compare`, 'ERR_USAGE', '--compare is for the name of a collective'],
    [['neighbor-allgather', ...onMachine], 'ERR_ARGUMENT', 'expected an algorithm among'],
  ])('refuses %j', async (argv, code, message) => {
    const answer = await cli`schedule ${argv}`
    expect([answer.exitCode, answer.stdout]).toEqual([2, ''])
    expect(answer.stderr).toContain(`${code}: `)
    expect(answer.stderr).toContain(message)
  })
})
