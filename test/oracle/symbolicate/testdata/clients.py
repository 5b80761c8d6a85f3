"""What others make of a store of symbol files. The argument says who; a line of JSON is answered by a line of JSON.

symbolic DIR   a line is [name, id, [offset...]]; the answer has [[function, file, line, address]...], the innermost
               first, for each offset, as Eliot asks its library symbolic
bundle         a line is the path of a bundle of source files; the answer has what symbolic reads of it, the manifest and
               the texts by their paths
fx URL         a line is a crash in the schema of crash pings; the answer is its signature by fx-crash-sig
"""
import json
import os
import sys


def symbolic(directory):
    import symbolic
    for line in sys.stdin:
        name, debug_id, offsets = json.loads(line)
        path = os.path.join(directory, name, debug_id, name + ".sym")
        archive = symbolic.Archive.open(path)
        cache = archive.get_object(debug_id=symbolic.normalize_debug_id(debug_id)).make_symcache()
        answer = [[[s.symbol, s.full_path or "", s.line or 0, s.sym_addr] for s in cache.lookup(o)] for o in offsets]
        print(json.dumps(answer), flush=True)


def bundle(_):
    import symbolic
    import zipfile
    for line in sys.stdin:
        path = json.loads(line)
        obj = next(symbolic.Archive.open(path).iter_objects())
        with zipfile.ZipFile(path) as z:
            manifest = json.loads(z.read("manifest.json"))
            files = {f["path"]: z.read(place).decode() for place, f in manifest.pop("files").items()}
        answer = {"Kind": obj.file_format + " " + obj.kind, "Arch": obj.arch, "CodeID": obj.code_id, "DebugID": obj.debug_id,
                  "Features": sorted(obj.features), "Manifest": manifest, "Files": files}
        print(json.dumps(answer), flush=True)


def fx(url):
    from fx_crash_sig.crash_processor import CrashProcessor
    processor = CrashProcessor(api_url=url + "/symbolicate/v5")
    for line in sys.stdin:
        crash = json.loads(line)
        symbolicated = processor.symbolicate(crash)
        signature = processor.get_signature_from_symbolicated(symbolicated)
        print(json.dumps([signature.signature, symbolicated]), flush=True)


{"symbolic": symbolic, "bundle": bundle, "fx": fx}[sys.argv[1]](sys.argv[2])
