#!/usr/bin/env python3
"""Flink SQL, batch, in an in-process cluster: Parquet file -> files of windows and sessions. Prints one JSON line."""
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import time

import digest
import peer

VERSION = "2.3.0"
FLINK = peer.HERE / "flink"


def main():
    a = peer.arguments(__doc__)
    out = peer.HOME / "out"
    shutil.rmtree(out, ignore_errors=True)
    command = ["java", "-Xmx4g", f"@{FLINK}/jvm-opens", f"-Dlog4j2.configurationFile={FLINK}/log4j2.properties",
               "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", f"{peer.HOME}/classes:{peer.HOME}/jars/*", "FlinkSql",
               FLINK / "batch.sql", a.runs, f"IN={pathlib.Path(a.parquet).resolve()}", f"OUT={out}", f"THREADS={a.threads}"]
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], env={**os.environ, "FLINK_CONF_DIR": str(FLINK)}, text=True, encoding="utf-8",
                               stdout=subprocess.PIPE)
    seconds, cpu_seconds, rss = [], [], 0
    for line in process.stdout:
        if line.startswith("run "):
            _, _, wall, cpu = line.split()
            seconds.append(float(wall))
            cpu_seconds.append(float(cpu))
            rss = peer.peak_rss_mb(process.pid)
        else:
            print(line, end="", file=sys.stderr)
    if process.wait() != 0:
        sys.exit(f"Flink ended with {process.returncode}")
    boot = time.perf_counter() - start - sum(seconds)
    files = glob.glob(f"{out}/{a.runs}/*/*")
    result = digest.of_lines(line for file in files for line in open(file, encoding="utf-8"))
    shutil.rmtree(out, ignore_errors=True)
    peer.report("flink", VERSION, 0, result, seconds, cpu_seconds, boot, rss, threads=a.threads)


if __name__ == "__main__":
    main()
