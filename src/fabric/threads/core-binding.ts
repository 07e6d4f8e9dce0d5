import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { getSystemErrorName } from 'node:util'
import { allowedProcessors, processorsIn } from '../../base/allowed-processors.js'
import { RankweaveError } from '../../errors.js'
import { importKoffi } from '../koffi.js'

/** The units that each process of a world on threads can be bound to. */
export const bindings = ['none', 'core'] as const
export type Binding = (typeof bindings)[number]

/**
 * Returns the processors of one core for every process: cores in the order of their first processor, one process each.
 *
 * @param allowed where threads may run, as Linux lists it; empty if that is unknown
 * @throws ERR_WORLD if there are more processes than cores; ERR_FABRIC if cores are unknown
 */
export function coreOfEachProcess(
  processes: number,
  allowed = allowedProcessors(),
): readonly (readonly number[])[] {
  if (allowed === '')
    throw new RankweaveError(
      'ERR_FABRIC',
      `threads: bindTo 'core' needs Linux with /proc, this is ${process.platform}`,
    )
  const cores = coresOf(processorsIn(allowed), siblingsOf)
  if (cores.length < processes) {
    const available = `${cores.length} ${cores.length === 1 ? 'core' : 'cores'} (processors ${allowed})`
    const message = `threads: bindTo 'core' binds one process to each core: ${processes} processes, ${available}`
    throw new RankweaveError('ERR_WORLD', message, { details: { processes, cores: cores.length } })
  }
  return cores.slice(0, processes)
}

/**
 * Groups processors by core.
 *
 * @param allowed where threads may run, ascending
 * @param siblings all processors of the core of one
 */
export function coresOf(
  allowed: readonly number[],
  siblings: (processor: number) => readonly number[],
): number[][] {
  const remaining = new Set(allowed)
  return allowed.flatMap((processor) => {
    if (!remaining.has(processor)) return []
    const core = [
      processor,
      ...siblings(processor).filter((other) => other !== processor && remaining.has(other)),
    ]
    for (const each of core) remaining.delete(each)
    return [core]
  })
}

function siblingsOf(processor: number): readonly number[] {
  try {
    const file = `/sys/devices/system/cpu/cpu${processor}/topology/thread_siblings_list`
    return processorsIn(readFileSync(file, 'utf8').trim())
  } catch {
    // Containers may hide the file; then each processor counts as a core.
    return [processor]
  }
}

/**
 * Binds the calling thread to processors of this host, with the threads and programs that it starts from now on.
 *
 * @throws ERR_KOFFI; ERR_FABRIC if Linux refuses
 */
export async function bindThisThread(processors: readonly number[]): Promise<void> {
  const koffi = await importKoffi("threads: bindTo 'core'")
  // Node starts the threads for files with the first task for them. They belong to the whole program, so they start
  // before the binding.
  await stat('/proc/thread-self/status')
  const setAffinity = koffi.load(null).func('int sched_setaffinity(int, size_t, const void *)')
  const mask = new Uint8Array((Math.max(...processors) >> 6) * 8 + 8)
  for (const processor of processors) mask[processor >> 3] |= 1 << (processor & 7)
  if (setAffinity(0, mask.length, mask) === 0) return
  const reason = getSystemErrorName(-koffi.errno())
  const message = `threads: bindTo 'core': Linux refuses processors ${processors.join(', ')} (${reason})`
  throw new RankweaveError('ERR_FABRIC', message)
}
