/** All fixtures of skills that call APIs, each with the line that check proposes. */
process.env['NEXUS_LAB_ALL'] = '1'
await import('../apps/cli/internet.test.ts')
