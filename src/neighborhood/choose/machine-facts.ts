import type { Machine } from '../../machine/machine.js'

/**
 * Returns as text everything of a machine on which a choice depends; the texts of equal machines are equal. It contains
 * the figures, because two profiles of one name may differ.
 */
export function machineFacts(machine: Machine): string {
  return JSON.stringify(machine, (_key, value: unknown) => {
    if (ArrayBuffer.isView(value)) return (value as Int32Array).join()
    // JSON has no Infinity, so numbers become strings.
    return typeof value === 'number' ? String(value) : value
  })
}
