import { builtInProfiles, figuresOf, formatProfile, parseProfile } from 'rankweave/machine'
import { describe, expect, test } from 'vitest'
import { simgridFast } from '../../../src/machine/built-in-profiles.js'
import { levels, type MessageTables, type Profile } from '../../../src/machine/profile.js'
import { refusal } from '../../support/refusal.js'
import { thrown } from '../topology/thrown.js'

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
    const headers = levels.filter((level) => profile.levels[level].headerBytes !== undefined)
    expect(figures).toHaveLength(4 * 5 + headers.length + 2 + 3 + 1)
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

test('the bytes of a header may be left out, and are a figure where they are not', () => {
  const { headerBytes: _, ...network } = simgridFast.levels.network
  const without = { ...simgridFast, levels: { ...simgridFast.levels, network } }
  expect(parseProfile(formatProfile(without))).toEqual(without)
  const paths = figuresOf(without).map(({ path }) => path)
  expect(paths).toContain('levels.node.headerBytes')
  expect(paths).not.toContain('levels.network.headerBytes')
  const negative = { ...simgridFast.levels, network: { ...network, headerBytes: -1 } }
  expect(() => formatProfile({ ...simgridFast, levels: negative })).toThrow('levels.network.headerBytes')
})

test('the time per entry of a matching queue may be left out, and is a figure where it is not', () => {
  const given = { provenance: 'given', source: 'a test' } as const
  const slow = { ...simgridFast, matchNsPerEntry: 4.5, exceptions: { matchNsPerEntry: given } }
  expect(parseProfile(formatProfile(slow))).toEqual(slow)
  expect(figuresOf(slow).at(-1)).toEqual({ path: 'matchNsPerEntry', value: 4.5, origin: given })
  for (const matchNsPerEntry of [-1, Number.NaN, Number.POSITIVE_INFINITY, 2e15, '4'])
    expect(() => formatProfile({ ...simgridFast, matchNsPerEntry: matchNsPerEntry as number })).toThrow(
      "profile 'simgrid-fast', matchNsPerEntry: expected",
    )
})

describe('tables of PLogP', () => {
  const plogp = {
    latencyNs: -20,
    sizesBytes: [0, 1024],
    gapNs: [10, 20.5],
    sendOverheadNs: [1, 2],
    receiveOverheadNs: [3, 4],
  }
  const withTables = (tables: unknown): Profile => {
    const network = { ...simgridFast.levels.network, plogp: tables as MessageTables }
    return { ...simgridFast, levels: { ...simgridFast.levels, network } }
  }

  test('are read back as they were written, and are figures with an origin', () => {
    const profile = {
      ...withTables(plogp),
      exceptions: { 'levels.network.plogp': { provenance: 'measured', source: 'here' } as const },
    }
    expect(parseProfile(formatProfile(profile))).toEqual(profile)
    const gap = figuresOf(profile).find(({ path }) => path === 'levels.network.plogp.gapNs.1024')
    expect(gap).toMatchObject({ value: 20.5, origin: { provenance: 'measured' } })
  })

  test.each([
    ['no lengths', { sizesBytes: [] }, 'plogp.sizesBytes: expected a list of 1 to 1024'],
    ['lengths that fall', { sizesBytes: [8, 8] }, 'plogp.sizesBytes: expected integers that ascend'],
    ['a list of another length', { gapNs: [1] }, 'plogp.gapNs: expected a list with a value for each of 2'],
    ['a negative gap', { gapNs: [1, -1] }, 'plogp.gapNs: expected numbers from 0'],
    ['an overhead that is text', { sendOverheadNs: [1, '2'] }, "got '2' at 1"],
    ['a latency that is not finite', { latencyNs: Number.NaN }, 'plogp.latencyNs: expected a number'],
    ['no object', null, 'plogp'],
  ])('with %s are refused', (_, change, message) => {
    const profile = withTables(change === null ? 7 : { ...plogp, ...change })
    const error = thrown(() => formatProfile(profile))
    expect([error.code, error.message]).toEqual(['ERR_MACHINE', expect.stringContaining(message)])
  })

  test('with an unknown key, or one that is missing, are refused in a file', () => {
    const file = (tables: object) => {
      const object = JSON.parse(formatProfile(simgridFast)) as { levels: { node: object } }
      Object.assign(object.levels.node, { plogp: tables })
      return JSON.stringify(object)
    }
    expect(thrown(() => parseProfile(file({ ...plogp, G: 1 }))).message).toContain(
      "levels.node.plogp: expected no key 'G'",
    )
    const { gapNs: _, ...rest } = plogp
    expect(thrown(() => parseProfile(file(rest))).message).toContain("expected 'gapNs', which is missing")
  })
})

describe('parseProfile rejects', () => {
  const file = (change: object) => JSON.stringify({ ...JSON.parse(formatProfile(simgridFast)), ...change })
  test.each([
    ['text that is not JSON', 'expected JSON', 'profile'],
    ['another value', 'profile: expected an object, got []', '[]'],
    [
      'another format',
      'profile, format: expected \'rankweave-profile\', got "other"',
      file({ format: 'other' }),
    ],
    ['another version', 'profile, version: expected 1, got 2', file({ version: 2 })],
    ['an unknown key', "profile: expected no key 'latency'", file({ latency: 2 })],
    [
      'a missing figure',
      "profile, hop: expected 'nsPerByte', which is missing",
      file({ hop: { latencyNs: 1 } }),
    ],
    [
      'a figure that is text',
      "hop.latencyNs: expected a number of at least 0, got '1'",
      file({ hop: { latencyNs: '1', nsPerByte: 1 } }),
    ],
    [
      'a negative figure',
      'hop.latencyNs: expected a number of at least 0',
      file({ hop: { latencyNs: -1, nsPerByte: 1 } }),
    ],
    [
      'an unknown provenance',
      "expected provenance given, measured, assumed, got 'guessed'",
      file({ provenance: 'guessed' }),
    ],
    ['a name that is no text', 'letters, digits and hyphens, got 7', file({ name: 7 })],
    ['a missing level', "profile, levels: expected 'process', which is missing", file({ levels: {} })],
    [
      'a level that is no object',
      'profile, levels.process: expected an object, got 1',
      file({ levels: { process: 1, package: 1, node: 1, network: 1 } }),
    ],
    [
      'an exception without a source',
      "profile, exceptions, hop: expected 'source'",
      file({ exceptions: { hop: { provenance: 'given' } } }),
    ],
    [
      'an eager limit that is text',
      "eagerLimitBytes: expected a number of at least 0, got '7'",
      file({ eagerLimitBytes: '7' }),
    ],
    ['a name with a blank', "got 'my machine'", file({ name: 'my machine' })],
    [
      'an exception of no figure',
      "got 'lat'",
      file({ exceptions: { lat: { provenance: 'given', source: 'x' } } }),
    ],
    ['a megabyte', 'expected at most 1048576 characters', ' '.repeat(2 ** 20 + 1)],
  ])('%s', (_, message, text) => {
    expect(() => parseProfile(text)).toThrow(refusal('ERR_MACHINE', message))
  })
})
