import { killRounds } from '../agents/turns/kill-states.ts'
import { rounds } from './rounds.ts'

killRounds(rounds(200))
