/** The color of links without bytes, then those of loads up to a fifth of the highest, two fifths and so on. */
export const loadColors = ['#e5e7eb', '#fde68a', '#fbbf24', '#f97316', '#dc2626', '#7f1d1d'] as const

/** Returns the color of a load. @param share of the highest load, 0 to 1 */
export function loadColor(share: number): string {
  return loadColors[share > 0 ? Math.min(5, Math.max(1, Math.ceil(share * 5 - 1e-9))) : 0]
}

export function loadText(bytes: number): string {
  const whole = Math.round(bytes)
  return `${whole.toLocaleString('en-US')} ${whole === 1 ? 'byte' : 'bytes'}`
}
