import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtInProfiles, formatProfile } from 'rankweave/machine'
import { describe, expect, it } from 'vitest'
import { formatMeasurement } from '../../../../src/tuning/measured/measurement.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { measurementOf } from '../../../support/tuning-data.js'
import { cli, json, refused, typed } from '../run-cli.js'

interface Listed {
  readonly algorithms: readonly { algorithm: string; timeUs: number; segments: number }[]
}

const folder = ownFolder('cli')

describe('models', () => {
  it('lists the algorithms of a collective, the fastest first, with their segments', async () => {
    const options = typed`bcast --profile simgrid-fast --ranks 64 --bytes 1048576`
    const answer = await cli`models ${options}`
    expect(answer.exitCode).toBe(0)
    expect(answer.stdout).toMatch(/^bcast of 1,048,576 bytes on 64 ranks, predicted by loggp/)
    expect(answer.stdout).toMatch(/bcast-chain .* us {2,}\d+ of [\d,]+ bytes/)
    const { algorithms } = (await json`models ${options}`) as unknown as Listed
    const times = algorithms.map(({ timeUs }) => timeUs)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(algorithms.map(({ algorithm }) => algorithm)).toContain('bcast-binomial')
  })

  it('takes PLogP from the tables of a profile, and says where there are none', async () => {
    const options = typed`barrier --profile grig-mx --ranks 64 --model plogp`
    const answer = await cli`models ${options}`
    expect(answer.stdout).toMatch(/predicted by plogp, grig-mx \(network, no tables: from LogGP\)/)
    const grig = builtInProfiles.find(({ name }) => name === 'grig-mx')!
    const plogp = {
      ...{ latencyNs: 3000, sizesBytes: [0, 1024], gapNs: [10_000, 90_000] },
      ...{ sendOverheadNs: [1600, 1600], receiveOverheadNs: [1600, 1600] },
    }
    const levels = { ...grig.levels, network: { ...grig.levels.network, plogp } }
    const file = join(folder, 'tables.json')
    writeFileSync(file, formatProfile({ ...grig, name: 'tables', levels }))
    const object =
      (await json`models barrier --profile ${file} --ranks 64 --model plogp`) as unknown as Listed
    const dissemination = object.algorithms.find(({ algorithm }) => algorithm === 'barrier-dissemination')
    expect(dissemination?.timeUs).toBeCloseTo((6 * 13_000) / 1000, 9)
  })

  it('takes the parameters that a paper prints, Hockney and LogGP alike', async () => {
    const call = typed`bcast --ranks 4 --bytes 65536 --model`
    // Two levels below the root: 2 (2 + n - 2) sends of 65,536 / n bytes, n = 3.
    const answer = await cli`models ${call} hockney:alpha=47600,beta=4.4`
    expect(answer.stdout).toMatch(
      /^bcast of 65,536 bytes on 4 ranks, predicted by hockney:alpha=47600,beta=4.4\n/,
    )
    expect(answer.stdout).toMatch(/bcast-binary +1149\.8 us +3 of 21,846 bytes/)
    const { algorithms, profile } =
      (await json`models barrier --ranks 4 --model loggp:L=2100,o=1600,g=2300,G=4.4,gamma=0.5`) as unknown as Listed & {
        profile: null
      }
    expect(profile).toBeNull()
    const dissemination = algorithms.find(({ algorithm }) => algorithm === 'barrier-dissemination')
    expect(dissemination?.timeUs).toBeCloseTo((2 * (2100 + 1600 + 2300)) / 1000, 9)
  })

  it('predicts algorithms along a network of any size by their closed costs', async () => {
    const answer = await cli`models allgather --machine torus:dims=32x32x32,profile=bluegene-p --bytes 16384`
    expect(answer.stdout).toMatch(
      /^allgather of 16,384 bytes, a rank on every node of torus:dims=32x32x32.*bluegene-p/,
    )
    // Measured by the source: 260.789 ms.
    expect(answer.stdout).toMatch(/\n {2}allgather-bucket:ports=6,shuffle=1 +2594\d\d\.\d us +564 +5469\.2\n/)
    for (const options of [typed`bcast`, typed`allgather --ranks 4`, typed`allgather --profile grig-mx`])
      expect(await cli`models ${options} --machine torus:dims=4x4,profile=bluegene-p`).toMatchObject(
        refused('ERR_USAGE'),
      )
  })

  it('lets the models vote on the fastest algorithm', async () => {
    const call = typed`bcast --profile grig-mx --ranks 64 --bytes 1048576`
    const answer = await cli`models ${call} --model vote`
    const { algorithm, votes } = (await json`models ${call} --model vote`) as unknown as {
      readonly algorithm: string
      readonly votes: readonly { readonly model: string; readonly algorithm: string }[]
    }
    for (const { model, algorithm: chosen } of votes) {
      const { algorithms } = (await json`models ${call} --model ${model}`) as unknown as Listed
      expect(chosen).toBe(algorithms[0].algorithm)
    }
    expect(votes.map(({ model }) => model)).toEqual(['plogp', 'loggp', 'hockney'])
    expect(answer.stdout.split('\n')[0]).toBe(
      `bcast of 1,048,576 bytes on 64 ranks, by a vote of models: ${algorithm}`,
    )
  })

  it.each([
    ['hockney:alpha=5', /expected beta=/],
    ['hockney:alpha=5,beta=-1', /number from 0/],
    ['hockney:alpha=5,beta=1,beta=2', /once/],
    ['hockney:alpha=5,beta=1,L=2', /alpha=, beta=, gamma=, delta=/],
    ['plogp:L=5', /hockney or loggp/],
    ['nothing', /expected one of|loggp/],
  ])('refuses --model %s', async (model, message) => {
    const answer = await cli`models bcast --ranks 4 --model ${model}`
    expect(answer).toMatchObject(refused('ERR_USAGE'))
    expect(answer.stderr).toMatch(message)
    const both = await cli`models bcast --ranks 4 --model ${model} --profile grig-mx`
    expect(both).toMatchObject(refused('ERR_USAGE'))
  })

  describe('--compare', () => {
    const settings = ['bcast-linear', 'bcast-binomial', 'bcast-chain']
    const lines = settings.flatMap((algorithm, i) =>
      [8, 1024, 65_536].map((bytes) =>
        measurementOf({ algorithm, nodes: 8, processesPerNode: 1, bytes, timeUs: 30 + 10 * i + bytes / 100 }),
      ),
    )
    const fileOf = (name: string, text: string) => {
      const file = join(folder, name)
      writeFileSync(file, text)
      return file
    }

    it('puts formulas and simulation beside the measured times, as text, object and page', async () => {
      const chosen = measurementOf({ algorithm: 'default', nodes: 8, processesPerNode: 1, timeUs: 1 })
      const data = fileOf('data.jsonl', [...lines, chosen].map(formatMeasurement).join('\n'))
      const page = join(folder, 'compared.html')
      const options = typed`--compare ${data} --profile grig-mx`
      const answer = await cli`models ${options} -o ${page}`
      expect([answer.exitCode, answer.stderr]).toEqual([0, expect.stringContaining('wrote')])
      expect(answer.stdout).toMatch(/^9 times of 3 calls: simulator loggp, cluster:nodes=4\n/)
      expect(answer.stdout).toMatch(/ hockney +9 +[\d.]+% +[\d.]+% +[\d.]+ +\d of 3 +[\d.]+% +[\d.]+%/)
      expect(answer.stdout).toMatch(
        /bcast of 8 B on 8 x 1 processes: bcast-linear \* +30\.1 +37\.3( +\d+\.\d){3}/,
      )
      const html = readFileSync(page, 'utf8')
      expect(html.match(/<svg /g)).toHaveLength(3)
      for (const name of ['measured', 'hockney', 'loggp', 'plogp', 'simulator'])
        expect(html).toContain(`>${name}<`)
      const object = (await json`models bcast ${options}`) as unknown as {
        readonly predictors: readonly { predictor: string; times: number; winners: number }[]
        readonly times: readonly { predictedUs: Readonly<Record<string, number>> }[]
      }
      expect(object.predictors.map(({ predictor, times }) => [predictor, times])).toEqual([
        ['hockney', 9],
        ['loggp', 9],
        ['plogp', 9],
        ['simulator', 9],
      ])
      expect(Object.keys(object.times[0].predictedUs)).toEqual(['hockney', 'loggp', 'plogp', 'simulator'])
    })

    it.each([
      ['neither profile nor machine', [], 'expected --profile or --machine'],
      ['both', typed`--profile grig-mx --machine torus:dims=2x2,profile=boba`, 'one of them'],
      ['a number of ranks', typed`--profile grig-mx --ranks 4`, '--ranks is not for --compare'],
      ['another form of page', typed`--profile grig-mx -o a.svg`, 'ends in .html'],
      ['a machine without a profile', typed`--machine cluster:nodes=2,cores=1`, 'ERR_MACHINE'],
      ['a collective without times', typed`barrier --profile grig-mx`, 'ERR_MEASUREMENT'],
    ])('refuses %s', async (_, options, message) => {
      const data = fileOf('data.jsonl', lines.map(formatMeasurement).join('\n'))
      expect(await cli`models ${options} --compare ${data}`).toMatchObject(refused(message))
    })

    it('refuses a damaged line with its file and number', async () => {
      const data = fileOf('damaged.jsonl', `${formatMeasurement(lines[0])}\n{"version":1,`)
      expect(await cli`models --compare ${data} --profile grig-mx`).toMatchObject(
        refused(/ERR_MEASUREMENT.*damaged\.jsonl: .*line 2/),
      )
    })
  })

  it.each([
    ['an output without --compare', typed`bcast -o a.html`, 'ERR_USAGE'],
    ['neither a collective nor a file to compare', typed`--profile grig-mx --ranks 4`, 'ERR_USAGE'],
    ['no profile', typed`bcast --ranks 4`, 'ERR_USAGE'],
    ['no ranks', typed`bcast --profile simgrid-fast`, 'ERR_USAGE'],
    ['an unknown collective', typed`shout --profile simgrid-fast --ranks 4`, 'ERR_ARGUMENT'],
    ['a file that is not there', typed`bcast --profile no-such.json --ranks 4`, 'ERR_FILE'],
    ['a file that is no profile', typed`bcast --profile package.json --ranks 4`, 'ERR_MACHINE'],
  ])('refuses %s', async (_, options, code) => {
    expect(await cli`models ${options}`).toMatchObject(refused(code))
  })
})
