import { run, websocket } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { compiled, compiledUrl } from '../support/compiled.js'
import { FileNotes } from '../support/faults/file-notes.js'
import { type LossSeen, processes, ranksEach } from '../support/faults/reorder-loss.js'
import { describeMpiInTurn, gone, rankweave, startJob } from '../support/mpi.js'
import { sampled } from '../support/soak.js'

const ranks = processes * ranksEach
const planFroms = ['graph', 'neighbors'] as const
/** Process 0 maps. */
const victims = [0, processes - 1]
/** Of the event loop: while lists are gathered, while process 0 maps, while vertices move, in later rounds. */
const turns = [1, 2, 3, 5, 8, 12, 20, 50, 200, 1000, 5000]

const moments = (some: readonly number[]) =>
  planFroms.flatMap((planFrom) =>
    victims.flatMap((victim) => some.map((after) => [planFrom, victim, after] as const)),
  )

const notesOf = (notes: FileNotes) =>
  Array.from({ length: ranks }, (_, rank) => notes.read(`seen-${rank}`)).flatMap((note) =>
    note === undefined ? [] : [JSON.parse(note) as LossSeen],
  )

describe('a process killed while ranks are reordered, on websocket', () => {
  it.each(sampled(moments(turns), 5))(
    'from %s, process %i after %i turns: survivors are told, continue, and leave none behind',
    async (planFrom, victim, after) => {
      const notes = new FileNotes()
      try {
        const args = [notes.folder, victim, planFrom, after].map(String)
        const fabric = websocket({ processes })
        await run(compiledUrl('faults/reorder-loss.ts'), { ranks, fabric, args })
        const survivors = ranks - ranksEach
        const expected: LossSeen = ['ERR_PEER_LOST', victim, survivors]
        expect(notesOf(notes)).toEqual(Array(survivors).fill(expected))
        const pids = Array.from({ length: processes }, (_, p) => Number(notes.read(`pid-${p * ranksEach}`)))
        expect(new Set(pids).size).toBe(processes)
        while (pids.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 10))
      } finally {
        notes.remove()
      }
    },
  )
})

describeMpiInTurn('a process killed while ranks are reordered', (mpi) => {
  it.each(moments(sampled(turns, 4)))(
    'from %s, process %i after %i turns: the job ends, and leaves none behind',
    async (planFrom, victim, after) => {
      const notes = new FileNotes()
      try {
        const words = [notes.folder, victim, planFrom, after].map(String)
        const program = compiled('faults/reorder-loss.ts')
        const options = ['-n', String(ranks), '--fabric', 'mpi']
        const job = startJob(mpi, processes, rankweave('run', program, ...options, '--', ...words))
        expect((await job.ended).code).not.toBe(0)
        // A launcher asks survivors to end before it kills them: some find their world ended by that.
        expect(notesOf(notes).filter(([code]) => code !== 'ERR_WORLD_ENDED')).toEqual([])
        await gone(notes.folder)
      } finally {
        notes.remove()
      }
    },
  )
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
