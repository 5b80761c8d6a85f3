#!/usr/bin/env bash
# Reports known vulnerabilities in what the programs, the release tool and the adapters call:
# govulncheck, with the database of vuln.go.dev, or of GOVULNDB: a URL, or a clone of
# https://github.com/golang/vulndb for machines that reach no other database. Without a
# database nothing is checked; the script says so and succeeds, unless VULN=required, as
# in the workflows, which have a network.
set -euo pipefail
cd "$(dirname "$0")/.."
db=${GOVULNDB:-https://vuln.go.dev}
# The clone has one file for each entry, in data/osv; govulncheck reads them as they are.
if [ -d "$db/data/osv" ]; then
	db=file://$(cd "$db/data/osv" && pwd)
fi
if [[ $db == http* ]] && ! curl -fsS --max-time 20 -o /dev/null "$db/index/db.json"; then
	echo "NOT CHECKED: $db, the database of vulnerabilities, cannot be reached" >&2
	[ "${VULN:-}" != required ]
	exit
fi
for module in . scripts/release adapters/*/; do
	echo "$module: known vulnerabilities, by $db"
	(cd "$module" && go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 -db "$db" ./...)
done
