/** Deepest nesting in files: graphs, schedules, plans and profiles nest less. */
export const mostJsonDepth = 64

/**
 * Deepest nesting of arrays and objects in a text, as JSON; of a text that is not JSON, at least as deep as a
 * parser would get. `JSON.parse` takes up to 50 bytes per open bracket, so texts of others are looked at first.
 *
 * @param most where counting may end: deeper texts give `most + 1`
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
 * Commas between members and elements of a text, as JSON.
 *
 * @param most where counting may end: a text with more gives `most + 1`
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
 * Where the first object or list begins that has more than `most` characters, of the elements of lists of the
 * document and of its members that are objects; null where none has. Such a text is not parsed, as `{}` takes 20
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
