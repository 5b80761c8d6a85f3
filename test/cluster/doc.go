// Package cluster tests dump_syms and stackwalk on real engines: Slurm with three nodes
// on this machine, an S3 server, PySpark. `make cluster` runs the tests; they need the
// packages slurmctld, slurmd, slurm-client, and Python with moto and pyspark. The module
// is one of its own, because the S3 server has many dependencies.
package cluster
