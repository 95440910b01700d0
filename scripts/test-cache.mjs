// Loaded into every test process: modules that one has compiled and freed of types, the next 300 find. Saves a quarter
// of their CPU time. NODE_COMPILE_CACHE would do the same, but programs under test would inherit it.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tests'))
