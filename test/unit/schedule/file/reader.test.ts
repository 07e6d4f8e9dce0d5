import { describe, test } from 'vitest'
import { formatSchedule } from '../../../../src/schedule/file/format-schedule.js'
import { builderFor, friendsSchedule } from '../fixtures.js'
import { changer, expectRefusal } from './refusals.js'
import { multigraph } from './schedules.js'

describe.each([1, 2] as const)('parseSchedule rejects in version %i', (version) => {
  const lines = [...formatSchedule(friendsSchedule(), { version })]
  const changed = changer(lines)

  test.each([
    ['expected a header line, got nothing', 0, []],
    ['expected a line of JSON, got one that is malformed or cut off', 4, changed(3, (l) => l.slice(0, 20))],
    ['expected values nested at most 64 deep, got deeper ones', 4, changed(3, () => '['.repeat(10_000_000))],
    ['expected a line of JSON, got gzip-compressed data; run gunzip first', 1, ['\x1f\ufffd\b\0']],
    [
      'expected a line of JSON, got a Matrix Market file; its topology is mtx:FILE:ranks=RANKS',
      1,
      ['%%MatrixMarket matrix coordinate real general'],
    ],
    [
      "expected a line of JSON, got one that is malformed or cut off (Unexpected token '\\x7f'",
      1,
      ['\x7fELF\ufffd'],
    ],
    ['expected 7 rank lines, got 6: rank 6 is missing', 7, lines.slice(0, -1)],
    ['expected 7 rank lines, got 0: rank 0 is missing', 1, lines.slice(0, 1)],
    ['rank: expected each rank once, got "rank 1 again"', 4, lines.with(3, lines[2])],
    [
      'format: expected "rankweave-schedule", got "schedule"',
      1,
      changed(0, (l) => l.replace('rankweave-', '')),
    ],
    [
      'version: expected one of 1, 2, 3, got 7',
      1,
      changed(0, (l) => l.replace(/"version":./, '"version":7')),
    ],
    ['format: expected "rankweave-schedule", got nothing', 1, lines.with(0, 'null')],
    [
      'phases: expected an integer from 0 to 16777216, got 2000000000',
      1,
      changed(0, (l) => l.replace('"phases":2', '"phases":2000000000')),
    ],
    [
      'ranks: expected an integer from 1 to 16777216, got 16777217',
      1,
      changed(0, (l) => l.replace('"ranks":7', '"ranks":16777217')),
    ],
    [
      'more: expected no such field in a header, got 1',
      1,
      changed(0, (l) => l.replace('"ranks":7', '"ranks":7,"more":1')),
    ],
    [
      'ranks: expected an integer from 1 to 16777216, got nothing',
      1,
      changed(0, (l) => l.replace('"ranks":7,', '')),
    ],
    ['expected the topology hash 0', 8, changed(0, (l) => l.replace(/([hH]ash":")./, '$10'))],
    ['the line: expected an object, got []', 3, lines.with(2, '[]')],
    ['rank: expected an integer from 0 to 6, got 7', 2, changed(1, (l) => l.replace('"rank":0', '"rank":7'))],
    [
      'in[0]: expected an integer from 0 to 6, got 7',
      2,
      changed(1, (l) => l.replace('"in":[6]', '"in":[7]')),
    ],
    [
      'out[0]: expected an integer from 0 to 6, got -1',
      2,
      changed(1, (l) => l.replace('"out":[6', '"out":[-1')),
    ],
    [
      'staging: expected fewer than 2147483648 places of a rank, got 2147483646',
      2,
      changed(1, (l) => l.replace('"staging":1', '"staging":2147483646')),
    ],
    ['expected a topology: ', 8, changed(0, (l) => l.replace('"occurrence"', '"cartesian"'))],
  ] as const)('%s, line %i', (message, line, text) => expectRefusal(text, line, message))

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
      'collective: expected "neighbor-allgather", got "allgather"',
      1,
      changed(0, (l) => l.replace('neighbor-', '')),
    ],
    [
      'the line: expected an object with the keys rank, out, in, staging, phases, got {"rank":0',
      2,
      changed(1, (l) => l.replace(/"staging":1,/, '')),
    ],
    ['phases: expected an array of the 2 phases in the header, got [{}]', 2, phase('{}')],
    ['phases[0]: expected only "send", "receive" and "copy", got "sent"', 2, phase('{"sent":[]},{}')],
    ['phases[1].send: expected an array, got {}', 2, phase('{},{"send":{}}')],
    ['phases[1]: expected an object, got 7', 2, phase('{},7')],
    [
      'phases[0].send[0].to: expected an integer from 0 to 6, got 7',
      2,
      phase('{"send":[{"to":7,"tag":0,"blocks":[0],"read":[0]}]},{}'),
    ],
    [
      'phases[0].receive[0]: expected as many places as blocks, 2, got {"from":1',
      2,
      phase('{"receive":[{"from":1,"tag":0,"blocks":[0,1],"write":[0]}]},{}'),
    ],
    [
      'phases[0].copy[0].read[0]: expected an integer from 0 to 2147483647, got "0"',
      2,
      phase('{"copy":[{"blocks":[0],"read":["0"],"write":[1]}]},{}'),
    ],
    [
      'phases[0].copy[0].blocks[0]: expected an integer from 0 to 2147483647, got {"partial":0}',
      2,
      phase('{"copy":[{"blocks":[{"partial":0}],"read":[0],"write":[1]}]},{}'),
    ],
  ] as const)('%s, line %i', (message, line, text) => expectRefusal(text, line, message))
})
