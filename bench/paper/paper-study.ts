import { makeStudy } from '../../src/study/make-study.js'
import type { Study } from '../../src/study/study.js'
import { mooreSettings, randomSettings, type Setting } from './chapter.js'
import { claimsOf } from './claims.js'
import { mooreHyperedges, randomHyperedges } from './hyperedge-counts.js'
import { linkedListCosts } from './linked-list-cost.js'
import type { PaperFigures, PaperStudy } from './paper-figures.js'
import { queueSpeedups } from './queue-speedups.js'
import { type NamedPattern, sparseProducts } from './sparse-products.js'

export interface PaperOptions {
  /** Matrices of the sparse products. */
  readonly matrices: readonly NamedPattern[]
  /** Of one strategy. */
  readonly planSeconds: number
  /** Milliseconds; only differences count. */
  readonly now: () => number
  readonly onSetting?: (what: string) => void
}

/** Takes some minutes. @throws as {@link makeStudy} */
export function paperStudy({ matrices, planSeconds, now, onSetting = () => {} }: PaperOptions): PaperStudy {
  const studied = ({ name, topology, machine, strategies, bytes }: Setting): Study =>
    makeStudy(topology(), machine, {
      name,
      strategies,
      bytes,
      planSeconds,
      now,
      onStrategy: (strategy) => onSetting(`${name}, ${strategy}`),
    })
  const settings = [...mooreSettings(), ...randomSettings()]
  const [moore, random] = [mooreSettings().map(studied), randomSettings().map(studied)]
  onSetting('matching queues')
  const data: PaperFigures = {
    mooreHyperedges: mooreHyperedges((name) => onSetting(`hyperedges, ${name}`)),
    randomHyperedges: randomHyperedges((name) => onSetting(`hyperedges, ${name}`)),
    moore,
    random,
    products: sparseProducts(matrices, { planSeconds, now, onSetting }),
    queues: queueSpeedups(settings, [...moore, ...random], onSetting),
    listCosts: linkedListCosts(now),
  }
  return { ...data, claims: claimsOf(data) }
}
