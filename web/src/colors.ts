/** Distinguishable with color vision deficiency (Okabe, Ito 2008), on light and on dark. */
const hues = ['#3b82c4', '#d9662b', '#1a9e77', '#c774a9', '#d69a1c', '#56b4e9', '#9a8b1f', '#8b65b5'] as const

/** Returns the color of a group, node or community by its number; gray for none. Colors repeat beyond 8. */
export function groupColor(group: number): string {
  return group < 0 ? '#8a939b' : hues[group % hues.length]
}

export const activityColors: Readonly<Record<string, string>> = {
  send: '#3b76d6',
  receive: '#1f9a5b',
  pack: '#9dbcf0',
  unpack: '#93d3a8',
  combine: '#9550cf',
  copy: '#e0a030',
  wait: 'var(--wait)',
}

/** The value of a property of the style, in the present color scheme. */
export function styleValue(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

/** Calls again when the reader's color scheme changes, until the views are closed. */
export function onScheme(call: () => void, closed: AbortSignal): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', call, { signal: closed })
}

/** Stops of viridis (van der Walt, Smith 2015), dark to bright. */
const viridis = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
] as const

/** Returns the color of a share from 0 to 1. More is darker on light pages and brighter on dark ones. */
export function heat(share: number, isDark: boolean): readonly [number, number, number] {
  const at =
    Math.min(1, Math.max(0, isDark ? 0.12 + 0.88 * share : 0.94 - 0.94 * share)) * (viridis.length - 1)
  const low = Math.min(viridis.length - 2, Math.floor(at))
  const part = at - low
  const mixed = (i: 0 | 1 | 2) => Math.round(viridis[low][i] * (1 - part) + viridis[low + 1][i] * part)
  return [mixed(0), mixed(1), mixed(2)]
}

export function isDarkScheme(): boolean {
  return matchMedia('(prefers-color-scheme: dark)').matches
}
