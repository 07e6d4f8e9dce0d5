import { formatMachine, machineFromHostList } from 'rankweave/machine'
import { expect, test } from 'vitest'
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
  ['n1 cores=4', "line 1, character 4: expected 'slots=N', got 'cores=4'"],
  ['n1 =4', "line 1, character 4: expected the name of a host, got '=4'"],
  ['n1:16777216,n2', 'expected at most 16777216 cores'],
])('machineFromHostList rejects %j', (text, message) => {
  expect(() => machineFromHostList(text)).toThrow(refusal('ERR_MACHINE', message))
})
