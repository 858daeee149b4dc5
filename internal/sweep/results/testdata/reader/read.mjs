// Prints of a Parquet file, as JSON: how many rows it has, those with the numbers that are
// asked for, and the metadata that says what they are.
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'

const [name, ...numbers] = process.argv.slice(2)
const file = await asyncBufferFromFile(name)
const metadata = await parquetMetadataAsync(file)
const all = await parquetReadObjects({ file })
const rows = Object.fromEntries(numbers.map((i) => [i, all[i]]))
const about = Object.fromEntries((metadata.key_value_metadata ?? []).map(({ key, value }) => [key, value]))
const plain = (_, value) => (typeof value === 'bigint' ? Number(value) : value)
console.log(JSON.stringify({ count: all.length, rows, about }, plain))
