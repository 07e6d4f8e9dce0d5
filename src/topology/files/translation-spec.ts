import { requireOptions } from '../../base/require-options.js'
import type { Translations } from '../generate/translations.js'
import type { TopologySpec } from './spec-text.js'

/** The specification of the same graph as a stencil. */
export function translationSpec(translations: Translations): TopologySpec {
  requireOptions('translationSpec', translations)
  const { dims, periods, offsets, stencil } = translations
  return { kind: 'stencil', dims, periods, neighbors: stencil ?? { offsets } }
}
