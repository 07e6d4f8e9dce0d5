import { formatSchedule, parseSchedule, verify } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { friendsSchedule } from '../fixtures.js'
import { expectRefusal } from './refusals.js'
import { allreduceOfThree } from './schedules.js'

/** Lists of numbers, such as `0,1 3,1`. */
const runs = (text: string) => text.split(' ').map((run) => run.split(',').map(Number))

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
  const triple = '[first, count, stride] of blocks from 0 to 2'
  const name = 'an integer from 0 to 2147483647, or { partial } with one'

  test.each([
    ['collective: expected one of neighbor-allgather, barrier, ', 1, header({ collective: 'all' })],
    [
      'strategy: expected a string of printable characters, got',
      1,
      header({ strategy: 'x\n  verified  all blocks' }),
    ],
    [
      'parameters: expected an object of printable strings, numbers and booleans, got',
      1,
      header({ parameters: { k: '\u202e4' } }),
    ],
    ['parts: expected a list of [ranks, parts], got 3', 1, header({ parts: 3 })],
    [
      'parts: expected a list of [ranks, parts], got [[0,1],[3,1]]',
      1,
      header({
        parts: runs('0,1 3,1'),
      }),
    ],
    ['parts: expected runs of 3 ranks in all, got [[2,1]]', 1, header({ parts: [[2, 1]] })],
    [
      'parts: expected fewer than 2147483648 parts in all, got [[1,2147483647],[2,1]]',
      1,
      header({
        parts: [
          [1, 2 ** 31 - 1],
          [2, 1],
        ],
      }),
    ],
    ['topology: expected null, allreduce has none, got {"hash"', 1, header({ topology })],
    [
      'topology: expected null, or { hash, pairing, cart }, got {"hash"',
      1,
      friendsHeader({ topology: { ...topology, cart: 1 } }),
    ],
    [
      'parts: expected one part of every rank with a topology, [[7,1]], got [[1,2],[1,0],[5,1]]',
      1,
      friendsHeader({
        parts: runs('1,2 1,0 5,1'),
      }),
    ],
    ['idempotent: expected false with a topology, got true', 1, friendsHeader({ idempotent: true })],
    ['own: expected the block of the rank, as there is a topology, got [1]', 2, friendsRank({ own: [1] })],
    ['slots: expected the sources in "in", as there is a topology, got [5]', 2, friendsRank({ slots: [5] })],
    [
      'the line: expected an object with the keys rank, own, slots, staging, phases, got {"rank":0',
      2,
      rank({ out: [], in: [] }),
    ],
    [
      'the line: expected an object with the keys rank, own, slots, staging, phases, got {"rank":0',
      2,
      rank({ slots: undefined, own: undefined }),
    ],
    ['own[0]: expected an integer from 0 to 2, got 3', 2, rank({ own: [3] })],
    ['slots[0]: expected a block from 0 to 2, or { reduce } with runs of blocks, got 3', 2, slot(3)],
    ['slots[0]: expected a block from 0 to 2, or { reduce } with runs of blocks, got null', 2, slot(null)],
    ['slots[0]: expected an object with the keys reduce, got {"sum":[]}', 2, slot({ sum: [] })],
    ['slots[0].reduce: expected at least one run, got []', 2, slot({ reduce: [] })],
    [
      `slots[0].reduce[1]: expected ${triple}, got [1,2,2]`,
      2,
      slot({
        reduce: runs('0,2,1 1,2,2'),
      }),
    ],
    [
      `slots[0].reduce[0]: expected ${triple}, got [0,2147483647,2147483647]`,
      2,
      slot({ reduce: [[0, 2 ** 31 - 1, 2 ** 31 - 1]] }),
    ],
    [
      `slots[0].reduce[0]: expected ${triple}, got [0,2147483647,0]`,
      2,
      slot({ reduce: [[0, 2 ** 31 - 1, 0]] }),
    ],
    [`slots[0].reduce[0]: expected ${triple}, got [0,0,1]`, 2, slot({ reduce: [[0, 0, 1]] })],
    [`slots[0].reduce[0]: expected ${triple}, got [0,3]`, 2, slot({ reduce: [[0, 3]] })],
    ['phases: expected an array, got {}', 2, rank({ phases: {} })],
    ['phases[0].phase: expected an integer from 0 to 1, got nothing', 2, phases({})],
    ['phases[0].phase: expected an integer from 0 to 1, got 2', 2, phases({ phase: 2 })],
    [
      'phases[1].phase: expected a phase above 1, the one before, got 1',
      2,
      phases({ phase: 1 }, { phase: 1 }),
    ],
    [
      'phases[0]: expected only "phase", "send", "receive" and "local", got "copy"',
      2,
      phases({ phase: 0, copy: [] }),
    ],
    ['phases[0].send[0].to: expected an integer from 0 to 2, got 3', 2, send({ to: 3 })],
    [
      'phases[0].send[0]: expected as many places as blocks, 2, got {"to":1',
      2,
      send({ blocks: [0, { partial: 0 }] }),
    ],
    [`phases[0].send[0].blocks[0]: expected ${name}, got {"part":0}`, 2, send({ blocks: [{ part: 0 }] })],
    [
      `phases[0].send[0].blocks[1]: expected ${name}, got {"partial":0,"of":1}`,
      2,
      send({ blocks: [0, { partial: 0, of: 1 }], read: [0, 0] }),
    ],
    [
      `phases[0].send[0].blocks[0]: expected ${name}, got {"partial":-1}`,
      2,
      send({ blocks: [{ partial: -1 }] }),
    ],
    [`phases[0].send[0].blocks[0]: expected ${name}, got null`, 2, send({ blocks: [null] })],
    [
      `phases[0].send[0].blocks[0]: expected ${name}, got "0"`,
      2,
      send({ blocks: ['0', { partial: 0 }], read: [0, 0] }),
    ],
    [
      'phases[0].local[0]: expected an object with the keys copy, read, write, got {"read":[0],"write":[1]}',
      2,
      local({ read: [0], write: [1] }),
    ],
    ['phases[0].local[0]: expected an object, got 7', 2, local(7)],
    [
      'phases[0].local[0]: expected an object with the keys combine, left, right, write, got {"combine"',
      2,
      local({ combine: [0], left: [0], write: [1] }),
    ],
    [
      'phases[0].local[0]: expected as many places as blocks, 1, got {"combine"',
      2,
      local({ combine: [0], left: [], right: [0], write: [1] }),
    ],
    [
      'phases[0].local[0].combine[0]: expected an integer from 0 to 2147483647, got {"partial":0}',
      2,
      local({ combine: [{ partial: 0 }], left: [0], right: [0], write: [1] }),
    ],
    ['own: expected every block at some rank, got none with block 0', 4, rank({ own: [1] })],
  ] as const)('%s, line %i', (message, line, text) => expectRefusal(text, line, message))

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
