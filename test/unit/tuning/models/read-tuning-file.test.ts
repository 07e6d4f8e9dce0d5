import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { oddTuning } from '../../../../src/conformance/collective-oracles.js'
import {
  checkTuningFile,
  formatTuningFile,
  ownTuning,
  readTuningFile,
  tuningFileLimits,
} from '../../../../src/tuning/models/read-tuning-file.js'
import { fnvHash } from '../../../../src/tuning/models/tuning-file.js'
import { refusal } from '../../../support/refusal.js'
import { settingFrom, simulated, treeByBytes, tuningFileOf } from '../../../support/tuning-files.js'
import { exampleTrees } from '../../../support/tuning-trees.js'

const bcast = treeByBytes('bcast', ['bcast-chain:fanout=4,segment=8192', 1024], ['bcast-linear'])
const text = formatTuningFile(simulated, { bcast })

/** The text with other members, and the checksum that belongs to it. */
function altered(members: object): string {
  const { checksum: _, ...file } = JSON.parse(text) as Record<string, unknown>
  return withChecksum(JSON.stringify({ ...file, ...members }))
}

function withChecksum(content: string): string {
  const open = content.slice(0, -1)
  return `${open},"checksum":"${fnvHash(new TextEncoder().encode(open))}"}`
}

describe('FNV-1a', () => {
  it.each([
    ['', 'cbf29ce484222325'],
    ['a', 'af63dc4c8601ec8c'],
    ['foobar', '85944171f73967e8'],
  ])('of %j is the published value', (of, hash) => {
    expect(fnvHash(new TextEncoder().encode(of))).toBe(hash)
  })

  it('of many bytes is that of arithmetic on 64 bits', () => {
    const draw = seededRandom(3)
    const bytes = Uint8Array.from({ length: 5000 }, () => Math.floor(draw() * 256))
    let hash = 0xcbf29ce484222325n
    for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
    expect(fnvHash(bytes)).toBe(hash.toString(16).padStart(16, '0'))
  })
})

describe('a tuning file', () => {
  it('reads as what was written', () => {
    expect(text.endsWith('"}\n')).toBe(true)
    expect(readTuningFile(text)).toEqual({
      ...{ format: 'rankweave-tuning', version: 1, source: simulated, decisions: { bcast } },
      checksum: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
    for (const [, tree] of exampleTrees()) {
      const [{ collective }] = tree.settings
      expect(tuningFileOf({ [collective]: tree }).decisions).toEqual({ [collective]: tree })
    }
    expect(Object.keys(oddTuning().decisions).length).toBeGreaterThan(9)
  })

  it('may be laid out otherwise: spaces, tabs and line ends outside of strings do not count', () => {
    const spaced = { kind: 'simulator', name: 'a b', machine: 'c:  \\" d' } as const
    const one = formatTuningFile(spaced, { bcast })
    const pretty = JSON.stringify(JSON.parse(one), null, 2).replaceAll('\n', '\r\n\t')
    expect(readTuningFile(pretty)).toEqual(readTuningFile(one))
    expect(() => readTuningFile(one.replace('a b', 'ab'))).toThrow(/damaged, or edited by hand/)
  })

  it('is taken as a value, as JSON.parse makes it', () => {
    const value: unknown = JSON.parse(text)
    expect(checkTuningFile(value)).toEqual(value)
    for (const wrong of [undefined, 7, null, () => {}, [], 1n]) {
      expect(() => checkTuningFile(wrong)).toThrow(refusal('ERR_TUNING'))
    }
  })

  it('is not written unless it can be read', () => {
    const other = { ...bcast, settings: [settingFrom('reduce', 'reduce-tree'), bcast.settings[1]] }
    expect(() => formatTuningFile(simulated, { bcast: other })).toThrow(/settings\[0\]\.collective/)
    expect(() => formatTuningFile(simulated, {})).toThrow(/a collective at least/)
  })
})

describe('a damaged tuning file is refused with its place:', () => {
  const leaf = { kind: 'leaf', setting: 0, cases: 1, errors: 0 }
  const rows: readonly (readonly [what: string, text: string, expected: RegExp])[] = [
    ['empty', '', /expected JSON/],
    ['cut off', text.slice(0, 100), /expected JSON/],
    [
      'long',
      '[\n'.repeat(3) + ' '.repeat(1794),
      /expected JSON, got '(\[\\x0a){3} {194}\.\.\. \(1800 characters\)'$/,
    ],
    ['of bytes', '\u0000\u0007\ufffd\n'.repeat(9), /expected JSON, got 36 characters that are not text$/],
    ['a list', '[]', /expected an object/],
    ['null', 'null', /expected an object/],
    ['another file', '{"format":"rankweave-plan"}', /format: expected 'rankweave-tuning'/],
    ['a line of measurements', '{"version":1}', /format: expected 'rankweave-tuning'/],
    ['another version', altered({ version: 2, more: 1 }), /version: expected 1, got 2/],
    ['an unknown member', altered({ decision: 1 }), /'decision' \(did you mean 'decisions'\?\)/],
    ['no source', altered({ source: undefined }), /source: expected an object/],
    [
      'a source with marks that change how text reads',
      altered({ source: { ...simulated, name: 'a\u202eb' } }),
      /source\.name as 1 to 200 printable/,
    ],
    ['no decisions', altered({ decisions: undefined }), /decisions: expected an object/],
    ['no tree', altered({ decisions: {} }), /a collective at least/],
    [
      'a neighborhood collective',
      altered({ decisions: { 'neighbor-allgather': bcast } }),
      /decisions: .*'neighbor-allgather'/,
    ],
    [
      'settings of another collective',
      altered({ decisions: { reduce: bcast } }),
      /decisions\.reduce\.settings\[0\]\.collective: expected reduce, got 'bcast'/,
    ],
    [
      'a leaf of no setting',
      altered({ decisions: { bcast: { ...bcast, root: { ...leaf, setting: 2 } } } }),
      /decisions\.bcast\.root\.setting: expected an integer from 0 to 1/,
    ],
    ['a checksum that is not the last member', checksumFirst(), /as the last member/],
    [
      'another checksum',
      text.replace(/"checksum":"./, (found) => `${found.slice(0, -1)}${found.endsWith('0') ? 1 : 0}`),
      /damaged, or edited by hand/,
    ],
    ['another number', text.replace('1024', '1025'), /damaged, or edited by hand/],
    ['no checksum', text.replace(/,"checksum":"[0-9a-f]+"/, ''), /as the last member/],
    ['too deep', '['.repeat(50), /at most 44 levels/],
    ['too long', ' '.repeat(tuningFileLimits.bytes + 1), /at most 16777216 bytes/],
  ]

  function checksumFirst(): string {
    const { checksum, ...rest } = readTuningFile(text)
    return JSON.stringify({ checksum, ...rest })
  }

  it.each(rows)('%s', (_, damaged, expected) => {
    expect(() => readTuningFile(damaged, 'tuning.json')).toThrow(refusal('ERR_TUNING', expected))
    expect(() => readTuningFile(damaged, 'tuning.json')).toThrow(/^tuning\.json/)
  })

  it('with any byte changed, cut anywhere', () => {
    const draw = seededRandom(7)
    const bytes = new TextEncoder().encode(text.trim())
    for (let n = 0; n < 500; n++) {
      const damaged = bytes.slice()
      const at = Math.floor(draw() * bytes.length)
      damaged[at] ^= 1 + Math.floor(draw() * 255)
      const cut = n % 2 === 0 ? damaged : bytes.slice(0, at)
      const read = () => readTuningFile(new TextDecoder().decode(cut))
      expect(read).toThrow(refusal('ERR_TUNING'))
    }
  })
})

describe('the source of a tuning file', () => {
  const from = (kind: 'rankweave' | 'mpi' | 'simulator' | 'formula', name: string) =>
    tuningFileOf({ bcast }, { kind, name, machine: 'two cores' })

  it.each(['threads', 'threads (2 cores)'])('%j is taken on fabric threads only', (name) => {
    expect(ownTuning('run', from('rankweave', name), 'threads').source.name).toBe(name)
    expect(() => ownTuning('run', from('rankweave', name), 'mpi')).toThrow(
      /measured on fabric mpi, got .*threads/,
    )
  })

  it.each(['simulator', 'formula'] as const)('%s is taken on every fabric', (kind) => {
    expect(ownTuning('run', from(kind, 'loggp'), 'websocket').source.kind).toBe(kind)
  })

  it('mpi is refused with the way to use it', () => {
    const refused = () => ownTuning('run', from('mpi', 'Open MPI 4.1.4'), 'mpi')
    expect(refused).toThrow(refusal('ERR_TUNING', /preloaded library: RANKWEAVE_SHIM=tune:FILE/))
  })
})

it('the examples of the documents are tuning files', () => {
  const page = readFileSync('docs/tuning-files.md', 'utf8')
  const source = readFileSync('src/tuning/models/tuning-file.ts', 'utf8')
  const [inPage] = /\{"format":"rankweave-tuning".*\}/.exec(page)!
  const [inSource] = /\{"format"[\s\S]*?"checksum":"\w+"\}/.exec(source)!
  const [one, other] = [inPage, inSource.replaceAll(/\n \* ? ?/g, '')].map((text) => readTuningFile(text))
  expect(one.source.kind).toBe('rankweave')
  expect(other.source.kind).toBe('mpi')
})
