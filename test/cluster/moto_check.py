"""Makes a bucket, or compares its objects with the files of a store packed with gzip."""
import gzip
import hashlib
import os
import sys

import boto3

what, url, bucket, store = sys.argv[1:]
s3 = boto3.client("s3", endpoint_url=url, region_name="us-east-1",
                  aws_access_key_id="test", aws_secret_access_key="testsecret")
if what == "make":
    s3.create_bucket(Bucket=bucket)
    sys.exit()

files = {os.path.relpath(os.path.join(d, f), store) for d, _, fs in os.walk(store) for f in fs}
pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
keys = {o["Key"] for page in pages for o in page.get("Contents", [])}
assert keys == {"sym/" + f.removesuffix(".gz") for f in files}, keys ^ files
assert keys, "no objects"
for f in files:
    o = s3.get_object(Bucket=bucket, Key="sym/" + f.removesuffix(".gz"))
    data = o["Body"].read()
    text = gzip.decompress(data)
    assert data == open(os.path.join(store, f), "rb").read(), f
    assert o["ContentEncoding"] == "gzip" and o["ContentType"].startswith("text/plain"), f
    assert o["Metadata"].pop("symkit-write"), f
    assert o["Metadata"] == {"original_size": str(len(text)), "original_md5_hash": hashlib.md5(text).hexdigest()}, f
