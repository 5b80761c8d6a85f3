#!/usr/bin/env bash
# Runs the programs on real engines, for `make cluster`: Slurm with three nodes on this machine, S3 servers, Spark;
# the recipes of docs/clusters.md; packages of five kinds; and both workers on thousands of damaged files.
#
#   cluster.sh [FLAG...]     flags of go test, as -run TestFaults
#
# Needs root (slurmd, a full disk), and on Debian: slurmctld slurmd slurm-client openjdk-17-jre-headless python3-venv
# rpm umoci file xz-utils zstd. PYTHON names a Python with the modules of scripts/cluster-requirements.txt, if the
# script is not to install them (1 GB). SYMKIT_PACKAGES names the directory of the packages (170 MB).
set -euo pipefail
cd "$(dirname "$0")/.."

missing=""
for program in slurmctld slurmd sbatch java python3 rpmbuild umoci dpkg-deb file xz zstd; do
	command -v "$program" >/dev/null || missing="$missing $program"
done
if [[ -n $missing ]]; then
	printf 'cluster.sh: not installed:%s; the comment in scripts/cluster.sh lists the packages of Debian\n' "$missing" >&2
	exit 1
fi

cache=${XDG_CACHE_HOME:-$HOME/.cache}/symkit
export SYMKIT_PACKAGES=${SYMKIT_PACKAGES:-$cache/cluster}
scripts/cluster-packages.sh "$SYMKIT_PACKAGES"

# The environment is made anew when the list of modules has changed.
if [[ -z ${PYTHON:-} ]]; then
	venv=$cache/cluster-python
	if ! cmp -s scripts/cluster-requirements.txt "$venv/requirements.txt"; then
		rm -rf "$venv"
		python3 -m venv "$venv"
		"$venv/bin/pip" install -q --no-cache-dir -r scripts/cluster-requirements.txt
		cp scripts/cluster-requirements.txt "$venv/requirements.txt"
	fi
	PYTHON=$venv/bin/python
fi
export PYTHON

CGO_ENABLED=0 go build -pgo=off -o bin/ ./cmd/...
(cd test/cluster && CGO_ENABLED=0 go build -o ../../bin/ github.com/versity/versitygw/cmd/versitygw)
go run ./test/soak -bin bin -n 0 -bomb - -workers 5000

# Most tests of faults wait most of the time.
cd test/cluster
go vet ./...
go test -count=1 -timeout 60m -parallel 8 -v "$@" ./...
