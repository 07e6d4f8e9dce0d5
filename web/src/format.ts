import type { GroupsView } from '../../src/report/plan-view.js'

/** 12,345.6, with as many digits as tell something. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en-US', { maximumFractionDigits: digits })
}

/** Microseconds in the unit that suits them. */
export function time(us: number): string {
  if (us >= 1e6) return `${Number((us / 1e6).toPrecision(4))} s`
  if (us >= 1e3) return `${Number((us / 1e3).toPrecision(4))} ms`
  return `${Number(us.toPrecision(4))} µs`
}

export function bytes(count: number): string {
  if (count >= 2 ** 30) return `${figure(count / 2 ** 30)} GiB`
  if (count >= 2 ** 20) return `${figure(count / 2 ** 20)} MiB`
  if (count >= 2 ** 10) return `${figure(count / 2 ** 10)} KiB`
  return `${figure(count)} B`
}

/** Returns the relative change of a figure: -83.1%. */
export function change(after: number, before: number): string {
  if (before === 0) return after === 0 ? '0%' : 'new'
  const percent = ((after - before) / before) * 100
  return `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${Math.abs(percent).toFixed(1)}%`
}

/** About `count` round numbers from 0 to `most`. */
export function ticks(most: number, count: number): number[] {
  return ticksBetween(0, most, count)
}

export function ticksBetween(from: number, to: number, count: number): number[] {
  if (!(to > from)) return [from]
  const wish = (to - from) / count
  const power = 10 ** Math.floor(Math.log10(wish))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= wish * 0.999) ?? 10)
  const result: number[] = []
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-9); i++)
    result.push(Number((i * step).toPrecision(12)))
  return result
}

/**
 * Returns the number of friend groups, and which of them the colors show. A rank is in at most one group of each step, so
 * all groups together may have more members than there are ranks.
 */
export function groupsText(
  { k, count, steps }: Pick<GroupsView, 'k' | 'count' | 'steps'>,
  groupOf: readonly number[],
): string {
  const grouped = groupOf.reduce((sum, group) => sum + (group < 0 ? 0 : 1), 0)
  const within = `${figure(steps)} ${steps === 1 ? 'step' : 'steps'}`
  return `${figure(count)} groups of ${k} in ${within}; ${figure(grouped)} of ${figure(groupOf.length)} ranks are in one or more, colored by their first; colors repeat`
}
