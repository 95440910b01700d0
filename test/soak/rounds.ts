/** How long the rounds of this folder go on: `npm run test:long` sets TEST_ROUNDS to 20, `npm run soak` nothing. */
export function rounds(usual: number): number {
  const given = process.env['TEST_ROUNDS']
  if (given === undefined || given === '') return usual
  if (!/^[1-9]\d{0,5}$/.test(given)) throw new Error(`TEST_ROUNDS must be a whole number above 0, not ${given}`)
  return Number(given)
}
