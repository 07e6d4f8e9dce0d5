import { expect, test } from 'vitest'
import { builtInProfiles } from '../../../src/machine/built-in-profiles.js'

const profileOf = (name: string) => builtInProfiles.find((profile) => profile.name === name)!

test('built-in profiles have names of their own', () => {
  expect(new Set(builtInProfiles.map(({ name }) => name)).size).toBe(builtInProfiles.length)
})

// Tables 4.12 and 4.13 print LogGP and Hockney parameters of the same networks: L + 2 o is about alpha, G
// about beta.
test.each([
  ['grig-mx', 5.64, 0.0042],
  ['boba', 47.6, 0.0151],
  ['frodo-mx', 4.23, 0.0042],
  ['frodo-tcp', 80.2, 0.0854],
])(
  '%s: a message takes what the model of Hockney with the printed alpha and beta predicts, within 10%',
  (name, alpha, beta) => {
    const { latencyNs, sendOverheadNs, receiveOverheadNs, nsPerByte } = profileOf(name).levels.network
    for (const bytes of [0, 1024, 1 << 20]) {
      const us = (latencyNs + sendOverheadNs + receiveOverheadNs + bytes * nsPerByte) / 1000
      const hockney = alpha + beta * bytes
      expect(Math.abs(us / hockney - 1)).toBeLessThan(0.1)
    }
  },
)

// The simulated machines: 0.6 and 5 us from end to end, 12.5 and 1.25 GB/s, overheads 0.35 and 2 us.
test.each([
  ['simgrid-fast', 600 + 2 * 350, 12.5],
  ['simgrid-slow', 5000 + 2 * 2000, 1.25],
])('%s: an empty message between nodes takes %i ns, then %f bytes arrive per ns', (name, ns, bytesPerNs) => {
  const { latencyNs, sendOverheadNs, receiveOverheadNs, nsPerByte } = profileOf(name).levels.network
  expect(latencyNs + sendOverheadNs + receiveOverheadNs).toBe(ns)
  expect(1 / nsPerByte).toBeCloseTo(bytesPerNs, 12)
})
