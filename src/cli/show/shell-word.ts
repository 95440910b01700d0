export { quotedWord as quoted, shellWord } from '../../kernel/index.ts'
