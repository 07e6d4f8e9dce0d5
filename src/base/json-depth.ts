/** The deepest nesting in files; graphs, schedules, plans and profiles nest less. */
export const mostJsonDepth = 64

/**
 * Returns the deepest nesting of arrays and objects in a JSON text; for a text that is not JSON, at least the depth
 * that a parser would reach. `JSON.parse` takes up to 50 bytes per open bracket, so this runs first on texts of other
 * programs.
 *
 * @param most the depth at which counting may end: deeper texts give `most + 1`
 */
export function jsonDepth(text: string, most = Infinity): number {
  let depth = 0
  let deepest = 0
  let isInText = false
  for (let at = 0; at < text.length && deepest <= most; at++) {
    const character = text.charCodeAt(at)
    if (character === quote) isInText = !isInText
    else if (isInText) at += character === backslash ? 1 : 0
    else if (character === openBrace || character === openBracket) deepest = Math.max(deepest, ++depth)
    else if (character === closeBrace || character === closeBracket) depth--
  }
  return deepest
}

/**
 * Counts the commas between members and elements of a JSON text.
 *
 * @param most the number at which counting may end: a text with more gives `most + 1`
 */
export function jsonCommas(text: string, most: number): number {
  let commas = 0
  let isInText = false
  for (let at = 0; at < text.length && commas <= most; at++) {
    const character = text.charCodeAt(at)
    if (character === quote) isInText = !isInText
    else if (isInText) at += character === backslash ? 1 : 0
    else if (character === comma) commas++
  }
  return commas
}

/**
 * Returns the start of the first object or list with more than `most` characters; null without one. It examines the
 * elements of the document's lists and its members that are objects. Such a text is not parsed, because `{}` takes 20
 * times its characters.
 */
export function longMemberAt(text: string, most: number): number | null {
  let [depth, begin, memberDepth] = [0, -1, 0]
  let isInText = false
  for (let at = 0; at < text.length; at++) {
    if (begin >= 0 && at - begin >= most) return begin
    const character = text.charCodeAt(at)
    if (character === quote) isInText = !isInText
    else if (isInText) at += character === backslash ? 1 : 0
    else if (character === openBrace || character === openBracket) {
      depth++
      if (begin < 0 && (depth === 3 || (depth === 2 && character === openBrace)))
        [begin, memberDepth] = [at, depth]
    } else if (character === closeBrace || character === closeBracket) {
      if (depth === memberDepth) begin = -1
      depth--
    }
  }
  return null
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket, comma] = Array.from(
  '"\\{}[],',
  (character) => character.charCodeAt(0),
)
