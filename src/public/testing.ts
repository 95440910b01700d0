/** The entry `nexus-skills/testing`: fakes for what is outside a program, and suites that hold your own parts to our rules. */
export {
  createFakeClock,
  createScriptedSandbox,
  type ModelServer,
  sandboxContract,
  startModelServer,
  storeContract,
  validateEnvelope,
} from '../testing/index.ts'
