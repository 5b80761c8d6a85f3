#!/usr/bin/env bash
# Fetches the packages that `make cluster` dumps: 323 program and debug packages of
# Debian, 170 MB, into the directory given. What is there is kept.
#
# Besides the packages, `make cluster` needs slurmctld, slurmd, slurm-client, munge's library, Java 17 and a Python
# with moto[server], boto3, pyspark and pyarrow.
set -euo pipefail
dir=${1:?the directory for the packages}
mkdir -p "$dir"
cd "$dir"
if [ "$(find . -name '*.deb' | wc -l)" -ge 300 ]; then
	exit 0
fi

# Debug packages by size, without those too small to have files, each with the packages that it describes.
names() { apt-cache search --names-only -- '-dbg$' | awk '{ print $1 }' | sort; }
# shellcheck disable=SC2046
apt-cache show --no-all-versions $(names) | awk '
	/^Package:/ { package = $2 }
	/^(Depends|Recommends|Suggests|Enhances):/ { depends[package] = depends[package] " " $0 }
	/^Size:/ { print $2, package, depends[package] }' | sort -n | awk '
	$1 > 20000 && $1 < 5000000 && n < 150 {
		print $2; n++
		while (match($0, /[a-z0-9.+-]+ \(= /)) {
			print substr($0, RSTART, RLENGTH - 4)
			$0 = substr($0, RSTART + RLENGTH)
		}
	}' | sort -u >list

# Small libraries make up the rest.
apt-cache dumpavail | awk '
	/^Package:/ { package = $2; library = 0 }
	/^Section: libs/ { library = 1 }
	/^Size:/ { if (library && $2 > 20000 && $2 < 60000) print package }' | sort -u |
	awk 'NR % 15 == 0 && n++ < 110' >>list
# Virtual packages, and those that this architecture does not have, are left out. (With `apt-cache policy | grep -q`
# for each, a package was sometimes left out: grep ends first, and pipefail takes the signal for a failure.)
sort -u list | xargs apt-cache policy >policies
awk '/^[^ ]/ { package = $1; sub(/:$/, "", package) } /^ +Candidate: [^(]/ { print package }' policies | xargs apt-get download
rm -f list policies
count=$(find . -name '*.deb' | wc -l)
if [ "$count" -lt 300 ]; then
	echo "$0: $count packages, want 300 or more; does apt's list of packages have Debian's main section?" >&2
	exit 1
fi
