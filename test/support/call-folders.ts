import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CallFile } from '../../src/tuning/online/call-file.js'
import type { CallRecord } from '../../src/tuning/online/call-records.js'
import { readCallFile } from '../../src/tuning/online/read-call-file.js'

/** The files of runs in a folder, by name. */
export function callFilesOf(folder: string): CallFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.calls'))
  return names.sort().map((name) => readCallFile(name, readFileSync(join(folder, name))))
}

/** The records of each call, of all processes that recorded it. */
export function recordsByCall({ records }: CallFile): Map<string, CallRecord[]> {
  const calls = new Map<string, CallRecord[]>()
  for (const own of records.values())
    for (const record of own) {
      const key = `${record.communicator} ${record.call}`
      calls.set(key, [...(calls.get(key) ?? []), record])
    }
  return calls
}

/** Calls in which processes took two settings, sizes or collectives. */
export function disagreements(file: CallFile): string[] {
  return [...recordsByCall(file)]
    .filter(([, [first, ...others]]) => {
      const isSame = ({ collective, setting, bytes }: CallRecord) =>
        collective === first.collective && setting === first.setting && bytes === first.bytes
      return !others.every(isSame)
    })
    .map(([call]) => call)
}
