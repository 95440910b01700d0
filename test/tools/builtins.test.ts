import assert from 'node:assert/strict'
import test from 'node:test'
import { createSkillSearch } from '../../src/skills/catalog/index.ts'
import { createScriptedSandbox } from '../../src/testing/index.ts'
import {
  AGENT_STATUS,
  BUILTIN_TOOLS,
  createRegistry,
  createServices,
  LOADER,
  registerBuiltins,
  SANDBOX,
  SKILL_SEARCH,
  WORKSPACE,
  WEB,
} from '../../src/tools/index.ts'
import { compileSchema } from '../../src/tools/json-schema.ts'
import { loaderOver } from './rig.ts'

test('the names that a policy may use without a runtime are those of the built-in tools, with their capabilities', async () => {
  const services = createServices()
  services.register(LOADER, await loaderOver())
  services.register(SKILL_SEARCH, createSkillSearch([]))
  services.register(SANDBOX, createScriptedSandbox())
  services.register(WORKSPACE, '/work')
  services.register(AGENT_STATUS, () => {
    throw new Error('never asked')
  })
  services.register(WEB, { search: { provider: 'brave' } })
  const registry = createRegistry(services)
  registerBuiltins(registry)
  const real = registry.names.map((name) => [name, registry.get(name)?.options?.capabilities ?? []] as const)
  const told = BUILTIN_TOOLS.map(({ name, options }) => [name, options?.capabilities ?? []] as const)
  assert.deepEqual(new Map(told), new Map(real))
  // Calls of our own tools do without this check.
  for (const name of registry.names) compileSchema(registry.get(name)!.parameters, false)
})
