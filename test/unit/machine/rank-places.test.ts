import { describe, expect, it } from 'vitest'
import { machineFromHostList, placesFormats, rankPlacesText } from '../../../src/machine/host-list.js'
import { refusal } from '../../support/refusal.js'

const { machine, hosts } = machineFromHostList('a:2\nb:1\nc:3\n')
const coreOf = [5, 0, 2, 1, 3]

describe('rankPlacesText', () => {
  it.each([
    ['openmpi', 'rank 0=c slot=2\nrank 1=a slot=0\nrank 2=b slot=0\nrank 3=a slot=1\nrank 4=c slot=0\n'],
    ['mpich', 'c:1\na:1\nb:1\na:1\nc:1\n'],
    ['slurm', 'c\na\nb\na\nc\n'],
  ] as const)('writes them for %s', (format, expected) => {
    expect([...rankPlacesText(format, { coreOf, machine, hosts })].join('')).toBe(expected)
  })

  it.each(placesFormats)('%s needs names', (format) => {
    expect(() => [...rankPlacesText(format, { coreOf, machine, hosts: null })]).toThrowError(
      refusal('ERR_MACHINE'),
    )
  })

  it('refuses more ranks than cores', () => {
    const many = Array.from({ length: 7 }, (_, core) => core)
    expect(() => [...rankPlacesText('slurm', { coreOf: many, machine, hosts })]).toThrowError(
      refusal('ERR_MACHINE', '7 cores'),
    )
  })
})
