// Runs statements of DuckDB. A file of statements is the first argument; they run in the
// current folder. Each further argument is a query, whose rows are printed as JSON: a line for
// each query, with whole numbers as they are.
const duckdb = require('@duckdb/node-api');
const fs = require('fs');

async function main(statements, queries) {
  const instance = await duckdb.DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '1GB' });
  const connection = await instance.connect();
  await connection.run(fs.readFileSync(statements, 'utf8'));
  for (const query of queries) {
    const rows = await connection.runAndReadAll(query);
    console.log(JSON.stringify(rows.getRowsJson()));
  }
}

main(process.argv[2], process.argv.slice(3)).catch((e) => {
  console.error(String(e));
  process.exit(1);
});
