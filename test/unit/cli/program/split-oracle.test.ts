import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { placesByDefinition } from '../../../../src/cli/program/split-program.js'
import { colorPatterns, expectedGroups, keyPatterns, splitCase } from '../../../support/split-cases.js'

describe('the check of rankweave split, by definition', () => {
  it.each(Object.keys(colorPatterns))(
    'colors %s: the groups are those of the definition for all keys',
    (colors) => {
      for (const keys of Object.keys(keyPatterns)) {
        const given = splitCase(50, colorPatterns[colors], keyPatterns[keys], seededRandom(1))
        const { start, members, group, rank } = placesByDefinition(given.color, given.key)
        const groups = Array.from({ length: start.length - 1 }, (_, g) => [
          ...members.subarray(start[g], start[g + 1]),
        ])
        const byColor = groups.sort((a, b) => given.color[a[0]] - given.color[b[0]])
        expect(byColor).toEqual(expectedGroups(given))
        given.color.forEach((color, r) => {
          if (color < 0) expect([group[r], rank[r]]).toEqual([-1, -1])
          else expect(members[start[group[r]] + rank[r]]).toBe(r)
        })
      }
    },
  )
})
