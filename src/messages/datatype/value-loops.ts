// The long loops of values are in functions that read no field, since inside a method the engine may give up compiling
// them.

export type Packing = 'integers' | 'doubles'

/** Returns how an array of numbers travels, if it is one and has no holes. */
export function packingOf(values: readonly unknown[]): Packing | undefined {
  let packing: Packing = 'integers'
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (typeof value !== 'number' || Number.isNaN(value)) return undefined
    if ((value | 0) !== value || (value === 0 && 1 / value < 0)) packing = 'doubles'
  }
  return packing
}

export function writeNumbers(view: DataView, at: number, values: readonly number[], packing: Packing): void {
  if (packing === 'integers') {
    for (let i = 0; i < values.length; i++) view.setInt32(at + 4 * i, values[i], true)
  } else for (let i = 0; i < values.length; i++) view.setFloat64(at + 8 * i, values[i], true)
}

export function writeUnits(view: DataView, at: number, text: string): void {
  for (let i = 0; i < text.length; i++) view.setUint16(at + 2 * i, text.charCodeAt(i), true)
}

export function integersOf(view: DataView, at: number, length: number): number[] {
  const values: number[] = []
  for (let i = 0; i < length; i++) values.push(view.getInt32(at + 4 * i, true))
  return values
}

export function doublesOf(view: DataView, at: number, length: number): number[] {
  const values: number[] = []
  for (let i = 0; i < length; i++) values.push(view.getFloat64(at + 8 * i, true))
  return values
}

export function utf16Text(view: DataView, at: number, length: number): string {
  // The function takes as many arguments as any engine allows.
  const units = new Uint16Array(Math.min(length, 4096))
  let text = ''
  for (let done = 0; done < length; done += units.length) {
    const count = Math.min(units.length, length - done)
    for (let i = 0; i < count; i++) units[i] = view.getUint16(at + 2 * (done + i), true)
    text += String.fromCharCode.apply(null, units.subarray(0, count) as unknown as number[])
  }
  return text
}
