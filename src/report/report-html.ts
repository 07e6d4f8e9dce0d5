import { RankweaveError } from '../errors.js'
import type { PlanView } from './plan-view.js'
import type { TopologyView } from './topology-view.js'

export interface Report {
  readonly topology: TopologyView
  readonly plan: PlanView | null
  /** The program that made the report, such as `rankweave 0.1.0`. */
  readonly madeBy: string
}

/** The id of the element of the page that holds the data as JSON. */
const reportElement = 'report-data'

const empty = `<script type="application/json" id="${reportElement}">null</script>`

/**
 * Returns a report as one HTML file that loads nothing.
 *
 * @param template the page as `npm run build` makes it, with its code and style inside
 * @throws ERR_FILE for a template without an element for the data
 */
export function reportHtml(template: string, report: Report): string {
  const at = template.indexOf(empty)
  if (at === -1) throw new RankweaveError('ERR_FILE', 'the template of reports has no place for data')
  const data = `<script type="application/json" id="${reportElement}">${jsonInHtml(report)}</script>`
  return template.slice(0, at) + data + template.slice(at + empty.length)
}

/** Encodes JSON so that it neither ends nor begins an HTML element, whatever names the data hold. */
function jsonInHtml(data: unknown): string {
  return JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
