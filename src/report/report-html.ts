import { RankweaveError } from '../errors.js'
import type { PlanView } from './plan-view.js'
import type { TopologyView } from './topology-view.js'

/** All that a report holds. */
export interface Report {
  readonly topology: TopologyView
  readonly plan: PlanView | null
  /** Who made it, such as `rankweave 0.1.0`. */
  readonly madeBy: string
}

/** Where the data are in the page: an element of this id, with JSON. */
export const reportElement = 'report-data'

const empty = `<script type="application/json" id="${reportElement}">null</script>`

/**
 * A report as one HTML file that loads nothing.
 *
 * @param template the page as `npm run build` makes it, with its code and style inside
 * @throws ERR_FILE for a template without a place for the data
 */
export function reportHtml(template: string, report: Report): string {
  const at = template.indexOf(empty)
  if (at === -1) throw new RankweaveError('ERR_FILE', 'the template of reports has no place for data')
  const data = `<script type="application/json" id="${reportElement}">${jsonInHtml(report)}</script>`
  return template.slice(0, at) + data + template.slice(at + empty.length)
}

/** JSON that ends no element of HTML and begins none: whatever names are in the data, they are text. */
export function jsonInHtml(data: unknown): string {
  return JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
