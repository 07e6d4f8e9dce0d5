import { escapeOf, unprintable } from '../errors.js'

const line = new RegExp(`^[^${unprintable}]*$`, 'u')
const escaped = new RegExp(`[${unprintable}\ufffd]`, 'gu')

/** Whether a message can show a text unchanged within a line. */
export function isPrintable(text: string): boolean {
  return line.test(text)
}

/**
 * Returns the text of a file as a message shows it: it escapes unprintable characters, and bytes that are not UTF-8.
 */
export function printable(text: string): string {
  return text.replaceAll(escaped, escapeOf)
}

/** Escapes as {@link printable} does, but keeps the line feeds and tabs of text of several lines. */
export function printableLines(text: string): string {
  return text.replaceAll(escaped, (character) => (/[\n\t]/.test(character) ? character : escapeOf(character)))
}

/**
 * Escapes the text of an element or an attribute of XML or HTML. Characters that XML does not allow, and tabs and line
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

/** Returns a word of a line for a shell, in quotes if the shell needs them. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/**
 * Prints a share, 0 to 1, as percent.
 *
 * @param digits after the point; default: one below 10%, none above
 */
export function percentText(share: number, digits = share < 0.1 ? 1 : 0): string {
  return `${(100 * share).toFixed(digits)}%`
}

/** Returns the shortest text that reads back as the same double, negative zero included. */
export function formatDouble(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}
