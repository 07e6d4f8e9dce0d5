import type { Translations } from '../translations/translations.js'
import type { TopologySpec } from './spec-text.js'

/** The specification of the same graph as a stencil. */
export function translationSpec({ dims, periods, offsets, stencil }: Translations): TopologySpec {
  return { kind: 'stencil', dims, periods, neighbors: stencil ?? { offsets } }
}
