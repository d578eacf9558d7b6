#!/usr/bin/env bash
# `pnpm bench:setup`: gets the programs that `pnpm bench … --peers` compares with, from PyPI, Maven Central and Go's module proxy, about 1.5 GB.
# May be run again. Needs Python 3.11 or newer with venv; for Flink and Kafka Streams a JDK 17 or newer, Maven and unzip, for Telegraf Go: what
# cannot be had is left out and said.
set -euo pipefail
cd "$(dirname "$0")"
export PEERS_HOME=${KM0_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/km0}/peers
mkdir -p "$PEERS_HOME"

echo "DuckDB, Polars, Spark" >&2
[ -x "$PEERS_HOME/venv/bin/python" ] || python3 -m venv "$PEERS_HOME/venv"
"$PEERS_HOME/venv/bin/pip" install -q --disable-pip-version-check -r requirements.txt

if command -v go > /dev/null; then
  peer=$(pwd)/telegraf
  if [ ! -x "$PEERS_HOME/telegraf/telegraf" ]; then
    echo "Telegraf, built from source" >&2
    mkdir -p "$PEERS_HOME/telegraf"
    cp "$peer/tools.go" "$PEERS_HOME/telegraf/"
    (
      cd "$PEERS_HOME/telegraf"
      [ -f go.mod ] || go mod init peerbridge
      go get github.com/influxdata/telegraf@v1.37.2
      go build -mod=mod -trimpath -ldflags '-s -w' -tags custom,inputs.mqtt_consumer,outputs.kafka,parsers.value,serializers.template \
        -o telegraf github.com/influxdata/telegraf/cmd/telegraf
    )
  fi
else
  echo "no Telegraf: go is not there" >&2
fi

if ! command -v javac > /dev/null || ! command -v mvn > /dev/null || ! command -v unzip > /dev/null; then
  echo "no Flink, no Kafka Streams: javac, mvn or unzip is not there" >&2
  exit 0
fi
echo "Kafka Streams 4.4.0" >&2
streams=$PEERS_HOME/kafka-streams
mkdir -p "$streams/jars" "$streams/classes"
mvn -q -B -f kafka-streams/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$streams/jars"
javac -cp "$streams/jars/*" -d "$streams/classes" kafka-streams/KStreams.java
flink=2.3.0
jars=$PEERS_HOME/jars
mkdir -p "$jars" "$PEERS_HOME/classes" "$PEERS_HOME/wheels"
echo "Flink $flink" >&2
mvn -q -B -f flink/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$jars"
if [ ! -e "$jars/flink-dist-$flink.jar" ]; then
  "$PEERS_HOME/venv/bin/pip" download -q --no-deps -d "$PEERS_HOME/wheels" apache-flink-libraries==$flink
  unzip -q -o -j "$PEERS_HOME"/wheels/apache_flink_libraries-$flink-*.whl 'pyflink/lib/*.jar' -d "$jars"
fi
# Flink's Parquet format wants Hadoop's client, which pyspark brings along.
cp -n "$PEERS_HOME"/venv/lib/python3*/site-packages/pyspark/jars/hadoop-client-{api,runtime}-*.jar "$jars/"
javac -cp "$jars/*" -d "$PEERS_HOME/classes" flink/FlinkSql.java
echo "ready: $PEERS_HOME" >&2
