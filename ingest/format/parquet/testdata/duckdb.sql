-- DuckDB 1.5.6 (app/command/testdata/duckdb) wrote the files in this folder with these statements.
CREATE TABLE s AS SELECT * FROM (VALUES
 ('web', 'main', 'GET /', TIMESTAMP_NS '2024-05-01 10:00:00.000001001', TIMESTAMP_NS '2024-05-01 10:00:00.000011001', {'tenant': 'a', 'bytes': 12}, 'http', '{"n":1}'),
 ('web', 'main', 'parse', TIMESTAMP_NS '2024-05-01 10:00:00.000002001', TIMESTAMP_NS '2024-05-01 10:00:00.000005001', NULL, NULL, NULL),
 ('db', NULL, 'query', TIMESTAMP_NS '2024-05-01 10:00:00.000003001', TIMESTAMP_NS '2024-05-01 10:00:00.000004002', {'tenant': 'b', 'bytes': NULL}, 'sql', 'not JSON'),
 ('db', 'main', NULL, TIMESTAMP_NS '2024-05-01 10:00:00.000009001', NULL, NULL, NULL, NULL))
 t(service, thread, name, start, "end", request, category, args);
COPY s TO 'spans.parquet' (FORMAT parquet);
COPY (SELECT i AS ts, 5::INTEGER AS dur, 'f' || (i%3) AS "Name", (i%2)::SMALLINT AS tid, 7::UBIGINT AS pid, i/4::DOUBLE AS share, DATE '2024-05-01' AS day, (i/10)::DECIMAL(10,2) AS price, i%2=0 AS even FROM range(0, 200, 10) t(i)) TO 'units.parquet' (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE 2048);
COPY (SELECT (1714557600000000 + i*1000) AS time_us, CASE i%3 WHEN 0 THEN ['main','work'] WHEN 1 THEN ['main','work','inner'] WHEN 2 THEN NULL END AS stack, 't' || (i%2) AS thread, i*0.5 AS value FROM range(9) t(i)) TO 'samples.parquet' (FORMAT parquet, COMPRESSION gzip);
COPY (SELECT * FROM (VALUES ('main;work', 10, 1.5, 'x'), ('main;work;inner', 20, NULL, 'y'), ('main', -3, 0.25, NULL)) t(stack, allocated_bytes, self_ms, tenant)) TO 'stacks.parquet' (FORMAT parquet, COMPRESSION lz4_raw);
COPY (SELECT [{'function': 'main', 'line': 3}, {'function': 'work', 'line': i}] AS frames, i AS n FROM range(3) t(i)) TO 'structs.parquet' (FORMAT parquet, COMPRESSION snappy)
