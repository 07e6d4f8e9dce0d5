import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TuningCall } from '../../src/tuning/settings/tuning-call.js'

/**
 * Nanoseconds a decision of a generated C function takes, of 9 runs over calls in the order given; null without a C
 * compiler.
 *
 * @param source of the function
 * @param decide an expression in C, the decision for `processes[i]` and `bytes[i]`
 */
export function compiledTimes(
  source: string,
  decide: string,
  calls: readonly TuningCall[],
): readonly number[] | null {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-decisions-'))
  const rounds = Math.ceil(2 ** 22 / calls.length)
  try {
    writeFileSync(
      join(folder, 'decide.c'),
      `#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
${source}
static const int64_t processes[] = {${calls.map(({ nodes }) => nodes).join(',')}};
static const int64_t bytes[] = {${calls.map((call) => call.bytes).join(',')}};
int main(void) {
  int run, round, i;
  volatile long sum = 0;
  for (run = 0; run < 9; run++) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (round = 0; round < ${rounds}; round++)
      for (i = 0; i < ${calls.length}; i++) sum += ${decide};
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%.3f\\n", ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / (${rounds}.0 * ${calls.length}));
  }
  return 0;
}
`,
    )
    execFileSync('cc', ['-std=c99', '-O2', '-o', join(folder, 'decide'), join(folder, 'decide.c')])
    const output = execFileSync(join(folder, 'decide'), { encoding: 'utf8' })
    return output.trim().split('\n').map(Number)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  } finally {
    rmSync(folder, { recursive: true })
  }
}
