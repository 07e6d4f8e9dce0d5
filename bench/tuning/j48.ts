import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { columnOf, type TrainingCase } from '../../src/tuning/learning/training-cases.js'
import { settingLine, type TuningSetting } from '../../src/tuning/settings/setting.js'
import { type Attribute, isNumberAttribute } from '../../src/tuning/settings/tuning-call.js'

/** Debian's package `weka`. */
const jar = '/usr/share/java/weka.jar'

/** Why J48 cannot be run here, or null. */
export function missingWeka(): string | null {
  return existsSync(jar) ? null : `no ${jar}: install Debian's package weka`
}

/**
 * The tree of J48, Weka's C4.5, as lines of text without counts, in the form of `treeText`. Subtrees do not take the
 * place of their parents (`-S`), as in ours.
 *
 * @param confidencePercent null: not pruned
 */
export function j48Tree(
  cases: readonly TrainingCase[],
  settings: readonly TuningSetting[],
  attributes: readonly Attribute[],
  minCases: number,
  confidencePercent: number | null,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-j48-'))
  try {
    const file = join(folder, 'cases.arff')
    writeFileSync(file, arff(cases, settings, attributes))
    const pruning = confidencePercent === null ? ['-U'] : ['-S', '-C', String(confidencePercent / 100)]
    const words = ['-cp', jar, 'weka.classifiers.trees.J48', '-t', file, '-no-cv', '-M', String(minCases)]
    const output = execFileSync('java', [...words, ...pruning], { encoding: 'utf8', maxBuffer: 2 ** 26 })
    const [, tree = ''] = /-{10,}\n+([\s\S]*?)\n+Number of Leaves/.exec(output) ?? []
    return tree
      .replaceAll("'", '')
      .split('\n')
      .filter((line) => !line.endsWith('(0.0)'))
      .map(withoutCounts)
      .join('\n')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A line of a tree without the cases of a leaf. */
export function withoutCounts(line: string): string {
  return line.replace(/ \([\d./]+\)$/, '').replace(/^: /, '')
}

function arff(
  cases: readonly TrainingCase[],
  settings: readonly TuningSetting[],
  attributes: readonly Attribute[],
): string {
  const columns = attributes.map((attribute) => columnOf(cases, attribute))
  const won = [...new Set(cases.map(({ setting }) => setting))].sort((a, b) => a - b)
  const word = (text: string) => (text === '' ? '-' : text)
  const declared = columns.map(
    ({ attribute, words }) =>
      `@attribute ${attribute} ${isNumberAttribute(attribute) ? 'numeric' : `{${words.map(word).join(',')}}`}`,
  )
  const rows = cases.map(({ setting }, i) =>
    [
      ...columns.map(({ attribute, values, words }) =>
        isNumberAttribute(attribute) ? String(values[i]) : word(words[values[i]]),
      ),
      `'${settingLine(settings[setting])}'`,
    ].join(','),
  )
  const classes = won.map((setting) => `'${settingLine(settings[setting])}'`).join(',')
  return ['@relation cases', ...declared, `@attribute setting {${classes}}`, '@data', ...rows, ''].join('\n')
}
