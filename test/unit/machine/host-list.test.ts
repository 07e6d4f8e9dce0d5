import { formatMachine, machineFromHostList } from 'rankweave/machine'
import { expect, test } from 'vitest'
import { checkHostList, hostListText } from '../../../src/machine/host-list-check.js'
import { refusal } from '../../support/refusal.js'

test.each([
  ['n1:16\nn2:16\nn3:8\n', 'cluster:cores=2x16+8', 'n1 n2 n3'],
  [
    '# Open MPI\nn1 slots=16 max_slots=20\nn2 slots=16  # the second\n\n  n3   max-slots=9 slots=8',
    'cluster:cores=2x16+8',
    'n1 n2 n3',
  ],
  ['n1:4,n2:4', 'cluster:nodes=2,cores=4', 'n1 n2'],
  ['n1\nn1\nn2\r\nn1\r\n', 'cluster:cores=3+1', 'n1 n2'],
  ['a.b-c_d', 'cluster:nodes=1,cores=1', 'a.b-c_d'],
  ['n1 slots=2 // login node\n// n2 slots=4', 'cluster:nodes=1,cores=2', 'n1'],
  ['n1 slots = 2, n2 cpu=4\nn3 count=2 port=22 user=bob', 'cluster:cores=2+4+2', 'n1 n2 n3'],
  ['node[01-03,7] slots=4', 'cluster:nodes=4,cores=4', 'node01 node02 node03 node7'],
  ['node[1-2]:4,n3:4', 'cluster:nodes=3,cores=4', 'node1 node2 n3'],
  ['bob@n3 slots=2\nn3', 'cluster:nodes=1,cores=3', 'n3'],
  ['fe80::1 slots=2\n[fe80::2%eth0]:2\n::1 slots=2', 'cluster:nodes=3,cores=2', 'fe80::1 fe80::2%eth0 ::1'],
  ['n1:2 binding=user:0,2\rn2:2 binding=rr, n3:2', 'cluster:nodes=3,cores=2', 'n1 n2 n3'],
  // PE_HOSTFILE of Grid Engine, without and with bound cores.
  ['n1 16 all.q@n1 <NULL>\nn2 16 long.q UNDEFINED\n', 'cluster:nodes=2,cores=16', 'n1 n2'],
  ['n1.site 2 all.q@n1.site 0,0:0,1\nn2.site 1 all.q@n2.site 0,2\n', 'cluster:cores=2+1', 'n1.site n2.site'],
  ['n1 16 all.q@n1\nn2 8 all.q', 'cluster:cores=16+8', 'n1 n2'],
  // PBS_NODEFILE and LSB_DJOB_HOSTFILE have a line for each slot, LSB_MCPU_HOSTS has pairs.
  ['n1.site\nn1.site\nn2.site\nn2.site\n', 'cluster:nodes=2,cores=2', 'n1.site n2.site'],
  ['n1 16 n2 8\n', 'cluster:cores=16+8', 'n1 n2'],
  ['n1 4', 'cluster:nodes=1,cores=4', 'n1'],
  [' n-1 2  n-2 4 n-1 1 n3 4 ', 'cluster:cores=3+2x4', 'n-1 n-2 n3'],
])('machineFromHostList reads %j', (text, machine, hosts) => {
  const read = machineFromHostList(text)
  expect(formatMachine(read.machine)).toBe(machine)
  expect(read.hosts.join(' ')).toBe(hosts)
})

test.each([
  ['', 'host list: expected at least one host, got none'],
  ['# n1\n', 'host list: expected at least one host, got none'],
  ['n1:0', "line 1, character 4: expected an integer of slots, at least 1, got '0'"],
  ['n1:', 'line 1, character 4: expected an integer of slots, at least 1, got the end'],
  ['n1\nn2 slots=x', "line 2, character 10: expected an integer of slots, at least 1, got 'x'"],
  ['n1 slots=4 slots=4', 'line 1, character 12: expected the slots of a host once'],
  ['n1:4 slots=4', 'line 1, character 6: expected the slots of a host once'],
  ['n1 cores=4', "line 1, character 4: expected 'slots=N', ',' or the end of the line, got 'cores=4'"],
  ['n1 =4', "line 1, character 4: expected 'slots=N', ',' or the end of the line, got '=4'"],
  ['n1 n2', "line 1, character 4: expected 'slots=N', ',' or the end of the line, got 'n2'"],
  ['n1 4 n2', 'line 1, character 8: expected an integer of slots, at least 1, got the end'],
  ['n1 4 n2 0', "line 1, character 9: expected an integer of slots, at least 1, got '0'"],
  ['n1 4, n2 8', "line 1, character 4: expected 'slots=N'"],
  ['n1 4 slots=8', "line 1, character 6: expected the name of a host, got 'slots=8'"],
  ['n'.repeat(256), 'line 1, character 1: expected names of at most 255 characters'],
  ['n1 16 all', 'line 1, character 10: expected an integer of slots, at least 1, got the end'],
  ['n1:4 n2', "line 1, character 6: expected ',' or the end of the line, got 'n2'"],
  ['n1 /* login */', "line 1, character 4: expected 'slots=N'"],
  ['--mca slots=4', "line 1, character 1: expected the name of a host, got '--mca slots=4'"],
  ['/', "line 1, character 1: expected the name of a host, got '/'"],
  ['n1;rm', "line 1, character 1: expected the name of a host, got 'n1;rm'"],
  ['n1\n.n2', "line 2, character 1: expected the name of a host, got '.n2'"],
  ['n[3-1]', "line 1, character 3: expected an ascending range, got '3-1]'"],
  ['n1\nn[0-9999999999]', 'line 2, character 1: expected at most 1048576 hosts'],
  ['n[0-9]\nn[0-1048566]', 'line 2, character 1: expected at most 1048576 hosts'],
  ['n1:16777216,n2', 'expected at most 16777216 cores'],
])('machineFromHostList rejects %j', (text, message) => {
  expect(() => machineFromHostList(text)).toThrow(refusal('ERR_MACHINE', message))
})

test('checkHostList names what is odd, line by line, and writes a line for each host', () => {
  const even = Array.from({ length: 18 }, (_, i) => `n${i + 10} slots=4`).join('\n')
  const text = `n1 slots=4 max_slots=8\n${even}\nn1 slots=4\nN10.site:4\nn2\r\nbob@n2\n`
  const { slots, forms, oddities } = checkHostList(text)
  expect(slots.get('n2')).toBe(2)
  expect(forms).toEqual(['host slots=N', 'host:N', 'host'])
  expect(
    oddities.map(({ kind, places }) => [kind, ...places.map((place) => Object.values(place).join(' '))]),
  ).toEqual([
    ['line-ends', '1 lines end with carriage return and line feed'],
    ['ignored-fields', "1 'max_slots=8' has no effect", "23 'bob@' has no effect"],
    [
      'mixed-forms',
      "21 'host:N', after lines as 'host slots=N'",
      "22 'host', after lines as 'host slots=N', 'host:N'",
    ],
    [
      'hosts-without-slots',
      '22 n2 has no slots, so it counts as one',
      '23 n2 has no slots, so it counts as one',
    ],
    ['repeated-hosts', '20 n1 is also in line 1: one node, whose slots add up'],
    ['names-alike', '21 N10.site counts as another node than n10 of line 2'],
    ['uneven-slots', '1 n1 has 8, where most hosts have 4', '22 n2 has 2, where most hosts have 4'],
  ])
  expect(checkHostList('n1\nn1\nn2\nn2\n').oddities).toEqual([])
  const written = checkHostList(hostListText(slots))
  expect(written.slots).toEqual(slots)
})
