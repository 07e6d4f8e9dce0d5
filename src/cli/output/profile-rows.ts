import { type CallKind, callKinds, type ProfileSummary } from '../../profile/summary.js'
import { percentText } from '../../text/printable.js'
import { counted, figure, secondsText } from './figure-text.js'
import { type ResultRow, row, shown } from './result-rows.js'

/** Returns rows that summarize a profile, which is the field `profile` of the object. */
export function profileRows(summary: ProfileSummary): readonly ResultRow[] {
  const { seconds, inMpi, kinds, imbalance, calls, traffic, collectives } = summary
  const { within, between } = traffic
  const kindTexts = callKinds
    .filter((kind) => kinds[kind] >= leastShare)
    .map((kind) => `${percentText(kinds[kind])} ${kindText[kind]}`)
  const longest = calls.filter(({ share }) => share >= leastShare).slice(0, 3)
  const [collective] = collectives.filter(({ share }) => share >= leastShare)
  return [
    row(
      'profile',
      summary,
      'time',
      `${secondsText(seconds)}, ${[`${percentText(inMpi)} of it in MPI`, ...kindTexts].join(', ')}`,
    ),
    shown('calls', listed(longest.map(({ name, share }) => `${name} ${percentText(share)}`))),
    shown('imbalance', `${imbalance.toFixed(2)}, the longest time outside MPI by the mean`),
    shown(
      'messages',
      traffic.pairs === 0 ? null : `${amountText(within)} within nodes, ${amountText(between)} between them`,
    ),
    shown(
      'collective',
      collective === undefined
        ? null
        : `${collective.name} of ${counted(collective.bytes, 'byte', 'bytes')} on ${counted(collective.ranks, 'rank', 'ranks')}, ${percentText(collective.share)} of the time`,
    ),
  ]
}

/** The share of time below which a line leaves a call out. */
const leastShare = 0.005

const kindText: Readonly<Record<CallKind, string>> = {
  moving: 'sending',
  waiting: 'waiting for messages',
  collective: 'in collectives',
  neighborhood: 'in neighborhood collectives',
  'one-sided': 'in one-sided calls',
  files: 'in files',
  other: 'in other calls',
}

const listed = (words: readonly string[]): string | null => (words.length === 0 ? null : words.join(', '))

const amountText = ({ messages, bytes }: { readonly messages: number; readonly bytes: number }): string =>
  `${figure(messages)} with ${figure(bytes)} bytes`
