import { describe, expect, it } from 'vitest'
import { loadKoffi } from '../../../../src/fabric/mpi/mpi-library.js'
import { type LendingJob, openLoans } from '../../../../src/fabric/mpi/mpi-loans.js'
import { MpiMemory, readMemoryOf } from '../../../../src/fabric/mpi/mpi-memory.js'

const koffi = await loadKoffi()
const addressOf = (view: ArrayBufferView) => Number(koffi.address(view))
const readMemory = readMemoryOf(koffi)!
const library = { addressOf, readMemory }

/** What process 1 of a job says, which is this process as well: its loans are those of process 0. */
interface Said {
  /** Of its first text; default: the one of process 0. */
  readonly text?: (mine: string) => string
  readonly reply?: string
}

function job({ text = (mine) => mine, reply = 'read' }: Said = {}, nodes = ['a', 'a']) {
  const said: string[] = []
  const texts = (mine: string) => {
    said.push(mine)
    return [mine, said.length === 1 ? text(mine) : reply]
  }
  return { said, job: { library, process: 0, nodes, texts } satisfies LendingJob }
}

const bytesOf = (length: number, value: number) => new Uint8Array(new ArrayBuffer(length)).fill(value)

if (process.platform !== 'linux') console.log('skipped: to copy from another process needs Linux')

describe.skipIf(process.platform !== 'linux')('memory that processes of a node lend each other', () => {
  it('is copied from where it is while the loan lasts, and not afterwards', () => {
    const loans = openLoans(job().job)!
    const lent = bytesOf(100_000, 7)
    const into = bytesOf(100_000, 0)
    const loan = loans.lend(1, lent)!
    expect(loans.copy(1, loan, into)).toBe(true)
    expect(into).toEqual(lent)
    loans.end(loan)
    expect(loans.copy(1, loan, into)).toBe(false)
  })

  it('may be a part of an array, read into a part of another', () => {
    const loans = openLoans(job().job)!
    const lent = bytesOf(4096, 0).subarray(1001, 2001).fill(3)
    const into = bytesOf(4096, 0)
    expect(loans.copy(1, loans.lend(1, lent)!, into.subarray(5, 1005))).toBe(true)
    expect(into.reduce((sum, byte) => sum + byte, 0)).toBe(3000)
    expect([into[4], into[5], into[1004], into[1005]]).toEqual([0, 3, 3, 0])
  })

  it('is not that of a later loan', () => {
    const loans = openLoans(job().job)!
    const first = loans.lend(1, bytesOf(64, 1))!
    loans.end(first)
    for (let i = 0; i < 4096; i++) {
      const loan = loans.lend(1, bytesOf(64, 2))!
      expect(loans.copy(1, first, bytesOf(64, 0))).toBe(false)
      loans.end(loan)
    }
  })

  it('has a bound: 4,096 loans at a time, of up to 16 MiB', () => {
    const loans = openLoans(job().job)!
    const bytes = bytesOf(64, 1)
    const all = Array.from({ length: 4096 }, () => loans.lend(1, bytes))
    expect(all).not.toContain(undefined)
    expect(loans.lend(1, bytes)).toBeUndefined()
    for (const loan of all) loans.end(loan!)
    expect(loans.lend(1, bytes)).toBeDefined()
    expect(loans.lend(1, bytesOf(2 ** 24 + 1, 0))).toBeUndefined()
  })

  it('is not lent on other nodes, nor where it is empty', () => {
    const others = openLoans(job({ text: () => '' }, ['a', 'b']).job)
    expect(others).toBeUndefined()
    const loans = openLoans({ ...job().job, nodes: ['a', 'a'] })!
    expect(loans.lend(1, new Uint8Array(0))).toBeUndefined()
  })

  it('reports a copy from where there is no memory', () => {
    const loans = openLoans(job().job)!
    const loan = loans.lend(1, bytesOf(64, 1))!
    expect(loans.copy(1, { ...loan, byteOffset: 4096 }, bytesOf(64, 0))).toBe(false)
  })

  it('does not exist where a process cannot be read, or is another one with the same number', () => {
    const stranger = job({ text: (mine) => mine.replace(/\w+$/, 'cd'.repeat(16)) })
    expect(openLoans(stranger.job)).toBeUndefined()
    expect(stranger.said[1]).toBe('')
    const gone = job({ text: (mine) => mine.replace(/^\d+/, '999999999') })
    expect(openLoans(gone.job)).toBeUndefined()
    expect(openLoans(job({ reply: '' }).job)).toBeUndefined()
    expect(openLoans({ ...job().job, library: { addressOf } })).toBeUndefined()
  })

  it('is not read where all are on nodes of their own', () => {
    const alone = job({ text: () => '' }, ['a', 'b'])
    openLoans(alone.job)
    expect(alone.said).toEqual(['', ''])
  })

  it('is found by addresses above 4 GiB', () => {
    const memory = new MpiMemory(64, addressOf)
    memory.setNumber(0, 8, 0x7f12_3456_789a)
    expect(memory.number(0, 8)).toBe(0x7f12_3456_789a)
  })
})
