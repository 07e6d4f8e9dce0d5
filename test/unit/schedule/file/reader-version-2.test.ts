import { describe, expect, test } from 'vitest'
import { formatSchedule } from '../../../../src/schedule/file/format-schedule.js'
import { parseSchedule } from '../../../../src/schedule/file/reader.js'
import { verify } from '../../../../src/schedule/verify/verify.js'
import { friendsSchedule } from '../fixtures.js'
import { expectRefusal } from './refusals.js'
import { allreduceOfThree } from './schedules.js'

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
    [
      'a strategy that would print as a line of its own',
      header({ strategy: 'x\n  verified  all blocks' }),
      1,
      'strategy: expected a string of printable characters, got',
    ],
    [
      'a parameter that turns text around',
      header({ parameters: { k: '\u202e4' } }),
      1,
      'parameters: expected an object of printable strings, numbers and booleans, got',
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
