-- Windows of 5 minutes in which a product's stock in a market was below 10. README.md says where it differs from our own job.
SET 'table.local-time-zone' = 'UTC';

CREATE TABLE esdeveniments (
  tipus STRING,
  id STRING,
  data_ms BIGINT,
  dades ROW<producte STRING, mercat STRING, estoc_actual BIGINT>,
  arribada TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,
  data AS TO_TIMESTAMP_LTZ(data_ms, 3),
  -- Flink closes a window one ms before its end: hence the odd one. A clock that is ahead counts as the time of arrival.
  WATERMARK FOR data AS LEAST(TO_TIMESTAMP_LTZ(data_ms, 3), arribada) - INTERVAL '2:00.001' MINUTE TO SECOND
) WITH (
  'connector' = 'kafka',
  'properties.bootstrap.servers' = '${brokers}',
  'properties.group.id' = 'km0-flink-sql-low-stock',
  'topic' = 'comandes.esdeveniments',
  'scan.startup.mode' = 'earliest-offset',
  'scan.watermark.emit.strategy' = 'on-event',
  'format' = 'json',
  'json.ignore-parse-errors' = 'true'
);

CREATE TABLE alertes (
  clau STRING,
  producte STRING,
  mercat STRING,
  inici_ms BIGINT,
  fi_ms BIGINT,
  estoc_minim BIGINT,
  actualitzacions BIGINT
) WITH (
  'connector' = 'kafka',
  'properties.bootstrap.servers' = '${brokers}',
  'topic' = '${results}',
  'key.format' = 'raw',
  'key.fields' = 'clau',
  'value.format' = 'json',
  'value.fields-include' = 'EXCEPT_KEY'
);

-- Heartbeats and other events are in the log: they move the watermark and nothing else.
CREATE TEMPORARY VIEW estoc AS
SELECT dades.producte AS producte, dades.mercat AS mercat, dades.estoc_actual AS estoc_actual, id, data
FROM esdeveniments
WHERE tipus = 'estoc.actualitzat' AND data_ms IS NOT NULL
  AND dades.producte IS NOT NULL AND dades.mercat IS NOT NULL AND dades.estoc_actual IS NOT NULL
  AND data <= arribada + INTERVAL '1' MINUTE AND data >= arribada - INTERVAL '7' DAY;

INSERT INTO alertes
SELECT
  CONCAT_WS('|', CAST(inici_ms AS STRING), producte, mercat), producte, mercat, inici_ms, inici_ms + 300000, estoc_minim, actualitzacions
FROM (
  SELECT
    producte,
    mercat,
    1000 * UNIX_TIMESTAMP(CAST(window_start AS STRING)) AS inici_ms,
    MIN(estoc_actual) AS estoc_minim,
    -- Events of equal id count once, those without one by themselves.
    COUNT(DISTINCT id) + COUNT(*) FILTER (WHERE id IS NULL) AS actualitzacions
  FROM TABLE(TUMBLE(TABLE estoc, DESCRIPTOR(data), INTERVAL '5' MINUTE))
  GROUP BY window_start, window_end, producte, mercat
)
WHERE estoc_minim < 10;
