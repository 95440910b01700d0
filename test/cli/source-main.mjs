// The command line from source, as bin.cts starts it from dist. What Node makes of the sources is kept: that is two
// thirds of a start, and the tests start it some hundred times.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/nexus-source', import.meta.url)))
const { main } = await import('../../src/cli/main.ts')

process.exitCode = await main(process.argv.slice(2), '0.0.0-test')
