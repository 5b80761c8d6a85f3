"""Walks crash dumps with stackwalk on Spark and writes a table of crashes (Parquet).

spark-submit spark.py STACKWALK DUMPS TABLE [SYMBOLS ...]

DUMPS is a text file with the path or URL of a dump on each line.
"""
import json
import shlex
import sys

from pyspark.sql import Row, SparkSession

stackwalk, dumps, table, *symbols = sys.argv[1:]
command = [stackwalk, "--worker", "-j", "1", "--no-elf"]
for source in symbols:
    command += ["--symbols", source]


def crash(line):
    """Returns a row of the table for an answer of the worker."""
    answer = json.loads(line)
    result = answer.get("result") or {}
    info = result.get("crash_info") or {}
    thread = result.get("crashing_thread") or {}
    frames = thread.get("frames") or []
    names = [f.get("function") or f.get("module") or "?" for f in frames]
    return Row(dump=answer["input"], status=answer["status"], error=answer.get("error"), reason=info.get("type"),
               address=info.get("address"), signature=" | ".join(names[:3]), frames=len(frames), result=json.dumps(result, sort_keys=True))


schema = "dump string, status string, error string, reason string, address string, signature string, frames int, result string"
spark = SparkSession.builder.appName("stackwalk").getOrCreate()
lines = spark.sparkContext.textFile(dumps, minPartitions=8)
answers = lines.pipe(shlex.join(command), checkCode=True)
spark.createDataFrame(answers.map(crash), schema).write.mode("overwrite").parquet(table)
spark.stop()
