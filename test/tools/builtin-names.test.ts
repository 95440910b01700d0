import assert from 'node:assert/strict'
import test from 'node:test'
import { BUILTIN_TOOLS, createRegistry, createServices, registerBuiltins } from '../../src/tools/index.ts'

test('the names that a policy may use without a runtime are those of the built-in tools, with their capabilities', () => {
  const services = createServices()
  services.register('loader', { hasSkills: () => true, names: () => ['a-skill'] })
  services.register('skillSearch', {})
  services.register('sandbox', {})
  const registry = createRegistry(services)
  registerBuiltins(registry)
  const real = registry.names.map((name) => [name, registry.get(name)?.options?.capabilities ?? []])
  const told = BUILTIN_TOOLS.map(({ name, options }) => [name, options?.capabilities ?? []])
  assert.deepEqual(new Map(told as [string, unknown][]), new Map(real as [string, unknown][]))
})
