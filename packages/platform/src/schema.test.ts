import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { useDatabase } from '@aftercommit/testing'
import { getDMMF } from '@prisma/get-dmmf'
import { SCHEMA_NEEDED } from './schema.ts'

const database = useDatabase()
const inRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

/** The engine writes its own SQL and needs no model; partitions follow their parents. */
const tablesWithoutModel = [
  '_prisma_migrations',
  'outbox',
  'outbox_account_pause',
  'outbox_attempt',
  'outbox_dead',
  'outbox_decision',
  'outbox_history',
  'outbox_identity',
  'outbox_lane',
  'outbox_replica',
  'test_clock',
]

/** Every other table belongs to a tenant and says to which. */
const tablesWithoutTenant = [
  '_prisma_migrations',
  'outbox_account_pause',
  'outbox_lane',
  'outbox_replica',
  'test_clock',
]

interface Column {
  readonly type: string
  readonly nullable: boolean
}

type Schema = Readonly<Record<string, Readonly<Record<string, Column>>>>

const scalarTypes: Readonly<Record<string, string>> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Boolean: 'boolean',
  Float: 'double precision',
  Json: 'jsonb',
  Bytes: 'bytea',
}

const nativeTypes: Readonly<Record<string, string>> = {
  Uuid: 'uuid',
  Timestamptz: 'timestamp with time zone',
  Date: 'date',
  Json: 'json',
  SmallInt: 'smallint',
}

const known = (types: Readonly<Record<string, string>>, name: string): string => {
  const type = types[name]
  if (type === undefined) throw new Error(`this test does not know the type ${name} yet`)
  return type
}

/** The models as tables, by Prisma's own parser. */
const schemaOfModels = async (): Promise<Schema> => {
  const parsed = getDMMF({ datamodel: await readFile(inRoot('prisma/schema.prisma'), 'utf8') })
  if ('reason' in parsed) throw parsed.error
  return Object.fromEntries(
    parsed.datamodel.models.map((model) => [
      model.dbName ?? model.name,
      Object.fromEntries(
        model.fields
          .filter((field) => field.kind !== 'object')
          .map((field) => {
            const base = field.nativeType
              ? known(nativeTypes, field.nativeType[0])
              : known(scalarTypes, field.type)
            const column = { type: field.isList ? `${base}[]` : base, nullable: !field.isRequired }
            return [field.dbName ?? field.name, column]
          }),
      ),
    ]),
  )
}

const schemaOfDatabase = async (): Promise<Schema> => {
  const { rows } = await database.owner.query<{
    table: string
    column: string
    type: string
    nullable: boolean
  }>(
    `select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type,
       not a.attnotnull as nullable
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  )
  const schema: Record<string, Record<string, Column>> = {}
  for (const { table, column, type, nullable } of rows) (schema[table] ??= {})[column] = { type, nullable }
  return schema
}

test('the models and the migrated database agree, table by table and column by column', async () => {
  const tables = await schemaOfDatabase()
  const withModel = Object.fromEntries(
    Object.entries(tables).filter(([table]) => !tablesWithoutModel.includes(table)),
  )
  expect(withModel).toEqual(await schemaOfModels())
  expect(tablesWithoutModel.filter((table) => !(table in tables))).toEqual([])
})

test('every table says which tenant its rows belong to, but for those that belong to none', async () => {
  const without = Object.entries(await schemaOfDatabase())
    .filter(([, columns]) => columns.tenant_id?.type !== 'uuid' || columns.tenant_id.nullable)
    .map(([table]) => table)
  expect(without.sort()).toEqual(tablesWithoutTenant)
})

test('every table with a tenant, and every partition of one, has row-level security', async () => {
  const { rows } = await database.owner.query<{ table: string }>(
    `select c.relname as table from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relrowsecurity
       and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id')`,
  )
  expect(rows).toEqual([])
})

test('no policy opens a tenant’s rows, but the engine’s to the dispatcher and the operator’s to read them', async () => {
  const { rows } = await database.owner.query<{ policy: string }>(
    `select concat_ws(' ', tablename, policyname, array_to_string(roles, ','), cmd) as policy from pg_policies
     where schemaname = 'public' and not tablename = any($1)
       and not (coalesce(qual, with_check) like '%current_tenant()%'
                and coalesce(with_check, qual) like '%current_tenant()%')
     order by 1`,
    [tablesWithoutTenant],
  )
  const open = ['outbox', 'outbox_attempt', 'outbox_dead', 'outbox_history', 'outbox_identity'].flatMap(
    (table) => [
      `${table} engine aftercommit_dispatcher ALL`,
      `${table} operator_reads aftercommit_operator SELECT`,
    ],
  )
  // Nobody but the functions writes down what people decided.
  open.push('outbox_decision operator_reads aftercommit_operator SELECT')
  expect(rows.map(({ policy }) => policy)).toEqual(open.sort())
})

test('this build needs the newest migration that there is', async () => {
  const entries = await readdir(inRoot('prisma/migrations'), { withFileTypes: true })
  const newest = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .at(-1)
  expect(SCHEMA_NEEDED).toBe(newest)
})
