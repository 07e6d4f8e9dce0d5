import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { algorithmOf } from '../../../src/collective/algorithms.js'
import { scheduleOf } from '../../../src/collective/patterns/schedule-size.js'
import { inOneFile, runtimeFiles } from '../../../src/export/c-program.js'
import { programWords } from '../../../src/export/program-words.js'
import type { Schedule } from '../../../src/schedule/ir.js'
import { lower } from '../../../src/schedule/lower/lower.js'
import { withPorts } from '../../../src/schedule/lower/with-ports.js'
import { upTo } from '../../../src/schedule/specification.js'
import { compileExported } from '../../support/exported-c.js'
import { describeEitherMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { withWaits } from '../../support/random-waits.js'
import { chooseBy } from '../../support/schedule-faults.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

/** Reports the most sends of a rank that had been started and not been seen complete. */
const tracer = `
#include <mpi.h>
#include <stdio.h>

static MPI_Request *started[64];
static int count, most;

int MPI_Isend(const void *buffer, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
  int code = PMPI_Isend(buffer, n, type, peer, tag, comm, request), known = 0, open = 0;
  for (int i = 0; i < count; i++) known |= started[i] == request;
  if (!known && count < 64) started[count++] = request;
  for (int i = 0; i < count; i++) open += *started[i] != MPI_REQUEST_NULL;
  if (open > most) most = open;
  return code;
}

int MPI_Finalize(void) {
  int all = 0;
  PMPI_Allreduce(&most, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("most sends %d\\n", all);
  return PMPI_Finalize();
}
`

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

const gather = scheduleOf(algorithmOf('gather-linear-sync'), { ranks: 5, root: 2, segments: 3 })
const alltoall = (requests: number) =>
  scheduleOf(algorithmOf('alltoall-linear').with!({ requests }), { ranks: 5, segments: 2 })
const random = (id: string, seed: number): Schedule =>
  withWaits(scheduleOf(algorithmOf(id), { ranks: 6, segments: 2 }), chooseBy(seed))

describeEitherMpi('an exported C program with waits', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('export')

  it.skipIf(mpicc === null).each([
    ['a gather with synchronization', gather],
    ['a reduction whose messages wait at random', random('allreduce-rabenseifner', 7)],
    ['an all-to-all whose messages wait at random', random('alltoall-bruck', 11)],
  ])('gives the data of the specification: %s', async (_, schedule) => {
    const run = compileExported(mpicc!, mpi, folder(), schedule)
    for (const bytes of ['4', '100000']) {
      const { code, stderr } = await run('-b', bytes, '-n', '1', '-s', '2')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    }
  })

  it.skipIf(mpicc === null)('has at most as many sends in progress as its schedule says', async () => {
    const mostSends = async (schedule: Schedule) => {
      const run = compileExported(mpicc!, mpi, folder(), schedule, tracer)
      const { code, stdout, stderr } = await run('-b', '200000', '-n', '0')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return Number(/^most sends (\d+)$/m.exec(stdout)![1])
    }
    expect(await mostSends(alltoall(2))).toBe(2)
    expect(await mostSends(alltoall(0))).toBe(8)
    expect(await mostSends(withPorts(alltoall(0), 3))).toBe(3)
  })

  it.skipIf(mpicc === null)('refuses tables of gates that are out of range, or would never open', () => {
    const { programs } = lower(alltoall(2), upTo(5))
    const words = programWords(programs[0]!, 5, true)
    const [sends, receives] = [words[4]!, words[5]!]
    const gates = programs[0]!.gates.sends.length
    const tail = words.length - 1 - 2 * gates - sends - receives
    expect([sends, receives, words[tail]]).toEqual([8, 8, gates])
    const [gateSends, gateReceives] = [tail + 1, tail + 1 + gates]
    const [sendGate, receiveGate] = [gateReceives + gates, gateReceives + gates + sends]
    const changed = (at: number, to: number) => words.with(at, to)
    const accepted = 'accepted'
    const cases: readonly (readonly [Int32Array, string])[] = [
      [words, accepted],
      [words.subarray(0, tail), accepted],
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
    const source = join(folder(), 'check.c')
    writeFileSync(source, `${inOneFile(runtimeFiles)}\n${checker}`)
    const program = join(folder(), 'check')
    execFileSync(mpicc!, ['-std=c99', '-O1', '-o', program, source])
    const found = cases.map(([given]) =>
      execFileSync(program, Array.from(given, String), { encoding: 'utf8' }).trim(),
    )
    expect(found).toEqual(cases.map(([, outcome]) => outcome))
  })

  it.skipIf(mpicc === null)('refuses a gate whose send needs what arrives behind it', () => {
    // Rank 1 passes on what it receives; the send is in a gate, the receive is not.
    const { programs } = lower(scheduleOf(algorithmOf('bcast-chain'), { ranks: 3 }), upTo(3))
    const words = Array.from(programWords(programs[1]!, 3, true))
    const source = join(folder(), 'chain.c')
    writeFileSync(source, `${inOneFile(runtimeFiles)}\n${checker}`)
    const program = join(folder(), 'chain')
    execFileSync(mpicc!, ['-std=c99', '-O1', '-o', program, source])
    const outcome = (...tail: number[]) =>
      execFileSync(program, [...words, ...tail].map(String), { encoding: 'utf8' }).trim()
    expect(outcome(1, 1, 1, -1, -1)).toBe('accepted')
    expect(outcome(1, 1, 0, -1, 0)).toBe('a gate waits for a send that needs a later receive')
  })
})
