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

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = Array.from(
  '"\\{}[]',
  (character) => character.charCodeAt(0),
)
