import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { estimateLine, estimateTokens } from '../../../src/skills/catalog/index.ts'

test('the tokens of a line are estimated without making it', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('日本', 'é', '😀'))
  fc.assert(
    fc.property(text, text, (name, description) => {
      assert.equal(estimateLine(name, description), estimateTokens(`- **${name}**: ${description}`))
    }),
  )
})
