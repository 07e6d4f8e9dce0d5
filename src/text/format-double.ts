/** The shortest text that reads back as the same double, negative zero included. */
export function formatDouble(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}
