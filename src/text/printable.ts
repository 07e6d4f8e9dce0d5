/** Text of a file as a message shows it: control characters and bytes that are not UTF-8 are escaped. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\ufffd]/gu, (character) => {
    const hex = character.codePointAt(0)!.toString(16)
    return hex.length > 2 ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`
  })
}
