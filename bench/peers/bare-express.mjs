/** The least that an API which keeps a request can do: Express, one INSERT of the body's bytes, an answer. */
import express from 'express'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 })
pool.on('error', (error) => process.stderr.write(`${error}\n`))
await pool.query(
  'create table if not exists request (id bigint generated always as identity primary key, body jsonb not null)',
)

const app = express()
app.use(express.json())
app.post('/v1/meetings', async (request, response) => {
  const { rows } = await pool.query({
    name: 'insert',
    text: 'insert into request (body) values ($1) returning id',
    values: [JSON.stringify(request.body)],
  })
  response.status(201).json({ id: rows[0].id })
})
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('disconnect', () => {
  server.close()
  server.closeAllConnections()
  void pool.end()
})
