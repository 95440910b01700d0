/** The entry `nexus-skills/testing`: fakes for what is outside a program, and suites that hold your own parts to our rules. */
export {
  createFakeClock,
  createScriptedSandbox,
  type FakeClock,
  type ModelScript,
  type ModelServer,
  sandboxContract,
  type ScriptedSandbox,
  startModelServer,
  storeContract,
  validateEnvelope,
} from '../testing/index.ts'
