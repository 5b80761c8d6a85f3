#!/usr/bin/env bash
# Lists the code that make corpus reaches and make test does not: what only large real
# files test. Such code should get a small test of its own, so the list should shrink: the
# script fails if the list is longer than it was (limit, in statements).
#
#   scripts/coverage.sh            needs the corpus; writes coverage/corpus-only.txt
#   scripts/coverage.sh test       only what make test reaches, by package
set -euo pipefail
cd "$(dirname "$0")/.."
out=coverage
limit=40
mkdir -p "$out"

# -coverpkg: a package is also tested by the tests of the packages that use it.
go test -pgo=off -coverpkg=./... -coverprofile="$out/test.cov" ./... >"$out/test.log"
go tool cover -func="$out/test.cov" | tail -1
if [ "${1:-}" != test ]; then
	export SYMKIT_CORPUS=${SYMKIT_CORPUS:-${XDG_CACHE_HOME:-$HOME/.cache}/symkit/corpus}
	# Left out is a test that takes longer than all others, of a reader that make test covers.
	go test -pgo=off -tags oracle -run '^TestCorpus' -skip '^TestCorpusLikeLibrary$' -timeout 120m -coverpkg=./... -coverprofile="$out/corpus.cov" ./... >"$out/corpus.log"
fi

# A block counts as reached if any test reached it. A line is: file:from.column,to.column
# statements count. Blocks that only the corpus reaches are summed up by function file.
python3 - "$out" "$limit" <<'PY'
import collections, os, re, sys

def blocks(path):
    reached, size = collections.Counter(), {}
    for line in open(path):
        m = re.match(r"symkit/(\S+):(\d+)\.\d+,(\d+)\.\d+ (\d+) (\d+)$", line)
        if m:
            key = (m[1], int(m[2]), int(m[3]))
            reached[key] += int(m[5])
            size[key] = int(m[4])
    return reached, size

def programs(key):
    return not key[0].startswith(("test/oracle", "test/soak", "test/testfile", "test/mutant", "scripts/"))

out = sys.argv[1]
test, size = blocks(os.path.join(out, "test.cov"))
share = collections.defaultdict(lambda: [0, 0])
for key in filter(programs, size):
    package = os.path.dirname(key[0])
    share[package][0] += size[key] if test[key] else 0
    share[package][1] += size[key]
for package, (reached, of) in sorted(share.items(), key=lambda s: s[1][0] / s[1][1]):
    print(f"{100 * reached / of:5.1f} %  {package}")

corpus = os.path.join(out, "corpus.cov")
if os.path.exists(corpus):
    there, sizes = blocks(corpus)
    only = sorted(key for key in filter(programs, there) if there[key] and not test[key])
    with open(os.path.join(out, "corpus-only.txt"), "w") as f:
        for name, first, last in only:
            print(f"{name}:{first}-{last}", file=f)
    statements = sum(sizes[key] for key in only)
    print(f"{statements} statements in {len(only)} blocks are reached by the corpus alone: {out}/corpus-only.txt")
    if statements > int(sys.argv[2]):
        sys.exit(f"coverage.sh: error: that is more than {sys.argv[2]}; give the new code a test in make test")
PY
