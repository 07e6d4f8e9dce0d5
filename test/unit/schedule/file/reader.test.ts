import { describe, test } from 'vitest'
import { formatSchedule } from '../../../../src/schedule/file/format-schedule.js'
import { builderFor, friendsSchedule } from '../fixtures.js'
import { changer, expectRefusal } from './refusals.js'
import { multigraph } from './schedules.js'

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
      'a line that nests without end',
      changed(3, () => '['.repeat(10_000_000)),
      4,
      'expected values nested at most 64 deep, got deeper ones',
    ],
    [
      'a gzip file',
      ['\x1f\ufffd\b\0'],
      1,
      'expected a line of JSON, got gzip-compressed data; run gunzip first',
    ],
    [
      'a Matrix Market file',
      ['%%MatrixMarket matrix coordinate real general'],
      1,
      'expected a line of JSON, got a Matrix Market file; its topology is mtx:FILE:ranks=RANKS',
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
      'version: expected one of 1, 2, 3, got 7',
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
