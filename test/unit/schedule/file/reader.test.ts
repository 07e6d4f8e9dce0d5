import { describe, expect, test } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { formatSchedule } from '../../../../src/schedule/file/format-schedule.js'
import { parseSchedule } from '../../../../src/schedule/file/reader.js'
import { verify } from '../../../../src/schedule/verify/verify.js'
import { builderFor, friendsSchedule } from '../fixtures.js'
import { allreduceOfThree, multigraph } from './schedules.js'

function refused(lines: readonly string[]): RankweaveError {
  try {
    parseSchedule(lines, 'plan.jsonl')
  } catch (error) {
    if (error instanceof RankweaveError) return error
    throw error
  }
  throw new Error('expected parseSchedule to refuse the lines')
}

const expectRefusal = (lines: readonly string[], line: number, message: string): void => {
  const error = refused(lines)
  expect(error.code).toBe('ERR_SCHEDULE_FORMAT')
  expect(error.message).toContain(`plan.jsonl:${line}: ${message}`)
  expect(error.details).toEqual({ source: 'plan.jsonl', line })
}

const changer =
  (lines: readonly string[]) =>
  (index: number, change: (line: string) => string): string[] => {
    const changed = change(lines[index])
    expect(changed).not.toBe(lines[index])
    return lines.with(index, changed)
  }

describe.each([1, 2] as const)('parseSchedule rejects in version %i', (version) => {
  const lines = [...formatSchedule(friendsSchedule(), { version })]
  const changed = changer(lines)

  test.each([
    ['nothing', [], 0, 'expected a header line, got nothing'],
    [
      'a line that is cut off',
      changed(3, (l) => l.slice(0, 20)),
      4,
      'expected a line of JSON, got one that is malformed or cut off',
    ],
    [
      'a gzip file',
      ['\x1f\ufffd\b\0'],
      1,
      'expected a line of JSON, got gzip-compressed data; run gunzip first',
    ],
    [
      'a binary file',
      ['\x7fELF\ufffd'],
      1,
      "expected a line of JSON, got one that is malformed or cut off (Unexpected token '\\x7f'",
    ],
    [
      'a file without its last rank',
      lines.slice(0, -1),
      7,
      'expected 7 rank lines, got 6: rank 6 is missing',
    ],
    ['a header alone', lines.slice(0, 1), 1, 'expected 7 rank lines, got 0: rank 0 is missing'],
    ['a rank twice', lines.with(3, lines[2]), 4, 'rank: expected each rank once, got "rank 1 again"'],
    [
      'another format',
      changed(0, (l) => l.replace('rankweave-', '')),
      1,
      'format: expected "rankweave-schedule", got "schedule"',
    ],
    [
      'an unknown version',
      changed(0, (l) => l.replace(/"version":./, '"version":7')),
      1,
      'version: expected 1 or 2, got 7',
    ],
    ['no object', lines.with(0, 'null'), 1, 'format: expected "rankweave-schedule", got nothing'],
    [
      'too many phases',
      changed(0, (l) => l.replace('"phases":2', '"phases":2000000000')),
      1,
      'phases: expected an integer from 0 to 16777216, got 2000000000',
    ],
    [
      'too many ranks',
      changed(0, (l) => l.replace('"ranks":7', '"ranks":16777217')),
      1,
      'ranks: expected an integer from 1 to 16777216, got 16777217',
    ],
    [
      'an unknown field',
      changed(0, (l) => l.replace('"ranks":7', '"ranks":7,"more":1')),
      1,
      'more: expected no such field in a header, got 1',
    ],
    [
      'a missing field',
      changed(0, (l) => l.replace('"ranks":7,', '')),
      1,
      'ranks: expected an integer from 1 to 16777216, got nothing',
    ],
    ['a wrong hash', changed(0, (l) => l.replace(/([hH]ash":")./, '$10')), 8, 'expected the topology hash 0'],
    ['a rank that is no object', lines.with(2, '[]'), 3, 'the line: expected an object, got []'],
    [
      'a rank out of range',
      changed(1, (l) => l.replace('"rank":0', '"rank":7')),
      2,
      'rank: expected an integer from 0 to 6, got 7',
    ],
    [
      'a source out of range',
      changed(1, (l) => l.replace('"in":[6]', '"in":[7]')),
      2,
      'in[0]: expected an integer from 0 to 6, got 7',
    ],
    [
      'a destination out of range',
      changed(1, (l) => l.replace('"out":[6', '"out":[-1')),
      2,
      'out[0]: expected an integer from 0 to 6, got -1',
    ],
    [
      'places past 2^31',
      changed(1, (l) => l.replace('"staging":1', '"staging":2147483646')),
      2,
      'staging: expected fewer than 2147483648 places of a rank, got 2147483646',
    ],
    [
      'a pairing that does not fit the shape',
      changed(0, (l) => l.replace('"occurrence"', '"cartesian"')),
      8,
      'expected a topology: ',
    ],
  ] as const)('%s', (_, text, line, message) => expectRefusal(text, line, message))

  test('lists that are no topology, even with their own hash', () => {
    const topology = { ...multigraph, inRank: Int32Array.of(1, 0, 0, 3, 2, 2) }
    const broken = [...formatSchedule(builderFor(topology, 1).build(), { version })]
    expectRefusal(broken, 5, 'expected a topology: ')
  })
})

describe('parseSchedule rejects in version 1', () => {
  const lines = [...formatSchedule(friendsSchedule(), { version: 1 })]
  const changed = changer(lines)
  const phase = (text: string) => changed(1, (line) => line.replace(/"phases":.*/, `"phases":[${text}]}`))

  test.each([
    [
      'another collective',
      changed(0, (l) => l.replace('neighbor-', '')),
      1,
      'collective: expected "neighbor-allgather", got "allgather"',
    ],
    [
      'a missing key',
      changed(1, (l) => l.replace(/"staging":1,/, '')),
      2,
      'the line: expected an object with the keys rank, out, in, staging, phases, got {"rank":0',
    ],
    ['too few phases', phase('{}'), 2, 'phases: expected an array of the 2 phases in the header, got [{}]'],
    [
      'an unknown list',
      phase('{"sent":[]},{}'),
      2,
      'phases[0]: expected only "send", "receive" and "copy", got "sent"',
    ],
    ['a list that is none', phase('{},{"send":{}}'), 2, 'phases[1].send: expected an array, got {}'],
    ['a phase that is none', phase('{},7'), 2, 'phases[1]: expected an object, got 7'],
    [
      'a peer out of range',
      phase('{"send":[{"to":7,"tag":0,"blocks":[0],"read":[0]}]},{}'),
      2,
      'phases[0].send[0].to: expected an integer from 0 to 6, got 7',
    ],
    [
      'blocks without places',
      phase('{"receive":[{"from":1,"tag":0,"blocks":[0,1],"write":[0]}]},{}'),
      2,
      'phases[0].receive[0]: expected as many places as blocks, 2, got {"from":1',
    ],
    [
      'a place that is no number',
      phase('{"copy":[{"blocks":[0],"read":["0"],"write":[1]}]},{}'),
      2,
      'phases[0].copy[0].read[0]: expected an integer from 0 to 2147483647, got "0"',
    ],
    [
      'a partial result',
      phase('{"copy":[{"blocks":[{"partial":0}],"read":[0],"write":[1]}]},{}'),
      2,
      'phases[0].copy[0].blocks[0]: expected an integer from 0 to 2147483647, got {"partial":0}',
    ],
  ] as const)('%s', (_, text, line, message) => expectRefusal(text, line, message))
})

describe('parseSchedule rejects in version 2', () => {
  const friends = [...formatSchedule(friendsSchedule())]
  const allreduce = [...formatSchedule(allreduceOfThree())]
  const header = (change: object) =>
    allreduce.with(0, JSON.stringify({ ...JSON.parse(allreduce[0]), ...change }))
  const rank = (change: object, index = 1) =>
    allreduce.with(index, JSON.stringify({ ...JSON.parse(allreduce[index]), ...change }))
  const phases = (...list: unknown[]) => rank({ phases: list })
  const send = (change: object) =>
    phases({ phase: 0, send: [{ to: 1, tag: 0, blocks: [0], read: [0], ...change }] })
  const local = (operation: unknown) => phases({ phase: 0, local: [operation] })
  const slot = (term: unknown) => rank({ slots: [term] })
  const friendsHeader = (change: object) =>
    friends.with(0, JSON.stringify({ ...JSON.parse(friends[0]), ...change }))
  const friendsRank = (change: object) =>
    friends.with(1, JSON.stringify({ ...JSON.parse(friends[1]), ...change }))
  const { topology } = JSON.parse(friends[0])
  const runs = '[first, count, stride] of blocks from 0 to 2'
  const name = 'an integer from 0 to 2147483647, or { partial } with one'

  test.each([
    [
      'an unknown collective',
      header({ collective: 'all' }),
      1,
      'collective: expected one of neighbor-allgather, barrier, ',
    ],
    ['parts that are no list', header({ parts: 3 }), 1, 'parts: expected a list of [ranks, parts], got 3'],
    [
      'a run of no ranks',
      header({
        parts: [
          [0, 1],
          [3, 1],
        ],
      }),
      1,
      'parts: expected a list of [ranks, parts], got [[0,1],[3,1]]',
    ],
    [
      'parts of too few ranks',
      header({ parts: [[2, 1]] }),
      1,
      'parts: expected runs of 3 ranks in all, got [[2,1]]',
    ],
    [
      '2^31 blocks',
      header({
        parts: [
          [1, 2 ** 31 - 1],
          [2, 1],
        ],
      }),
      1,
      'parts: expected fewer than 2147483648 parts in all, got [[1,2147483647],[2,1]]',
    ],
    [
      'a topology of a reduction',
      header({ topology }),
      1,
      'topology: expected null, allreduce has none, got {"hash"',
    ],
    [
      'a topology without its grid',
      friendsHeader({ topology: { ...topology, cart: 1 } }),
      1,
      'topology: expected null, or { hash, pairing, cart }, got {"hash"',
    ],
    [
      'several parts with a topology',
      friendsHeader({
        parts: [
          [1, 2],
          [1, 0],
          [5, 1],
        ],
      }),
      1,
      'parts: expected one part of every rank with a topology, [[7,1]], got [[1,2],[1,0],[5,1]]',
    ],
    [
      'idempotence with a topology',
      friendsHeader({ idempotent: true }),
      1,
      'idempotent: expected false with a topology, got true',
    ],
    [
      'an own block that is another rank’s, with a topology',
      friendsRank({ own: [1] }),
      2,
      'own: expected the block of the rank, as there is a topology, got [1]',
    ],
    [
      'slots that are not the sources',
      friendsRank({ slots: [5] }),
      2,
      'slots: expected the sources in "in", as there is a topology, got [5]',
    ],
    [
      'a line with lists of a topology that the header lacks',
      rank({ out: [], in: [] }),
      2,
      'the line: expected an object with the keys rank, own, slots, staging, phases, got {"rank":0',
    ],
    [
      'a line of version 1',
      rank({ slots: undefined, own: undefined }),
      2,
      'the line: expected an object with the keys rank, own, slots, staging, phases, got {"rank":0',
    ],
    ['an own block out of range', rank({ own: [3] }), 2, 'own[0]: expected an integer from 0 to 2, got 3'],
    [
      'a slot out of range',
      slot(3),
      2,
      'slots[0]: expected a block from 0 to 2, or { reduce } with runs of blocks, got 3',
    ],
    [
      'a slot of no block',
      slot(null),
      2,
      'slots[0]: expected a block from 0 to 2, or { reduce } with runs of blocks, got null',
    ],
    [
      'a slot with another key',
      slot({ sum: [] }),
      2,
      'slots[0]: expected an object with the keys reduce, got {"sum":[]}',
    ],
    ['a reduction of nothing', slot({ reduce: [] }), 2, 'slots[0].reduce: expected at least one run, got []'],
    [
      'a run past the last block',
      slot({
        reduce: [
          [0, 2, 1],
          [1, 2, 2],
        ],
      }),
      2,
      `slots[0].reduce[1]: expected ${runs}, got [1,2,2]`,
    ],
    [
      'a run past 2^53',
      slot({ reduce: [[0, 2 ** 31 - 1, 2 ** 31 - 1]] }),
      2,
      `slots[0].reduce[0]: expected ${runs}, got [0,2147483647,2147483647]`,
    ],
    [
      'a run of one block, again and again',
      slot({ reduce: [[0, 2 ** 31 - 1, 0]] }),
      2,
      `slots[0].reduce[0]: expected ${runs}, got [0,2147483647,0]`,
    ],
    [
      'a run of no blocks',
      slot({ reduce: [[0, 0, 1]] }),
      2,
      `slots[0].reduce[0]: expected ${runs}, got [0,0,1]`,
    ],
    [
      'a run of two numbers',
      slot({ reduce: [[0, 3]] }),
      2,
      `slots[0].reduce[0]: expected ${runs}, got [0,3]`,
    ],
    ['phases that are no list', rank({ phases: {} }), 2, 'phases: expected an array, got {}'],
    [
      'a phase without its number',
      phases({}),
      2,
      'phases[0].phase: expected an integer from 0 to 1, got nothing',
    ],
    [
      'a phase past the last',
      phases({ phase: 2 }),
      2,
      'phases[0].phase: expected an integer from 0 to 1, got 2',
    ],
    [
      'a phase twice',
      phases({ phase: 1 }, { phase: 1 }),
      2,
      'phases[1].phase: expected a phase above 1, the one before, got 1',
    ],
    [
      'an unknown list',
      phases({ phase: 0, copy: [] }),
      2,
      'phases[0]: expected only "phase", "send", "receive" and "local", got "copy"',
    ],
    [
      'a peer out of range',
      send({ to: 3 }),
      2,
      'phases[0].send[0].to: expected an integer from 0 to 2, got 3',
    ],
    [
      'blocks without places',
      send({ blocks: [0, { partial: 0 }] }),
      2,
      'phases[0].send[0]: expected as many places as blocks, 2, got {"to":1',
    ],
    [
      'a name that is none',
      send({ blocks: [{ part: 0 }] }),
      2,
      `phases[0].send[0].blocks[0]: expected ${name}, got {"part":0}`,
    ],
    [
      'a name with more keys',
      send({ blocks: [0, { partial: 0, of: 1 }], read: [0, 0] }),
      2,
      `phases[0].send[0].blocks[1]: expected ${name}, got {"partial":0,"of":1}`,
    ],
    [
      'a negative part',
      send({ blocks: [{ partial: -1 }] }),
      2,
      `phases[0].send[0].blocks[0]: expected ${name}, got {"partial":-1}`,
    ],
    ['no name', send({ blocks: [null] }), 2, `phases[0].send[0].blocks[0]: expected ${name}, got null`],
    [
      'no name beside a partial result',
      send({ blocks: ['0', { partial: 0 }], read: [0, 0] }),
      2,
      `phases[0].send[0].blocks[0]: expected ${name}, got "0"`,
    ],
    [
      'a local operation of no kind',
      local({ read: [0], write: [1] }),
      2,
      'phases[0].local[0]: expected an object with the keys copy, read, write, got {"read":[0],"write":[1]}',
    ],
    ['a local operation that is none', local(7), 2, 'phases[0].local[0]: expected an object, got 7'],
    [
      'a combination without right operands',
      local({ combine: [0], left: [0], write: [1] }),
      2,
      'phases[0].local[0]: expected an object with the keys combine, left, right, write, got {"combine"',
    ],
    [
      'a combination with too few operands',
      local({ combine: [0], left: [], right: [0], write: [1] }),
      2,
      'phases[0].local[0]: expected as many places as blocks, 1, got {"combine"',
    ],
    [
      'a combination of blocks',
      local({ combine: [{ partial: 0 }], left: [0], right: [0], write: [1] }),
      2,
      'phases[0].local[0].combine[0]: expected an integer from 0 to 2147483647, got {"partial":0}',
    ],
    [
      'blocks that no rank holds',
      rank({ own: [1] }),
      4,
      'own: expected every block at some rank, got none with block 0',
    ],
  ] as const)('%s', (_, text, line, message) => expectRefusal(text, line, message))

  test('many blocks of which few are held, without memory for all', () => {
    const text = [
      JSON.stringify({ ...JSON.parse(allreduce[0]), ranks: 1, parts: [[1, 2 ** 31 - 1]] }),
      '{"rank":0,"own":[1,0],"slots":[2147483646],"staging":0,"phases":[]}',
    ]
    expectRefusal(text, 2, 'own: expected every block at some rank, got none with block 2')
  })
})

test('a combination of nothing reads as one, whatever the other operations hold', () => {
  const lines = [...formatSchedule(friendsSchedule())]
  const nothing = '{"combine":[],"left":[],"right":[],"write":[]}'
  const changed = lines.with(7, lines[7].replace(/\}\]\}$/, `,"local":[${nothing}]}]}`))
  const schedule = parseSchedule(changed)
  expect([...formatSchedule(schedule)]).toEqual(changed)
  expect(verify(schedule)).toMatchObject({ ok: true })
})
