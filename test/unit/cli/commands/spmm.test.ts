import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, refused, typed } from '../run-cli.js'

const folder = ownFolder('spmm')
const coordinate = '%%MatrixMarket matrix coordinate real general\n'

/** A: 5 x 4 with an empty row; B: 4 x 3. */
const files: Readonly<Record<string, string>> = {
  'a.mtx': `${coordinate}5 4 7\n1 1 2\n1 4 -1.5\n2 2 0.25\n4 1 3\n4 3 1e-3\n5 4 7\n5 2 -4\n`,
  'b.mtx': `%%MatrixMarket matrix array real general\n4 3\n${Array.from({ length: 12 }, (_, i) => i + 1).join('\n')}\n`,
  'no-columns.mtx': `${coordinate}4 0 0\n`,
  'complex.mtx': '%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 3 4\n',
  'wide.mtx': `${coordinate}2 33554432 1\n1 2 3\n`,
  'broken.mtx': `${coordinate}2 2 2\n1 2 3\n3 1 1\n`,
}
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
const at = (...names: readonly string[]) => names.map((name) => join(folder, name))
const a = at('a.mtx')

/** Null where a busy machine leaves time for fewer than 6 turns. */
const anyInterval = expect.toSatisfy(
  (value: unknown) => value === null || (Array.isArray(value) && value.length === 2 && value[0] <= value[1]),
)

describe('spmm', () => {
  it('of the generated matrix takes fewer messages than edges, and measures three products', async () => {
    const object = await json`spmm -n 64 --turns 1`
    expect(object).toMatchObject({
      ...{
        ...{ ranks: 64, fabric: 'local', strategy: 'common-neighbor', k: 2, maxRelativeError: 0 },
        verified: true,
      },
      matrix: { rows: 4096, cols: 4096, nnz: 125_492 },
      messages: { direct: 1170, planned: 652, counted: 652 },
    })
    const number = expect.any(Number)
    expect(object['measured']).toEqual(
      ['planned', 'direct', 'ordinary allgather'].map((name) => ({
        ...{ name, seconds: number, localSeconds: number, gflops: number, communication: number },
        ...{ differing: 0, turnSeconds: expect.any(Array), interval: anyInterval },
      })),
    )
    const verdict = expect.stringMatching(/^(faster|slower|no difference seen)$/)
    expect(object['comparison']).toEqual(
      ['direct', 'ordinary allgather'].map((name) => ({
        ...{ name, ratio: number, interval: anyInterval, verdict },
      })),
    )
    expect(object['seconds']).toEqual({ plan: number, total: number })
  })

  it.each([
    [1, 1, 'direct'],
    [3, 5, 'common-neighbor'],
    [8, 1, 'common-neighbor'],
    [8, 5, 'direct'],
  ])(
    'multiplies a rectangular matrix with an empty row on %i ranks, %i processes, by %s',
    async (n, p, strategy) => {
      const words = typed`-n ${n} --processes ${p} --strategy ${strategy} --columns 2 --no-compare`
      const object = await json`spmm ${at('a.mtx', 'b.mtx')} ${words}`
      expect(object).toMatchObject({
        ...{ matrix: { rows: 5, cols: 4, nnz: 7 }, b: { rows: 4, cols: 3 } },
        ...{ columnsPerExchange: 2, maxRelativeError: 0, verified: true },
      })
      expect(object['measured']).toMatchObject([{ name: 'planned' }])
      expect(object['measured']).toHaveLength(1)
    },
  )

  it('reads compressed matrices', async () => {
    for (const file of at('a.mtx', 'b.mtx')) writeFileSync(`${file}.gz`, gzipSync(readFileSync(file)))
    const object = await json`spmm ${at('a.mtx.gz', 'b.mtx.gz')} -n 3`
    expect(object).toMatchObject({ matrix: { nnz: 7 }, b: { cols: 3 }, verified: true })
  })

  it('sends no message for a B without columns', async () => {
    const object = await json`spmm ${at('a.mtx', 'no-columns.mtx')} -n 3`
    expect(object).toMatchObject({ b: { cols: 0 }, messages: { counted: 0 }, verified: true })
  })

  it('plans for nodes other than the actual ones with --machine', async () => {
    const machine = typed`--machine cluster:nodes=4,cores=4 --k 3 --processes 3 --turns 1`
    const object = await json`spmm -n 16 ${machine}`
    expect(object).toMatchObject({ mode: 'aware', k: 3, theta: 3, processes: 3, verified: true })
    expect((object['messages'] as Record<string, number>)['interNode']).toBeGreaterThan(0)
  })

  it.each(['greedy', 'improved', 'exact'])('plans by --engine %s', async (engine) => {
    const object = await json`spmm -n 12 --processes 2 --engine ${engine} --no-compare --turns 1`
    expect(object).toMatchObject({ strategy: 'common-neighbor', verified: true })
  })

  it('times each product --turns times, of which six give an interval', async () => {
    const { measured } = await json`spmm ${a} -n 2 --turns 6`
    for (const { turnSeconds, interval } of measured as { turnSeconds: number[]; interval: unknown }[]) {
      expect(turnSeconds).toHaveLength(6)
      expect(interval).toEqual([Math.min(...turnSeconds), Math.max(...turnSeconds)])
    }
    const { stdout } = await cli`spmm ${a} -n 2 --turns 5`
    expect(stdout).toContain('on the local fabric, 5 turns each, median\n')
    expect(stdout).toMatch(/no difference seen from direct sends +\S+ times as fast, too few turns/)
  })

  it('collects nothing with --no-check, and says so', async () => {
    const words = typed`spmm ${a} -n 2 --no-compare --no-check`
    expect(await json`${words}`).toMatchObject({ maxRelativeError: null, verified: null })
    expect((await cli`${words}`).stdout).toMatch(/check +left out/)
  })

  it('reports what --strategy auto tried, and with a machine uses what is fastest simulated', async () => {
    const words = typed`spmm -n 8 --strategy auto --no-compare --turns 1`
    const object = await json`${words} --processes 8`
    const tried = (object['tried'] as { name: string }[]).map(({ name }) => name)
    expect(tried).toEqual(expect.arrayContaining(['ordinary allgather', object['exchange']]))
    expect(object).toMatchObject({ verified: true })
    const simulated = await json`${words} --machine cluster:nodes=2,cores=4,profile=simgrid-fast`
    expect(simulated).toMatchObject({ tried: null, verified: true })
  })

  it('labels what is measured and what is predicted, in the table and in the picture', async () => {
    const [svg] = at('out.svg')
    const machine = 'cluster:nodes=4,cores=2,profile=simgrid-fast'
    const words = typed`-n 8 --processes 8 --strategy routed --predict ${machine} --svg ${svg}`
    const { stdout } = await cli`spmm ${words}`
    expect(stdout).toMatch(/^C = A x B on 8 ranks, 8 processes, local fabric/)
    expect(stdout).toMatch(/check +passed, max relative error 0/)
    expect(stdout).toContain('measured here, 8 processes on the local fabric')
    expect(stdout).toContain(`predicted for ${machine}, one exchange`)
    expect(readFileSync(svg, 'utf8')).toMatch(/^<svg [\s\S]*measured here[\s\S]*predicted[\s\S]*<\/svg>\n$/)
  })

  it.each([
    [typed`-n 8 --predict cluster:nodes=4,cores=2`, /^ERR_MACHINE/],
    [typed`-n 12 --engine distributed`, /^ERR_STRATEGY/],
    [typed`${a} -n 2 --turns 0`, /^ERR_USAGE/],
    [
      typed`${at('wide.mtx')} -n 2 --width 1048576`,
      /^ERR_ARGUMENT.*no memory for 16777216 x 1048576 numbers/,
    ],
    [typed`${at('complex.mtx')} -n 2`, /^ERR_ARGUMENT.*A to be a real matrix/],
    [typed`${at('a.mtx', 'complex.mtx')} -n 2`, /^ERR_ARGUMENT.*B to be a real matrix/],
    [typed`${at('a.mtx', 'a.mtx')} -n 2`, /^ERR_ARGUMENT.*expected B to have 4 rows/],
    [typed`${at('broken.mtx')} -n 2`, /^ERR_MATRIX_MARKET.*broken\.mtx/],
  ])('refuses %j', async (words, message) => {
    expect(await cli`spmm ${words}`).toMatchObject(refused(message))
  })
})
