import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { checkMachine, formatMachine, machineFromHwloc } from 'rankweave/machine'
import { describe, expect, test } from 'vitest'
import { simgridFast } from '../../../src/machine/built-in-profiles.js'
import { refusal } from '../../support/refusal.js'

function nodeXml(name: string): string {
  const bytes = readFileSync(new URL(`../../machines/${name}`, import.meta.url))
  return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
}

// Numbers of packages and cores: those that lstopo prints for the same input.
test.each([
  ['16em64t-4s2c2t.xml', 'cluster:nodes=1,cores=8,packages=4'],
  ['16em64t-4s2c2t-offlines.xml', 'cluster:nodes=1,cores=2/1/2/2'],
  ['20s390-2g6s4c.xml', 'cluster:nodes=1,cores=3/3/4/3/2/1/1/3'],
  ['32amd64-4s2n4c-cgroup2.xml', 'cluster:nodes=1,cores=6'],
  ['32amd64-4s2n4c-cgroup2-disallowed.xml', 'cluster:nodes=1,cores=6'],
  ['32intel64-2p8co2t.xml', 'cluster:nodes=1,cores=16,packages=2'],
  ['128arm-2pa2n8cluster4co.xml.gz', 'cluster:nodes=1,cores=128,packages=2'],
])('%s is %s', (name, text) => {
  const machine = machineFromHwloc(nodeXml(name))
  checkMachine(machine)
  expect(formatMachine(machine)).toBe(text)
})

test('a machine has as many nodes like the one described as are asked for, and a profile', () => {
  const machine = machineFromHwloc(nodeXml('32intel64-2p8co2t.xml'), { nodes: 64, profile: simgridFast })
  expect(formatMachine(machine)).toBe('cluster:nodes=64,cores=16,packages=2,profile=simgrid-fast')
})

const topology = (objects: string) =>
  `<?xml version="1.0"?>\n<topology version="2.0">\n${objects}\n</topology>\n`

test('a topology of hwloc 3 has the same objects', () => {
  const xml = nodeXml('32intel64-2p8co2t.xml').replace('version="2.0"', 'version="3.0"')
  expect(formatMachine(machineFromHwloc(xml))).toBe('cluster:nodes=1,cores=16,packages=2')
})

test.each([
  ['hardware threads count where there are no cores', '<object type="PU"/><object type="PU"/>', '2'],
  [
    'cores outside of packages make a package',
    `<object type="Package"><object type="Core"><object type="PU"/></object></object>
     <object type='Core' ><object type="PU" /><object type="PU"/></object>`,
    '2,packages=2',
  ],
  [
    'comments and declarations are skipped',
    '<!-- <object type="PU"/> --><object type="PU" info="a &gt; b"/>',
    '1',
  ],
  [
    'of an infinite set of processors, those above the last word may be used',
    '<object type="Machine" allowed_cpuset="0xf...f,0x00000001"><object type="PU" os_index="0"/><object type="PU" os_index="1"/><object type="PU" os_index="40"/></object>',
    '2',
  ],
  [
    'a word of zeros is empty, as hwloc writes it',
    `<object type="Machine" allowed_cpuset="0x0000000f,,0x0000000f">${[0, 3, 4, 32, 63, 64, 67, 68]
      .map((index) => `<object type="PU" os_index="${index}"/>`)
      .join('')}</object>`,
    '4',
  ],
])('%s', (_, objects, cores) => {
  expect(formatMachine(machineFromHwloc(topology(objects)))).toBe(`cluster:nodes=1,cores=${cores}`)
})

describe('machineFromHwloc rejects', () => {
  test.each([
    [
      'a topology of version 1',
      'line 3, character 1: expected a topology of version 2 or 3 (hwloc 2 and later), not version 1',
      nodeXml('8em64t-2p2ca2co.v1.xml'),
    ],
    ['text without tags', "line 1, character 1: expected '<topology', got 'nothing'", 'nothing'],
    ['no text', "line 1, character 1: expected '<topology', got the end", ''],
    ['another document', "line 1, character 1: expected '<topology', got '<html></html>'", '<html></html>'],
    ['no processors', "expected an object of type 'PU', got the end", topology('<object type="Machine"/>')],
    [
      'a list of processors for a set',
      "line 3, character 1: expected a set such as '0x0000000f' in 'allowed_cpuset'",
      topology('<object type="Machine" allowed_cpuset="0-3"><object type="PU" os_index="0"/></object>'),
    ],
    ['an object without a type', "line 3, character 1: expected an attribute 'type'", topology('<object/>')],
    [
      'tags that are not nested',
      "line 3, character 19: expected well-formed XML (Unexpected close tag), got '</info>'",
      topology('<object type="PU"></info>'),
    ],
    [
      'a tag that does not end',
      'line 1, character 25: expected well-formed XML (Unclosed root tag), got the end',
      '<topology version="2.0">',
    ],
    [
      'an end without a beginning',
      "line 1, character 1: expected '<topology', got '</topology>'",
      '</topology>',
    ],
    [
      'an unquoted attribute',
      "line 3, character 1: expected well-formed XML (Unquoted attribute value), got '<object type=PU/>'",
      topology('<object type=PU/>'),
    ],
    [
      'an open comment',
      'line 5, character 1: expected well-formed XML (Unclosed root tag), got the end',
      topology('<!-- '),
    ],
    [
      'a stray bracket',
      'line 3, character 1: expected well-formed XML (Unencoded <)',
      topology('<< object>'),
    ],
    [
      'an attribute named like a method of objects',
      'line 3, character 1: expected well-formed XML',
      topology('<object hasOwnProperty="1" type="Machine"/>'),
    ],
    ['a file cut short', 'expected', nodeXml('16em64t-4s2c2t.xml').slice(0, 5000)],
  ])('%s', (_, message, text) => {
    expect(() => machineFromHwloc(text)).toThrow(refusal('ERR_MACHINE', message))
  })
})
