import { describe, expect, test } from 'vitest'
import { figuresOf } from '../../../../src/machine/profile-figures.js'
import { builtInProfiles } from '../../../../src/machine/profiles/built-in-profiles.js'
import { formatProfile, parseProfile } from '../../../../src/machine/profiles/profile-file.js'
import { simgridFast } from '../../../../src/machine/profiles/simgrid-profiles.js'
import { thrown } from '../../topology/thrown.js'

test.each(builtInProfiles)('$name is read back as it was written', (profile) => {
  expect(parseProfile(formatProfile(profile))).toEqual(profile)
})

test('an eager limit that no message exceeds is null in the file', () => {
  const unlimited = { ...simgridFast, eagerLimitBytes: Number.POSITIVE_INFINITY }
  expect(JSON.parse(formatProfile(unlimited))).toMatchObject({ eagerLimitBytes: null })
  expect(parseProfile(formatProfile(unlimited))).toEqual(unlimited)
})

test('every figure of a built-in profile has a provenance and a source, the longest exception first', () => {
  for (const profile of builtInProfiles) {
    const figures = figuresOf(profile)
    expect(figures).toHaveLength(4 * 5 + 2 + 3 + 1)
    for (const { origin } of figures) expect(origin.source.length).toBeGreaterThan(3)
  }
  const gap = { provenance: 'measured', source: 'here' } as const
  const profile = {
    ...simgridFast,
    exceptions: { ...simgridFast.exceptions, levels: gap, 'levels.node.gapNs': simgridFast },
  }
  const of = (path: string) => figuresOf(profile).find((figure) => figure.path === path)!.origin
  expect(of('levels.network.gapNs')).toEqual(gap)
  expect(of('levels.node.gapNs').provenance).toBe('given')
  expect(of('levels.process.gapNs').provenance).toBe('assumed')
  expect(of('eagerLimitBytes')).toEqual({ provenance: 'given', source: simgridFast.source })
})

describe('parseProfile rejects', () => {
  const file = (change: object) => JSON.stringify({ ...JSON.parse(formatProfile(simgridFast)), ...change })
  test.each([
    ['text that is not JSON', 'profile', 'expected JSON'],
    ['another value', '[]', 'profile, whole'],
    ['another format', file({ format: 'other' }), 'profile, format'],
    ['another version', file({ version: 2 }), 'profile, version'],
    ['an unknown key', file({ latency: 2 }), 'latency'],
    ['a missing figure', file({ hop: { latencyNs: 1 } }), 'profile, hop.nsPerByte'],
    ['a figure that is text', file({ hop: { latencyNs: '1', nsPerByte: 1 } }), 'profile, hop.latencyNs'],
    [
      'a negative figure',
      file({ hop: { latencyNs: -1, nsPerByte: 1 } }),
      'hop.latencyNs: expected a number of at least 0',
    ],
    ['an unknown provenance', file({ provenance: 'guessed' }), 'profile, provenance'],
    ['a name with a blank', file({ name: 'my machine' }), "got 'my machine'"],
    [
      'an exception of no figure',
      file({ exceptions: { lat: { provenance: 'given', source: 'x' } } }),
      "got 'lat'",
    ],
    ['a megabyte', ' '.repeat(2 ** 20 + 1), 'expected at most 1048576 characters'],
  ])('%s', (_, text, message) => {
    const error = thrown(() => parseProfile(text))
    expect(error.code).toBe('ERR_MACHINE')
    expect(error.message).toContain(message)
  })
})
