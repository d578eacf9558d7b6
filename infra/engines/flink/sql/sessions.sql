-- Spans in which a van was heard of with no pause above 3 minutes. README.md says where it differs from our own job.
SET 'table.local-time-zone' = 'UTC';

CREATE TABLE posicions (
  repartidor STRING,
  lat DOUBLE,
  lon DOUBLE,
  data_ms BIGINT,
  arribada TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,
  data AS TO_TIMESTAMP_LTZ(data_ms, 3),
  -- Flink closes a session one ms before its end, and we one ms after it. A clock that is ahead counts as the time of arrival.
  WATERMARK FOR data AS LEAST(TO_TIMESTAMP_LTZ(data_ms, 3), arribada) - INTERVAL '45.002' SECOND
) WITH (
  'connector' = 'kafka',
  'properties.bootstrap.servers' = '${brokers}',
  'properties.group.id' = 'km0-flink-sql-sessions',
  'topic' = 'repartiment.posicions',
  'scan.startup.mode' = 'earliest-offset',
  'scan.watermark.emit.strategy' = 'on-event',
  'format' = 'json',
  'json.ignore-parse-errors' = 'true'
);

CREATE TABLE sessions (
  clau STRING,
  tipus STRING,
  repartidor STRING,
  inici_ms BIGINT,
  fi_ms BIGINT,
  posicions BIGINT
) WITH (
  'connector' = 'kafka',
  'properties.bootstrap.servers' = '${brokers}',
  'topic' = '${results}',
  'key.format' = 'raw',
  'key.fields' = 'clau',
  'value.format' = 'json',
  'value.fields-include' = 'EXCEPT_KEY'
);

-- Heartbeats are in the log: they have no van, move the watermark and nothing else.
CREATE TEMPORARY VIEW furgonetes AS
SELECT repartidor, data_ms, data
FROM posicions
WHERE repartidor IS NOT NULL AND data_ms IS NOT NULL
  AND lat BETWEEN -90 AND 90 AND lon BETWEEN -180 AND 180 AND NOT (lat = 0 AND lon = 0)
  AND data <= arribada + INTERVAL '1' MINUTE AND data >= arribada - INTERVAL '7' DAY;

INSERT INTO sessions
SELECT CONCAT_WS('|', 'sessio', repartidor, CAST(inici_ms AS STRING)), 'sessio', repartidor, inici_ms, fi_ms, posicions
FROM (
  -- A point that came twice counts once.
  SELECT repartidor, MIN(data_ms) AS inici_ms, MAX(data_ms) AS fi_ms, COUNT(DISTINCT data_ms) AS posicions
  FROM TABLE(SESSION(TABLE furgonetes PARTITION BY repartidor, DESCRIPTOR(data), INTERVAL '3' MINUTE))
  GROUP BY window_start, window_end, repartidor
);
