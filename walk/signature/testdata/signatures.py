# Reads crashes as JSON, one a line, and writes siggen's signature and proto signature of
# each. A crash with the key json_dump is a processed crash; siggen converts it.
import json
import sys

from siggen.generator import SignatureGenerator
from siggen.utils import convert_to_crash_data

generator = SignatureGenerator()
for line in sys.stdin:
    crash = json.loads(line)
    if "json_dump" in crash:
        crash = convert_to_crash_data(crash)
    result = generator.generate(crash)
    print(json.dumps([result.signature, result.extra.get("proto_signature", "")]))
