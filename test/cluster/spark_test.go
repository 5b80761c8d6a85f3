package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSpark: two executors, each a process, walk 5,000 dumps with stackwalk's worker. The
// table equals the reports of the batch mode. Some of the dumps are damaged; those end no
// worker.
func TestSpark(t *testing.T) {
	const count = 5000
	python := python()
	work := t.TempDir()
	dumps := filepath.Join(work, "dumps")
	if err := os.Mkdir(dumps, 0o777); err != nil {
		t.Fatal(err)
	}

	// The dumps are minidumps of the test data under many names; every tenth is damaged.
	var sources []string
	for _, pattern := range []string{"../../cmd/stackwalk/testdata/*/*.dmp", "../../walk/minidump/testdata/*.dmp", "../../walk/testdata/*.dmp"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, found...)
	}
	if len(sources) == 0 {
		t.Fatal("no minidumps in the test data")
	}
	var list []string
	for i := range count {
		data, err := os.ReadFile(sources[i%len(sources)])
		if err != nil {
			t.Fatal(err)
		}
		if i%10 == 0 {
			data = data[:len(data)*(i%97)/97]
		}
		if i%10 == 5 && len(data) > 0 {
			data[i%len(data)] ^= 0xff
		}
		path := filepath.Join(dumps, fmt.Sprintf("%d.dmp", i))
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		list = append(list, path)
	}
	names := filepath.Join(work, "list")
	if err := os.WriteFile(names, []byte(strings.Join(list, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}

	// The batch mode fails for the damaged dumps and writes all others.
	stackwalk := filepath.Join(programs(t), "stackwalk")
	symbols, reports := t.TempDir(), filepath.Join(work, "reports")
	batch := exec.Command(stackwalk, append([]string{"--no-elf", "--symbols", symbols, "--format=json", "--out", reports}, list...)...)
	if out, err := batch.CombinedOutput(); err != nil && batch.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %.2000s", err, out)
	}

	began := time.Now()
	table := filepath.Join(work, "table")
	home, err := exec.Command(python, "-c", "import pyspark; print(pyspark.__path__[0])").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(strings.TrimSpace(string(home)), "bin", "spark-submit"),
		"--master", "local-cluster[2,1,1024]", "--conf", "spark.executor.memory=512m", "--driver-memory", "512m", "spark.py",
		stackwalk, names, table, symbols)
	cmd.Env = append(os.Environ(), "PYSPARK_PYTHON="+python, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_HOME="+strings.TrimSpace(string(home)))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out[max(len(out)-4000, 0):])
	}
	t.Logf("Spark: %v", time.Since(began))

	out, err := exec.Command(python, "spark_check.py", table, reports, fmt.Sprint(count)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%s", out)
}
