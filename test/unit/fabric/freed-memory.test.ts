import { describe, expect, it } from 'vitest'
import { isMallocSet } from '../../../src/fabric/freed-memory.js'

describe("glibc's limits for freed memory", () => {
  it.each([
    { MALLOC_TRIM_THRESHOLD_: '131072' },
    { MALLOC_TOP_PAD_: '0' },
    { MALLOC_MMAP_THRESHOLD_: '65536' },
    { GLIBC_TUNABLES: 'glibc.cpu.x86_shstk=on:glibc.malloc.trim_threshold=131072' },
  ])('are left alone where the environment sets one: %o', (env) => {
    expect(isMallocSet({ PATH: '/bin', ...env })).toBe(true)
  })

  it.each([{}, { MALLOC_ARENA_MAX: '2' }, { GLIBC_TUNABLES: 'glibc.malloc.arena_max=2' }])(
    'are set with %o',
    (env) => {
      expect(isMallocSet({ PATH: '/bin', ...env })).toBe(false)
    },
  )
})
