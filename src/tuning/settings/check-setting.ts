import { type ErrorCode, wrongValue } from '../../errors.js'
import { type Collective, collectives, isNeighborCollective } from '../../schedule/specification.js'
import type { TuningSetting } from './setting.js'

/** The limits of a setting: 8 parameters, integers from 0 to 2^40, a radix from 2. */
export const settingLimits = { parameters: 8, value: 2 ** 40, radix: 2 } as const

/** The collectives whose settings can be decided for: all but the ones over a topology. */
export const decidedCollectives: readonly Collective[] = collectives.filter(
  (name) => !isNeighborCollective(name),
)

const algorithmPattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
const parameterPattern = /^[a-z][A-Za-z0-9_]{0,31}$/

/**
 * Checks the members of a setting that came from a file.
 *
 * @param where the file and line, for messages
 * @throws code for a member that is missing or out of range
 */
export function checkSetting(
  members: Readonly<Record<string, unknown>>,
  where: string,
  code: ErrorCode,
): asserts members is Readonly<Record<string, unknown>> & TuningSetting {
  const { collective, algorithm, parameters } = members
  if (!(decidedCollectives as readonly unknown[]).includes(collective))
    throw wrongValue(code, `${where}: expected collective among ${decidedCollectives.join(', ')}`, collective)
  if (typeof algorithm !== 'string' || !algorithmPattern.test(algorithm))
    throw wrongValue(code, `${where}: expected algorithm as a name of at most 64 characters`, algorithm)
  const { parameters: most, value: mostValue } = settingLimits
  const isObject = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters)
  if (!isObject || Object.keys(parameters).length > most) {
    const got = isObject ? Object.keys(parameters).length : parameters
    throw wrongValue(code, `${where}: expected parameters as an object of at most ${most}`, got)
  }
  for (const [name, value] of Object.entries(parameters)) {
    if (!parameterPattern.test(name))
      throw wrongValue(code, `${where}: expected names of parameters in camel case`, name)
    const leastValue = name === 'radix' ? settingLimits.radix : 0
    if (!Number.isSafeInteger(value) || value < leastValue || value > mostValue)
      throw wrongValue(
        code,
        `${where}: expected parameter ${name} as an integer from ${leastValue} to ${mostValue}`,
        value,
      )
  }
}
