import { expect, test } from 'vitest'
import { csvText, parseCsv } from '../../../../src/topology/files/csv.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'
import { expectRefusal, thrown } from '../thrown.js'

const edges = { sources: [2, 0, 2], destinations: [0, 1, 0] }
const plain = topologyFromEdges(3, edges)
const weighted = topologyFromEdges(3, { ...edges, weights: [1.5, -2, 0] })

test.each([
  ['no names', '2,0\n0,1\n2,0\n', plain],
  ['weights', '2,0,1.5\n0,1,-2\n2,0,0', weighted],
  ['names', 'source,destination,weight\n2,0,1.5\n0,1,-2\n2,0,0\n', weighted],
  ['names in another order and case', 'Weight,TARGET,From\r\n1.5,0,2\r\n-2,1,0\r\n0,0,2\r\n', weighted],
  [
    'columns that are not read',
    'id,"a, b",src,x,dst\n1,"p\n""q"", r",2,,0\n2,two words,0,"",1\n3,,2,é,0\n',
    plain,
  ],
  ['quotes', '"source","dest","weight"\n"2","0","1.5"\n0,"1",-2\n "2" , 0 ,"0"\n', weighted],
  ['comments, blank lines, a byte order mark', '\ufeff# c\n\n2, 0\n  # d\n0 ,1\n2\t,\t0\n', plain],
])('parseCsv reads %s', (_, text, topology) => {
  expect(parseCsv(text)).toEqual(topology)
})

test('parseCsv takes a row without destination as a rank without edges, and a number of ranks', () => {
  expect(parseCsv('0,1\n5,\n')).toEqual(topologyFromEdges(6, { sources: [0], destinations: [1] }))
  expect(parseCsv('4,\n').ranks).toBe(5)
  expect(parseCsv('from,to,weight\n0,1,2\n3,,\n')).toEqual(
    topologyFromEdges(4, { sources: [0], destinations: [1], weights: [2] }),
  )
  expect(parseCsv('0,1', { ranks: 9 }).ranks).toBe(9)
  expect(parseCsv('', { ranks: 2 }).outRank).toHaveLength(0)
})

test('parseCsv finds the delimiter in the first line', () => {
  expect(parseCsv('"a, b";source;target\n1,5;2;0\n;0;1\n;2;0')).toEqual(plain)
  expect(parseCsv('source\ttarget\n2\t0\n0\t1\n2\t0')).toEqual(plain)
  expect(parseCsv('2|0\n0|1\n2|0')).toEqual(plain)
  expect(parseCsv('\t# c\n\tsource\ttarget\n0\t2\t0\n1\t0\t1\n2\t2\t0')).toEqual(plain)
})

test.each([
  ['a semicolon', 'sep=;\n2;0\n0;1\n2;0'],
  ['in capitals, before names', 'SEP=|\r\n\r\nfrom|to\r\n2|0\r\n0|1\r\n2|0'],
  ['a tab in quotes', '\ufeff"sep=\t"\n2\t0\n0\t1\n2\t0'],
])('parseCsv reads the line of Excel that states the delimiter: %s', (_, text) => {
  expect(parseCsv(text)).toEqual(plain)
})

test('parseCsv takes a given delimiter rather than the one that the first line states', () => {
  expect(parseCsv('sep=;\n2,0\n0,1\n2,0', { delimiter: ',' })).toEqual(plain)
})

test('parseCsv finds the delimiter of lines that have commas elsewhere', () => {
  expect(parseCsv('source\ttarget\tcost, EUR\n2\t0\t1,5\n0\t1\t2\n2\t0\t')).toEqual(plain)
  expect(parseCsv('2;0;1,5\n0;1;-2\n2;0;"0,0"')).toEqual(weighted)
})

test.each(['Undirected', 'undirected', ' Mutual '])(
  'parseCsv takes an edge of type %s in both directions',
  (type) => {
    const read = parseCsv(
      `Source,Target,Type,Weight\n0,1,${type},2\n1,2,Directed,3\n2,2,"${type}",4\n0,2,,5\n`,
    )
    expect(read).toEqual(
      topologyFromEdges(3, {
        sources: [0, 1, 1, 2, 0],
        destinations: [1, 0, 2, 2, 2],
        weights: [2, 2, 3, 4, 5],
      }),
    )
  },
)

test('parseCsv ignores a column type of other words', () => {
  expect(parseCsv('from,to,type\n2,0,road\n0,1,rail\n2,0,')).toEqual(plain)
})

test('parseCsv accepts other delimiters', () => {
  expect(parseCsv('2;0\n0;1\n2;0', { delimiter: ';' })).toEqual(plain)
  expect(parseCsv('2\t0\n0\t 1\n2\t0', { delimiter: '\t' })).toEqual(plain)
})

test('csvText writes what parseCsv reads', () => {
  expect([...csvText(weighted)].join('')).toBe('source,destination,weight\n0,1,-2\n2,0,1.5\n2,0,0\n')
  const isolated = topologyFromEdges(5, { sources: [0], destinations: [1] })
  expect([...csvText(isolated)].join('')).toBe('source,destination\n0,1\n4,\n')
  expect(parseCsv([...csvText(isolated)].join(''))).toEqual(isolated)
})

test.each([
  ['', '1:1 edges, got the end of the text'],
  ['source,destination', '1:19 edges, got the end of the text'],
  [
    'a,b\n0,1',
    "1:1 columns 'source' (src, from) and 'destination' (dst, dest, target, to) separated by ',', got other names",
  ],
  ['from,source,to\n0,1', "1:6 one column of each kind, got another source: 'source'"],
  [
    '-1,0',
    "1:1 columns 'source' (src, from) and 'destination' (dst, dest, target, to) separated by ',', got other names",
  ],
  ['0,1\n-1,0', "2:1 a source rank from 0 to 16777215, got '-1'"],
  ['0,1\n0,1.5', "2:3 a destination rank from 0 to 16777215, got '1.5'"],
  ['0,1\n,1', "2:1 a source rank from 0 to 16777215, got ','"],
  ['0,99999999', "1:3 a destination rank from 0 to 16777215, got '99999999'"],
  ['0,"99999999"', "1:3 a destination rank from 0 to 16777215, got '99999999'"],
  ['0,"1x"', "1:3 a destination rank from 0 to 16777215, got '1x'"],
  ['0,1,2,3', "1:7 the end of the line, got '3'"],
  ['2\t0\t1,5', "1:5 a number as weight, got '1,5'"],
  ['2;0;1,5,0', "1:5 a number as weight, got '1,5,0'"],
  ['2;0;1.234,5', "1:5 a number as weight, got '1.234,5'"],
  ['sep=/\n0/1', "1:1 'sep=' with ';', ',', a tab or '|', got '/'"],
  ['0,1,,', '1:6 at most 3 columns, got one more'],
  ['0,1 2', "1:5 ',' or the end of the line, got '2'"],
  ['0,1,x', "1:5 a number as weight, got 'x'"],
  ['0,1,NaN', "1:5 a number as weight, got 'NaN'"],
  ['0,1,"1e999"', "1:5 a number as weight, got '1e999'"],
  ['0,1,2\n0,1', '2:4 a weight, as on the lines before, got the end of the line'],
  ['0,1\n0,1,2', '2:6 no weight, as on the lines before'],
  ['0,"1', '1:5 a closing quote for the one at 1:3, got the end of the text'],
  ['0,"1"2', "1:6 a delimiter or the end of the line after a quote, got '2'"],
  ['to,from\n"a\nb",1', "3:1 a destination rank from 0 to 16777215, got 'a\\x0ab'"],
  ['from,to,type\n0,1,Undirected\n1,2,Ungerichtet\n', '3:5 Directed, Undirected or Mutual'],
  ['from,to,type\n0,1,both\n1,2,Directed\n', "3:5 no direction, as in rows above, got 'directed'"],
])('parseCsv rejects %j: %s', (text, at) =>
  expectRefusal(() => parseCsv(text, { file: 'f' }), 'ERR_TOPOLOGY', at),
)

test('parseCsv rejects ranks beyond the given number', () => {
  expect(thrown(() => parseCsv('0,2', { ranks: 2 })).message).toContain("rank from 0 to 1, got '2'")
})
