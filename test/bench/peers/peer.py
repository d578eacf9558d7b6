"""What the peer programs share: the command line, the digest in SQL, memory, and the one line that each prints."""
import argparse
import json
import os
import pathlib
import time

HERE = pathlib.Path(__file__).resolve().parent
HOME = pathlib.Path(os.environ["PEERS_HOME"])

# The digest of digest.py over result tables `win` and `ses`; {van} is the van's number in the engine's dialect.
WINDOW_SUMS = """
    SELECT count(*), sum(distancia_mm), sum(posicions), sum(salts),
           sum({van} * (cast(floor(fi_ms / 60000) AS bigint) % 997 + 1) * ((distancia_mm + 31 * posicions + 1009 * salts) % 1000003))
    FROM win"""
SESSION_SUMS = """
    SELECT count(*), sum(posicions), sum({van} * (inici_ms % 86400000 + 3 * (fi_ms % 86400000) + 7 * posicions))
    FROM ses"""


def arguments(description):
    ap = argparse.ArgumentParser(description=description)
    ap.add_argument("parquet", help="day.parquet of make_day.py")
    ap.add_argument("--runs", type=int, default=3)
    ap.add_argument("--threads", type=int, default=os.cpu_count())
    return ap.parse_args()


def timed(runs, work, *pids):
    """Wall clock and processor seconds of each run, the latter of this process and of the given ones."""
    seconds, cpu_seconds = [], []
    for _ in range(runs):
        start, cpu_start = time.perf_counter(), cpu_time(*pids)
        work()
        seconds.append(round(time.perf_counter() - start, 3))
        cpu_seconds.append(round(cpu_time(*pids) - cpu_start, 3))
    return seconds, cpu_seconds


def cpu_time(*pids):
    """Processor seconds used so far by this process and by the given ones, all threads."""
    ticks = 0
    for pid in ("self", *pids):
        user, system = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        ticks += int(user) + int(system)
    return ticks / os.sysconf("SC_CLK_TCK")


def peak_rss_mb(*pids):
    """Largest resident set so far of this process and of the given ones, added."""
    total = 0
    for pid in ("self", *pids):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        total += int(status.split("VmHWM:")[1].split()[0])
    return total // 1024


def report(peer, version, rows, digest, seconds, cpu_seconds, boot_seconds, rss_mb, **more):
    parts = str(digest).split("/")
    print(json.dumps({"peer": peer, "version": version, "rows": rows, "windows": int(parts[0]), "sessions": int(parts[5]),
                      "digest": str(digest), "seconds": seconds, "cpu_seconds": cpu_seconds,
                      "boot_seconds": round(boot_seconds, 2), "peak_rss_mb": rss_mb, **more}), flush=True)
