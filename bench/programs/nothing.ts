/** Starts and ends. */
export default async function main() {
  return {}
}
