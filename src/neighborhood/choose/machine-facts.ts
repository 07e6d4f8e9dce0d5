import type { Machine } from '../../machine/machine.js'

/**
 * Everything of a machine that a choice depends on, as text: equal for equal machines. Two profiles of one
 * name may differ, so the figures are in it.
 */
export function machineFacts(machine: Machine): string {
  return JSON.stringify(machine, (_key, value: unknown) => {
    if (ArrayBuffer.isView(value)) return (value as Int32Array).join()
    // JSON has no Infinity.
    return typeof value === 'number' ? String(value) : value
  })
}
