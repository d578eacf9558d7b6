#!/usr/bin/env bash
# `pnpm bench:setup`: gets the programs that `pnpm bench batch --peers` compares with, from PyPI and Maven Central, about 1.4 GB. May be run again.
# Needs Python 3.11 or newer with venv; for Flink a JDK 17 or newer, Maven and unzip: without them it is left out.
set -euo pipefail
cd "$(dirname "$0")"
export PEERS_HOME=${KM0_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/km0}/peers
mkdir -p "$PEERS_HOME"

echo "DuckDB, Polars, Spark" >&2
[ -x "$PEERS_HOME/venv/bin/python" ] || python3 -m venv "$PEERS_HOME/venv"
"$PEERS_HOME/venv/bin/pip" install -q --disable-pip-version-check -r requirements.txt

if ! command -v javac mvn unzip > /dev/null; then
  echo "no Flink: javac, mvn or unzip is not there" >&2
  exit 0
fi
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
