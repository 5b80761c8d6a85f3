#!/usr/bin/env bash
# Reports known vulnerabilities in what the programs call: govulncheck, with the database
# of vuln.go.dev, or of GOVULNDB. Without the database nothing is checked; the script says
# so and succeeds, unless VULN=required, as in the workflows, which have a network.
set -euo pipefail
cd "$(dirname "$0")/.."
db=${GOVULNDB:-https://vuln.go.dev}
if [[ $db == http* ]] && ! curl -fsS --max-time 20 -o /dev/null "$db/index/db.json"; then
	echo "NOT CHECKED: $db, the database of vulnerabilities, cannot be reached" >&2
	[ "${VULN:-}" != required ]
	exit
fi
go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 -db "$db" ./...
(cd scripts/release && go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 -db "$db" ./...)
