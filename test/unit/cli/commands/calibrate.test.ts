import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Profile, parseProfile } from 'rankweave/machine'
import { describe, expect, it } from 'vitest'
import { predictUs } from '../../../../src/cost/models/predict.js'
import { formatMeasurement } from '../../../../src/tuning/measured/measurement.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { measurementOf } from '../../../support/tuning-data.js'
import { cli, onlyObject, refused, typed } from '../run-cli.js'

const folder = ownFolder('cli')

describe('calibrate', () => {
  it('writes a profile with the machine and the date as its source, and reports the spread', async () => {
    const file = join(folder, 'here.json')
    const options = typed`--fabric local --runs 3 --sizes 128 --name here -o ${file} --json`
    const answer = await cli`calibrate ${options}`
    expect(answer.exitCode).toBe(0)
    const object = onlyObject(answer) as { profile: Profile; measured: { node: object } }
    const profile = parseProfile(readFileSync(file, 'utf8'))
    expect(object.profile).toEqual(profile)
    expect(profile).toMatchObject({ name: 'here', provenance: 'measured', eagerLimitBytes: 65_536 })
    expect(profile.source).toMatch(
      /^rankweave .* calibrate, \d{4}-\d\d-\d\d: local, 2 processes; .*; Node v\d/,
    )
    expect(Object.keys(object.measured.node)).toContain('latencyNs')
    const { plogp, ...figures } = profile.levels.node
    for (const value of Object.values(figures)) expect(value).toBeGreaterThanOrEqual(0)
    expect(plogp?.sizesBytes).toEqual([8, 128])
    expect(plogp?.gapNs).toEqual(plogp?.gapNs.toSorted((a, b) => a - b))
  })

  it('refuses one process, and a name that machine lines could not hold', async () => {
    expect(await cli`calibrate --fabric local --processes 1`).toMatchObject(refused('ERR_USAGE'))
    expect(await cli`calibrate --fabric local --name ${'a b'}`).toMatchObject(refused('--name'))
  })

  /** Times by LogGP of Grig, with another gap and latency, in a file. */
  function timesBy(latencyNs: number, gapNs: number): string {
    const data = join(folder, `data-${gapNs}.jsonl`)
    const grig = { model: 'loggp', latencyNs, overheadNs: 1600, gapNs, nsPerByte: 4.4 } as const
    const lines = [2, 4, 8, 16].flatMap((nodes) =>
      [8, 1024, 65_536].flatMap((bytes) => {
        const call = { nodes, processesPerNode: 1 }
        const chain = predictUs('bcast-chain', grig, { ranks: nodes, bytes })
        const flat = predictUs('barrier-linear', grig, { ranks: nodes })
        return [
          measurementOf({ ...call, algorithm: 'bcast-chain', bytes, timeUs: chain }),
          measurementOf({
            ...{ ...call, collective: 'barrier', algorithm: 'barrier-linear' },
            ...{ bytes: 0, timeUs: flat },
          }),
        ]
      }),
    )
    writeFileSync(data, lines.map(formatMeasurement).join('\n'))
    return data
  }

  it('says where a fit would have g below an overhead, and L of LogGP is 0', async () => {
    const answer = await cli`calibrate --fit ${timesBy(0, 500)} --profile grig-mx`
    expect(answer.stdout).toMatch(
      /\n {2}g of 0 bytes is the longer overhead: the times alone would have it below\n/,
    )
    expect(answer.stdout).toMatch(/\n {2}L of LogGP is 0: /)
  })

  it('fits PLogP to a file of measurements, with the overheads of a profile', async () => {
    const out = join(folder, 'fitted.json')
    const options = typed`--fit ${timesBy(2100, 2300)} --profile grig-mx --name fitted -o ${out}`
    const answer = await cli`calibrate ${options}`
    expect(answer.stdout).not.toMatch(/overhead: |L of LogGP/)
    expect([answer.exitCode, answer.stdout]).toEqual([
      0,
      expect.stringMatching(/^fitted\n\nnetwork: fitted to 12 broadcasts and 4 barriers; median error 0\./),
    ])
    const { network } = parseProfile(readFileSync(out, 'utf8')).levels
    expect(network.sendOverheadNs).toBe(1600)
    expect(Math.abs(network.gapNs / 2300 - 1)).toBeLessThan(0.02)
    expect(Math.abs(network.nsPerByte / 4.4 - 1)).toBeLessThan(0.001)
    expect(network.plogp?.sizesBytes).toEqual([0, 1024, 65_536])
    const models = await cli`models bcast --profile ${out} --ranks 8 --model plogp`
    expect(models.stdout).toMatch(/predicted by plogp, fitted \(network\)\n/)
  })

  it.each([
    ['a fit without overheads', typed`--fit data.jsonl`, '--fit: expected --profile'],
    ['a name with a blank', typed`--fit data.jsonl --profile grig-mx --name ${'a b'}`, '--name: expected'],
    ['a fit on a fabric', typed`--fit data.jsonl --fabric local`, '--fabric is not for --fit'],
    ['overheads without a fit', typed`--fabric local --profile grig-mx`, '--profile is for --fit'],
    ['a binding on local', typed`--fabric local --bind-to core`, '--bind-to is for --fabric threads'],
    ['lengths that are too short', typed`--fabric local --sizes 8`, '--sizes: expected'],
  ])('refuses %s', async (_, options, message) => {
    expect(await cli`calibrate ${options}`).toMatchObject(refused(message))
  })
})
