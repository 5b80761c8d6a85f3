// Package cluster tests dump_syms and stackwalk on real engines: Slurm with three nodes
// on this machine, an S3 server, PySpark. `make cluster` runs the tests; they need the
// packages slurmctld, slurmd, slurm-client, and Python with moto and pyspark. The recipes of
// docs/clusters.md are tested too; `go test -run Recipe` needs Slurm and the programs alone.
// The module is one of its own, because the S3 server, Kubernetes' types and the libraries
// of AWS and Google have many dependencies.
package cluster
