import { z } from 'zod'
import { startSimulator } from './server.ts'

const { PORT } = z.object({ PORT: z.coerce.number().int().min(0).max(65_535).default(0) }).parse(process.env)
const simulator = await startSimulator({ port: PORT })
process.stdout.write(`${JSON.stringify({ type: 'listening', url: simulator.url })}\n`)

const stop = () => void simulator.stop().then(() => process.exit(0))
process.once('SIGTERM', stop)
process.once('SIGINT', stop)
