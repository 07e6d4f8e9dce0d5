/**
 * Characters that change what stands around them: control and format characters (which reverse text, for instance), other
 * line ends than a line feed's, and halves of characters.
 */
const unprintable = '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}'
const line = new RegExp(`^[^${unprintable}]*$`, 'u')
const escaped = new RegExp(`[${unprintable}\ufffd]`, 'gu')

/** Tells whether a message can show a text unchanged within a line. */
export function isPrintable(text: string): boolean {
  return line.test(text)
}

/** Text of a file as a message shows it: what is not printable, and bytes that are not UTF-8, are escaped. */
export function printable(text: string): string {
  return text.replaceAll(escaped, escapeOf)
}

/** The same for text of several lines, in which line feeds and tabs remain. */
export function printableLines(text: string): string {
  return text.replaceAll(escaped, (character) => (/[\n\t]/.test(character) ? character : escapeOf(character)))
}

function escapeOf(character: string): string {
  const hex = character.codePointAt(0)!.toString(16)
  return hex.length > 2 ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`
}

/**
 * Text of an element or an attribute of XML or HTML; characters that XML does not allow, and tabs and line
 * ends, become spaces.
 */
export function escapeXml(text: string): string {
  return text
    .replace(/[\p{Cc}\ufffe\uffff]/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** A word of a line for a shell, in quotes where the shell would not take it as it is. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** The shortest text that reads back as the same double, negative zero included. */
export function formatDouble(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}
