// testing: public fakes and contract suites: clock, stores, sandbox, model server.
export { createFakeClock, type FakeClock } from './fake-clock.ts'
export type { ModelApi, ModelRequest, ModelScript, Reply } from './model-reply.ts'
export { type ModelServer, type ModelServerOptions, startModelServer } from './model-server.ts'
export { sandboxContract } from './sandbox-contract.ts'
export {
  createScriptedSandbox,
  type Script as SandboxScript,
  type ScriptedSandbox,
  type ScriptedSandboxOptions,
} from './scripted-sandbox.ts'
export { storeContract } from './store/contract.ts'
export { validateEnvelope } from './validate-envelope.ts'
