// The command line from source, as bin.cts starts it from dist.
import { main } from '../../src/cli/main.ts'

process.exitCode = await main(process.argv.slice(2), '0.0.0-test')
