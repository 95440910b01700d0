/** yaml: text to values, for frontmatter and nexus.yaml alike. The fast reader declines what it does not surely read. */
export { readYamlFast } from './fast.ts'
export { closingQuote } from './fast-values.ts'
export { keyText, readYamlFully, readYamlTree, type YamlFault, type YamlLimits, type YamlRead } from './full.ts'
export { SYNTAX, type SyntaxKind } from './syntax.ts'
