"""Compares a table of crashes with the reports of stackwalk --out, and counts the rows."""
import json
import os
import sys

import pyarrow.parquet as parquet

table, reports, count = sys.argv[1:]
rows = parquet.read_table(table).to_pylist()
assert len(rows) == int(count), f"{len(rows)} rows, want {count}"
failed = 0
for row in rows:
    report = os.path.join(reports, os.path.basename(row["dump"]) + ".json")
    if row["status"] == "failed":
        failed += 1
        assert not os.path.exists(report), f"{row['dump']}: {row['error']}"
        continue
    with open(report, encoding="utf-8") as f:
        assert json.loads(row["result"]) == json.load(f), row["dump"]
print(f"{len(rows)} rows, {failed} of them failed")
