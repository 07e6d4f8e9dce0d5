import { mapTopology, mooreTopology } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { mappingText, readMapping } from '../../../../src/topology/mapping/mapping-file.js'
import { refusal } from '../../../support/refusal.js'

const topology = mooreTopology({ dims: [80, 64], radius: 1, periodic: true })
const nodeOfSlot = Int32Array.from({ length: topology.ranks }, (_, slot) => slot >> 4)
const mapping = mapTopology(topology, { nodeOfSlot, mostWork: 1000 })
const text = [...mappingText(topology, mapping, 'pairs')].join('')

describe('a mapping file', () => {
  it('has the slots that were written, in several parts', () => {
    expect([...mappingText(topology, mapping, 'pairs')].length).toBeGreaterThan(3)
    expect(readMapping(text, topology)).toEqual(mapping.slotOf)
    expect(JSON.parse(text)).toMatchObject({ objective: 'pairs', cost: mapping.cost })
  })

  it.each([
    ['no JSON', (good: string) => good.slice(0, 100), 'expected JSON'],
    ['a list', () => '[]', 'expected an object'],
    ['another format', () => '{"format":"rankweave-tuning"}', 'format: expected'],
    ['another version', (good: string) => good.replace('"version":1', '"version":2'), 'version: expected 1'],
    ['a member more', (good: string) => good.replace('{', '{"other":1,'), 'other'],
    ['no slots', (good: string) => good.replace(/"slotOf":.*/, '"slotOf":1}'), 'a list of slots'],
    [
      'a slot as text',
      (good: string) => good.replace(/"slotOf":\[(\d+)/, '"slotOf":["$1"'),
      'a.map, slotOf: expected a permutation',
    ],
    ['too few slots', (good: string) => good.replace(/"slotOf":.*/, '"slotOf":[0]}'), '5120 slots'],
    ['a slot twice', (good: string) => good.replace('[0,1,', '[0,0,'), 'got 0 twice'],
    ['a text for a slot', (good: string) => good.replace('[0,', '["x",'), "got 'x'"],
    [
      'another topology',
      (good: string) => good.replace(/"topology":"./, '"topology":"x'),
      'of this topology',
    ],
    ['other edges', (good: string) => good.replace(/"graph":"./, '"graph":"x'), 'graph: expected'],
  ])('is refused with %s', (_, damage, message) => {
    expect(() => readMapping(damage(text), topology, 'a.map')).toThrow(refusal('ERR_MAPPING', message))
  })
})
