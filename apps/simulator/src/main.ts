import { z } from 'zod'
import { startSimulator } from './server.ts'

const Port = z.coerce.number().int().min(0).max(65_535).default(0)
const { PORT, SMTP_PORT } = z.object({ PORT: Port, SMTP_PORT: Port }).parse(process.env)
const simulator = await startSimulator({ port: PORT, smtpPort: SMTP_PORT })
const { url, smtpUrl } = simulator
process.stdout.write(`${JSON.stringify({ type: 'listening', url, smtpUrl })}\n`)

const stop = () => void simulator.stop().then(() => process.exit(0))
process.once('SIGTERM', stop)
process.once('SIGINT', stop)
