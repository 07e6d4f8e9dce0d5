import type { FabricFactory, MemoryLoans, MemoryLocation } from '../../src/fabric/fabric.js'

/** What became of the loans of a world. */
export interface Loans {
  lent: number
  copied: number
  /** Loans that have not ended. */
  open: number
}

/**
 * A fabric of one thread whose processes copy messages out of each other's memory.
 *
 * @param mayCopy false: a reader that cannot
 */
export function lending(factory: FabricFactory, loans: Loans, mayCopy = () => true): FabricFactory {
  const byNumber = new Map<number, Uint8Array>()
  const all: MemoryLoans = {
    lend(_, bytes): MemoryLocation {
      loans.lent++
      loans.open++
      byNumber.set(loans.lent, bytes)
      return { segment: loans.lent, byteOffset: 2 ** 33 + 5 }
    },
    end({ segment }) {
      if (byNumber.delete(segment)) loans.open--
    },
    copy(_, { segment, byteOffset }, into) {
      const bytes = byNumber.get(segment)
      if (bytes === undefined || byteOffset !== 2 ** 33 + 5 || !mayCopy()) return false
      // Of a detached buffer a reader of memory gets something.
      if (bytes.byteLength > 0) into.set(bytes)
      loans.copied++
      return true
    },
  }
  return {
    ...factory,
    async open() {
      const session = await factory.open()
      for (const fabric of session.hosted) Object.assign(fabric, { loans: all })
      return session
    },
  }
}
