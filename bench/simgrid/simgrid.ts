import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { levelOf, type Machine } from '../../src/machine/machine.js'
import { profileOf } from '../../src/machine/network.js'
import { levels } from '../../src/machine/profile.js'
import type { LoweredSchedule } from '../../src/schedule/lower/program.js'
import { type Figures, runWithTimeout } from '../run-with-timeout.js'
import { platformOf } from './platform.js'
import { writeProgramFile } from './program-file.js'

/** Settings of SimGrid that its defaults would decide otherwise. */
export const simgridSettings = (eagerLimitBytes: number): readonly string[] => {
  // SMPI's limits are the first length that is not eager, and integers.
  const firstLong = Math.min(eagerLimitBytes + 1, 2 ** 31 - 1)
  return [
    // Latency and bandwidth as given: the default model, SMPI, multiplies them by factors measured on Gigabit
    // Ethernet.
    'network/model:CM02',
    // Bytes one way do not slow those of the other way down.
    'network/crosstraffic:0',
    // No window that limits the bandwidth of long routes.
    'network/TCP-gamma:0',
    // What processors do is slept by run-program.c; smpi/os would not act on MPI_Isend.
    ...['smpi/os:0:0:0', 'smpi/ois:0:0:0', 'smpi/or:0:0:0', 'smpi/wtime:0', 'smpi/simulate-computation:no'],
    `smpi/async-small-thresh:${firstLong}`,
    `smpi/send-is-detached-thresh:${firstLong}`,
    // The default treats what is less than a nanosecond apart as simultaneous.
    'surf/precision:1e-12',
    'contexts/stack-size:256',
  ]
}

/** A schedule of one rank per process, with units of data of several lengths. */
export interface SimgridRun {
  readonly lowered: LoweredSchedule
  readonly bytes: readonly number[]
}

/** Why SimGrid cannot run here; null where it can. */
export function missingSimgrid(): string | null {
  const { status } = spawnSync('smpicc', ['--version'], { stdio: 'ignore' })
  return status === 0 ? null : 'smpicc is missing: apt-get install libsimgrid-dev'
}

/** SimGrid on this machine: the runner, compiled into a folder that is removed afterwards. */
export class Simgrid {
  /** As it names itself. */
  readonly version: string
  readonly #folder = `${mkdtempSync(`${tmpdir()}/simgrid-`)}/`

  /** @throws when {@link missingSimgrid} */
  constructor() {
    process.on('exit', this.#close)
    this.version = execFileSync('smpirun', ['-version'], { encoding: 'utf8' }).trim()
    const source = fileURLToPath(new URL('run-program.c', import.meta.url))
    execFileSync(
      'smpicc',
      ['-O2', '-Wall', '-Wextra', '-Werror', '-o', `${this.#folder}run-program`, source],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
  }

  /**
   * Simulated microseconds until the last rank is done, by run and length; the runner has compared
   * what every rank received, unless there are no data. Runs are of equally many ranks; they follow each other in one
   * process.
   *
   * @param hasData false: ranks share one buffer, for what needs more memory than there is
   * @throws when SimGrid fails, takes too long, or a rank receives something else
   */
  async simulate(
    machine: Machine,
    runs: readonly SimgridRun[],
    limitSeconds: number,
    hasData = true,
  ): Promise<{ readonly timesUs: readonly (readonly number[])[]; readonly wallMs: number }> {
    const { ranks } = runs[0].lowered.schedule.specification
    const { memory, levels: costs, eagerLimitBytes } = profileOf(machine)
    const { xml, hostFile } = platformOf(machine, ranks)
    writeFileSync(`${this.#folder}platform.xml`, xml)
    writeFileSync(`${this.#folder}hosts`, hostFile)
    const words = runs.map(({ lowered, bytes }, i) => {
      const path = `${this.#folder}program-${i}`
      const messages = levels.map((name) => costs[name])
      const distance = (rank: number, peer: number): number => levels.indexOf(levelOf(machine, rank, peer))
      writeProgramFile(path, lowered, { messages, memory }, distance)
      return `${path}:${bytes.join()}`
    })
    const args = [
      ...['-np', String(ranks), '-platform', `${this.#folder}platform.xml`],
      ...['-hostfile', `${this.#folder}hosts`, '-no-privatize', '--log=root.thresh:warning'],
      ...simgridSettings(eagerLimitBytes).map((setting) => `--cfg=${setting}`),
      `${this.#folder}run-program`,
      ...(hasData ? [] : ['--no-data']),
    ]
    const figures: Figures = await runWithTimeout('smpirun', [...args, ...words], limitSeconds)
    const timesUs = runs.map(({ bytes }, i) => bytes.map((length) => figureOf(figures, `${i}:${length}`)))
    return { timesUs, wallMs: figures['wallMs'] }
  }

  close(): void {
    process.off('exit', this.#close)
    this.#close()
  }

  readonly #close = (): void => {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function figureOf(figures: Figures, key: string): number {
  const figure = figures[key]
  if (typeof figure !== 'number') throw new Error(`expected a time of ${key}, got ${figure}`)
  return figure
}
