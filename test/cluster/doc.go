// Package cluster tests the programs on real engines: Slurm with three nodes on this machine, S3 servers, PySpark,
// and the builders of packages. `make cluster` runs the tests; scripts/cluster.sh lists what they need. The recipes
// of docs/clusters.md are tested too; `go test -run Recipe` needs Slurm and the programs alone. The module is one of
// its own, because the S3 server, Kubernetes' types and the libraries of AWS and Google have many dependencies.
package cluster
