import { readFileSync } from 'node:fs'

/**
 * Returns the processors (hardware threads) on which the calling thread may run, as Linux reports them: "0-3,8"; empty
 * if that is unknown.
 */
export function allowedProcessors(): string {
  try {
    return /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/thread-self/status', 'utf8'))?.[1] ?? ''
  } catch {
    return ''
  }
}

/** Returns the numbers in a list of Linux: [0, 1, 2, 3, 8] for "0-3,8". */
export function processorsIn(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number) as [number, number?]
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  })
}
