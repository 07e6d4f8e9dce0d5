import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, onlyObject, typed } from '../run-cli.js'

/** A: 5 x 4 with an empty row; B: 4 x 3. */
const files: Readonly<Record<string, string>> = {
  'a.mtx': `%%MatrixMarket matrix coordinate real general
5 4 7
1 1 2
1 4 -1.5
2 2 0.25
4 1 3
4 3 1e-3
5 4 7
5 2 -4
`,
  'b.mtx': `%%MatrixMarket matrix array real general
4 3
1
2
3
4
5
6
7
8
9
10
11
12
`,
  'no-columns.mtx': '%%MatrixMarket matrix coordinate real general\n4 0 0\n',
  'complex.mtx': `%%MatrixMarket matrix coordinate complex general
2 2 1
1 2 3 4
`,
  'wide.mtx': '%%MatrixMarket matrix coordinate real general\n2 33554432 1\n1 2 3\n',
  'broken.mtx': `%%MatrixMarket matrix coordinate real general
2 2 2
1 2 3
3 1 1
`,
}

const folder = ownFolder('spmm')
const at = (name: string) => join(folder, name)
beforeAll(() => {
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text)
})

/** Null where a busy machine leaves time for fewer than 6 turns. */
const anyInterval = expect.toSatisfy(
  (value: unknown) => value === null || (Array.isArray(value) && value.length === 2 && value[0] <= value[1]),
)

describe('spmm', () => {
  it('the generated matrix on 64 ranks takes fewer messages than edges', async () => {
    const answer = await cli`spmm -n 64 --json`
    expect(answer.exitCode).toBe(0)
    const object = onlyObject(answer)
    expect(object).toMatchObject({
      ranks: 64,
      fabric: 'local',
      strategy: 'common-neighbor',
      k: 2,
      matrix: { rows: 4096, cols: 4096, nnz: 125_492 },
      messages: { direct: 1170, planned: 652, counted: 652 },
      maxRelativeError: 0,
      verified: true,
    })
    expect(object['measured']).toEqual(
      ['planned', 'direct', 'ordinary allgather'].map((name) => ({
        name,
        seconds: expect.any(Number),
        localSeconds: expect.any(Number),
        gflops: expect.any(Number),
        communication: expect.any(Number),
        differing: 0,
        turnSeconds: expect.any(Array),
        interval: anyInterval,
      })),
    )
    expect(object['comparison']).toEqual(
      ['direct', 'ordinary allgather'].map((name) => ({
        name,
        ratio: expect.any(Number),
        interval: anyInterval,
        verdict: expect.stringMatching(/^(faster|slower|no difference seen)$/),
      })),
    )
    expect(object['seconds']).toEqual({ plan: expect.any(Number), total: expect.any(Number) })
  })

  it.each([1, 3, 8])(
    'a rectangular matrix with an empty row gives the serial product on %i ranks',
    async (ranks) => {
      for (const processes of ['1', '5']) {
        for (const strategy of ['direct', 'common-neighbor']) {
          const world = typed`-n ${ranks} --processes ${processes}`
          const words = typed`${world} --strategy ${strategy} --columns 2 --no-compare`
          const answer = await cli`spmm ${at('a.mtx')} ${at('b.mtx')} ${words} --json`
          expect(answer).toMatchObject({ exitCode: 0 })
          expect(onlyObject(answer)).toMatchObject({
            matrix: { rows: 5, cols: 4, nnz: 7 },
            b: { rows: 4, cols: 3 },
            columnsPerExchange: 2,
            maxRelativeError: 0,
            verified: true,
          })
        }
      }
    },
  )

  it('compressed matrices are read as they are', async () => {
    for (const name of ['a.mtx', 'b.mtx']) writeFileSync(at(`${name}.gz`), gzipSync(readFileSync(at(name))))
    const answer = await cli`spmm ${at('a.mtx.gz')} ${at('b.mtx.gz')} -n 3 --json`
    expect(onlyObject(answer)).toMatchObject({ matrix: { nnz: 7 }, b: { cols: 3 }, verified: true })
  })

  it('a B without columns sends no message', async () => {
    const answer = await cli`spmm ${at('a.mtx')} ${at('no-columns.mtx')} -n 3 --json`
    expect(answer.exitCode).toBe(0)
    expect(onlyObject(answer)).toMatchObject({ b: { cols: 0 }, messages: { counted: 0 }, verified: true })
  })

  it('--machine plans for nodes other than the actual ones', async () => {
    const machine = typed`--machine cluster:nodes=4,cores=4 --k 3 --processes 3`
    const object = await json`spmm -n 16 ${machine}`
    expect(object).toMatchObject({ mode: 'aware', k: 3, theta: 3, processes: 3, verified: true })
    expect((object['messages'] as Record<string, number>)['interNode']).toBeGreaterThan(0)
  })

  it.each(['greedy', 'improved', 'exact'])(
    '--engine %s plans, multiplies and gives the serial product',
    async (engine) => {
      const answer = await cli`spmm -n 12 --processes 2 --engine ${engine} --json`
      expect(answer).toMatchObject({ exitCode: 0, stderr: '' })
      expect(onlyObject(answer)).toMatchObject({ strategy: 'common-neighbor', verified: true })
    },
  )

  it('refuses the engine distributed, which every process could only simulate', async () => {
    const { exitCode, stderr } = await cli`spmm -n 12 --engine distributed`
    expect({ exitCode, stderr: stderr.split(':')[0] }).toEqual({ exitCode: 2, stderr: 'ERR_STRATEGY' })
  })

  it('--no-compare leaves out direct sends and the allgather', async () => {
    const object = await json`spmm ${at('a.mtx')} -n 2 --no-compare`
    expect(object).toMatchObject({ measured: [{ name: 'planned' }], verified: true })
    expect(object['measured']).toHaveLength(1)
  })

  it('--turns times each product so often, and six turns give an interval', async () => {
    const words = typed`spmm ${at('a.mtx')} -n 2 --turns`
    const object = await json`${words} 6`
    for (const { turnSeconds, interval } of object['measured'] as {
      turnSeconds: number[]
      interval: unknown
    }[])
      expect([turnSeconds.length, interval]).toEqual([
        6,
        [Math.min(...turnSeconds), Math.max(...turnSeconds)],
      ])
    const few = await cli`${words} 5`
    expect(few.stdout).toContain('on the local fabric, 5 turns each, median\n')
    expect(few.stdout).toMatch(/no difference seen from direct sends +\S+ times as fast, too few turns/)
    expect(await cli`${words} 0`).toMatchObject({ exitCode: 2 })
  })

  it('--no-check collects nothing and says so', async () => {
    const words = typed`spmm ${at('a.mtx')} -n 2 --no-compare --no-check`
    expect(await json`${words}`).toMatchObject({ maxRelativeError: null, verified: null })
    expect((await cli(...words)).stdout).toMatch(/check +left out/)
  })

  it('--strategy auto reports what it tried', async () => {
    const words = typed`-n 8 --processes 8 --strategy auto --no-compare --json`
    const object = onlyObject(await cli`spmm ${words}`)
    const tried = object['tried'] as { name: string }[]
    expect(tried.map(({ name }) => name)).toContain('ordinary allgather')
    expect(tried.map(({ name }) => name)).toContain(object['exchange'])
    expect(object).toMatchObject({ verified: true })
  })

  it('--strategy auto with a machine uses what the simulator finds fastest there', async () => {
    const machine = 'cluster:nodes=2,cores=4,profile=simgrid-fast'
    const words = typed`-n 8 --strategy auto --machine ${machine} --no-compare --json`
    expect(onlyObject(await cli`spmm ${words}`)).toMatchObject({ tried: null, verified: true })
  })

  it('--predict and --svg label what is measured and what is predicted', async () => {
    const machine = 'cluster:nodes=4,cores=2,profile=simgrid-fast'
    const words = typed`-n 8 --processes 8 --strategy routed --predict ${machine} --svg ${at('out.svg')}`
    const { stdout, exitCode } = await cli`spmm ${words}`
    expect(exitCode).toBe(0)
    expect(stdout).toContain('measured here, 8 processes on the local fabric')
    expect(stdout).toContain(`predicted for ${machine}, one exchange`)
    const picture = readFileSync(at('out.svg'), 'utf8')
    expect(picture).toMatch(/^<svg [\s\S]*<\/svg>\n$/)
    expect(picture).toContain('measured here')
    expect(picture).toContain('predicted')
  })

  it('refuses a machine without a profile before anything is read', async () => {
    const answer = await cli`spmm -n 8 --predict cluster:nodes=4,cores=2`
    expect(answer.exitCode).toBe(2)
    expect(answer.stderr).toMatch(/^ERR_MACHINE/)
  })

  it('prints a table, and nothing on standard error without a terminal', async () => {
    const { stdout, stderr } = await cli`spmm -n 16 --machine cluster:nodes=2,cores=8`
    expect(stdout).toMatch(/^C = A x B on 16 ranks, 1 process, local fabric/)
    expect(stdout).toMatch(/check +passed, max relative error 0/)
    expect(stderr).toBe('')
  })

  it('a B that memory cannot hold is bad input', async () => {
    const { exitCode, stderr } = await cli`spmm ${at('wide.mtx')} -n 2 --width 1048576`
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(/^ERR_ARGUMENT.*no memory for 16777216 x 1048576 numbers/),
    })
  })

  it.each([
    ['ERR_ARGUMENT', 'A to be a real matrix', ['complex.mtx']],
    ['ERR_ARGUMENT', 'B to be a real matrix', ['a.mtx', 'complex.mtx']],
    ['ERR_ARGUMENT', 'expected B to have 4 rows', ['a.mtx', 'a.mtx']],
    ['ERR_MATRIX_MARKET', 'broken.mtx', ['broken.mtx']],
  ])('%s: %s', async (code, message, names) => {
    const answer = await cli`spmm ${names.map(at)} -n 2 --json`
    expect(answer.exitCode).toBe(2)
    expect(onlyObject(answer)).toMatchObject({ error: { code, message: expect.stringContaining(message) } })
  })
})
