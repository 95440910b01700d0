import { killRounds } from './kill-states.ts'

killRounds(1)
