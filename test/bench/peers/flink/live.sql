-- Flink streaming: Kafka topic -> result records in a Kafka topic. Statements end with ;;
-- ${BOOTSTRAP}, ${TOPIC}, ${OUT} begin of the results' topics, ${THREADS}, ${CHECKPOINT} an interval, ${DIR} a folder for checkpoints, ${RUN}
SET 'execution.runtime-mode' = 'streaming';;
SET 'parallelism.default' = '${THREADS}';;
SET 'table.local-time-zone' = 'UTC';;
SET 'pipeline.auto-watermark-interval' = '200ms';;
SET 'execution.checkpointing.interval' = '${CHECKPOINT}';;
SET 'execution.checkpointing.mode' = 'EXACTLY_ONCE';;
-- To files: the job manager's memory, the default, takes 5 MB of state and fails the job beyond.
SET 'execution.checkpointing.storage' = 'filesystem';;
SET 'execution.checkpointing.dir' = 'file://${DIR}';;
SET 'state.backend.type' = 'hashmap';;
SET 'restart-strategy.type' = 'none';;
-- Keys of the deduplication are forgotten after this much wall clock time.
SET 'table.exec.state.ttl' = '1h';;

CREATE TABLE positions (
  repartidor STRING, lat DOUBLE, lon DOUBLE, data_ms BIGINT,
  event_time AS TO_TIMESTAMP_LTZ(data_ms, 3), arrival AS PROCTIME(),
  WATERMARK FOR event_time AS event_time - INTERVAL '45' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'topic' = '${TOPIC}', 'format' = 'json',
      'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');;

CREATE TABLE results (`key` STRING, `value` STRING)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'topic' = '${OUT}.${RUN}',
      'key.format' = 'raw', 'key.fields' = 'key', 'value.format' = 'raw', 'value.fields-include' = 'EXCEPT_KEY',
      'sink.delivery-guarantee' = 'at-least-once',
      'properties.linger.ms' = '20', 'properties.compression.type' = 'lz4');;

-- The first to arrive wins.
CREATE TEMPORARY VIEW kept AS
SELECT repartidor, data_ms, lat, lon, event_time
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY repartidor, data_ms ORDER BY arrival) AS nth FROM positions)
WHERE nth = 1;;

CREATE TEMPORARY VIEW point AS
SELECT repartidor, data_ms, lat, lon, event_time,
       LAG(data_ms) OVER van AS prev_ms, LAG(lat) OVER van AS prev_lat, LAG(lon) OVER van AS prev_lon
FROM kept WINDOW van AS (PARTITION BY repartidor ORDER BY event_time);;

CREATE TEMPORARY VIEW half AS
SELECT *, SIN((lat - prev_lat) * PI() / 180 / 2) AS a, SIN((lon - prev_lon) * PI() / 180 / 2) AS b, data_ms - prev_ms AS dt FROM point;;

CREATE TEMPORARY VIEW chord AS
SELECT *, a * a + b * b * COS(prev_lat * PI() / 180) * COS(lat * PI() / 180) AS h FROM half;;

CREATE TEMPORARY VIEW segment AS
SELECT repartidor, event_time, dt,
       CASE WHEN dt <= 180000 THEN CAST(FLOOR(2 * ATAN2(SQRT(h), SQRT(1 - h)) * 6371008.8E0 * 1000 + 0.5E0) AS BIGINT) END AS mm
FROM chord;;

CREATE TEMPORARY VIEW win AS
SELECT repartidor, 1000 * UNIX_TIMESTAMP(CAST(window_end AS STRING)) AS fi_ms, COUNT(*) AS posicions,
       COALESCE(SUM(mm) FILTER (WHERE mm <= 70 * dt), 0) AS distancia_mm, COUNT(*) FILTER (WHERE mm > 70 * dt) AS salts
FROM TABLE(HOP(TABLE segment, DESCRIPTOR(event_time), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
GROUP BY window_start, window_end, repartidor;;

CREATE TEMPORARY VIEW ses AS
SELECT repartidor, MIN(data_ms) AS inici_ms, MAX(data_ms) AS fi_ms, COUNT(*) AS posicions
FROM TABLE(SESSION(TABLE kept PARTITION BY repartidor, DESCRIPTOR(event_time), INTERVAL '3' MINUTE))
GROUP BY window_start, window_end, repartidor;;

EXECUTE STATEMENT SET BEGIN
INSERT INTO results
SELECT CONCAT_WS('|', 'distancia', repartidor, CAST(fi_ms AS STRING)),
       JSON_OBJECT('tipus' VALUE 'distancia', 'repartidor' VALUE repartidor, 'inici_ms' VALUE fi_ms - 300000, 'fi_ms' VALUE fi_ms,
                   'distancia_mm' VALUE distancia_mm, 'posicions' VALUE posicions, 'salts' VALUE salts)
FROM win;
INSERT INTO results
SELECT CONCAT_WS('|', 'sessio', repartidor, CAST(inici_ms AS STRING)),
       JSON_OBJECT('tipus' VALUE 'sessio', 'repartidor' VALUE repartidor, 'inici_ms' VALUE inici_ms, 'fi_ms' VALUE fi_ms, 'posicions' VALUE posicions)
FROM ses;
END;;
