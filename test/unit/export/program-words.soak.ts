import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { algorithmOf } from '../../../src/collective/algorithms.js'
import { scheduleOf } from '../../../src/collective/patterns/schedule-of.js'
import { inOneFile, programWords, runtimeFiles } from '../../../src/export/c-program.js'
import { lower } from '../../../src/schedule/lower/lower.js'
import { upTo } from '../../../src/schedule/specification.js'
import { installedMpis } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

/** Checks the words of a program that are its arguments. */
const checker = `
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int32_t *words = calloc((size_t)argc, sizeof *words);
  for (int i = 1; i < argc; i++) words[i - 1] = (int32_t)strtol(argv[i], NULL, 10);
  struct rw_program program;
  const char *wrong = rw_program_of_words(words, (size_t)argc - 1, &program);
  puts(wrong == NULL ? "accepted" : wrong);
  free(words);
  return 0;
}
`

const mpi = installedMpis[0]
const mpicc = mpi === undefined ? null : compilerOf(mpi)

describe.skipIf(mpicc === null)('the runtime of exported C', () => {
  const folder = temporaryFolder('words')
  let program: string
  beforeAll(() => {
    const source = join(folder(), 'check.c')
    writeFileSync(source, `${inOneFile(runtimeFiles)}\n${checker}`)
    program = join(folder(), 'check')
    execFileSync(mpicc!, ['-std=c99', '-O1', '-o', program, source])
  })

  const outcome = (words: Iterable<number>) =>
    execFileSync(program, Array.from(words, String), { encoding: 'utf8' }).trim()

  it('refuses tables of gates that are out of range, or would never open', () => {
    const schedule = scheduleOf(algorithmOf('alltoall-linear').with!({ requests: 2 }), {
      ranks: 5,
      segments: 2,
    })
    const { programs } = lower(schedule, upTo(5))
    const words = programWords(programs[0]!, 5, true)
    const [sends, receives] = [words[4]!, words[5]!]
    const gates = programs[0]!.gates.sends.length
    const tail = words.length - 1 - 2 * gates - sends - receives
    expect([sends, receives, words[tail]]).toEqual([8, 8, gates])
    const [gateSends, gateReceives] = [tail + 1, tail + 1 + gates]
    const [sendGate, receiveGate] = [gateReceives + gates, gateReceives + gates + sends]
    const changed = (at: number, to: number) => words.with(at, to)
    const cases: readonly (readonly [Int32Array, string])[] = [
      [words, 'accepted'],
      [words.subarray(0, tail), 'accepted'],
      [words.subarray(0, words.length - 1), 'a program has the wrong number of words'],
      [changed(tail, 0), 'a program has the wrong number of words'],
      [changed(tail, -1), 'a program has the wrong number of words'],
      [changed(gateSends, -1), 'a gate waits for sends that are out of range'],
      [changed(gateSends + 1, 0), 'a gate waits for sends that are out of range'],
      [changed(gateSends + gates - 1, sends + 1), 'a gate waits for sends that are out of range'],
      [changed(gateReceives + gates - 1, receives + 1), 'a gate waits for receives that are out of range'],
      [changed(sendGate, 0), 'a gate waits for what waits for it'],
      [changed(receiveGate, 0), 'a gate waits for what waits for it'],
      [changed(sendGate + sends - 1, gates), 'the gate of a send is out of range'],
      [changed(sendGate + sends - 1, -2), 'the gate of a send is out of range'],
      [changed(receiveGate + receives - 1, gates), 'the gate of a receive is out of range'],
    ]
    expect(cases.map(([given]) => outcome(given))).toEqual(cases.map(([, said]) => said))
  })

  it('refuses a gate whose send needs what arrives behind it', () => {
    // Rank 1 passes on what it receives; the send is in a gate, the receive is not.
    const { programs } = lower(scheduleOf(algorithmOf('bcast-chain'), { ranks: 3 }), upTo(3))
    const words = [...programWords(programs[1]!, 3, true)]
    expect(outcome([...words, 1, 1, 1, -1, -1])).toBe('accepted')
    expect(outcome([...words, 1, 1, 0, -1, 0])).toBe('a gate waits for a send that needs a later receive')
  })
})
