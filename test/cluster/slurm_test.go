package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slurmConfig is a cluster of three nodes on this machine, without authentication.
const slurmConfig = `
ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[3]s
AuthType=auth/none
CryptoType=crypto/openssl
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool.%%n
SlurmctldPidFile=%[2]s/ctld.pid
SlurmdPidFile=%[2]s/slurmd.%%n.pid
SlurmctldLogFile=%[2]s/ctld.log
SlurmdLogFile=%[2]s/slurmd.%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=30
InactiveLimit=0
KillWait=5
JobRequeue=1
NodeName=n1 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[4]s CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[5]s CPUs=1 State=UNKNOWN
NodeName=n3 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[6]s CPUs=1 State=UNKNOWN
PartitionName=all Nodes=n1,n2,n3 Default=YES MaxTime=INFINITE State=UP
`

// slurm is a running cluster.
type slurm struct {
	dir, config string
	nodes       map[string]*exec.Cmd
}

func startSlurm(t *testing.T) *slurm {
	t.Helper()
	s := &slurm{dir: t.TempDir(), nodes: map[string]*exec.Cmd{}}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	var ports []string
	for range 4 {
		ports = append(ports, free(t)[len("127.0.0.1:"):])
	}

	s.config = filepath.Join(s.dir, "slurm.conf")
	text := fmt.Sprintf(strings.ReplaceAll(slurmConfig, "CredType=cred/none\nCryptoType", "CryptoType"), host, s.dir, ports[0], ports[1], ports[2], ports[3])
	text = strings.Replace(text, "CryptoType=crypto/openssl\nCredType=cred/none\n", "CredType=cred/none\n", 1)
	for _, name := range []string{"state", "spool.n1", "spool.n2", "spool.n3"} {
		if err := os.Mkdir(filepath.Join(s.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(s.config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}

	run(t, exec.Command("slurmctld", "-D", "-f", s.config))
	wait(t, "127.0.0.1:"+ports[0])
	for _, node := range []string{"n1", "n2", "n3"} {
		cmd := exec.Command("slurmd", "-D", "-N", node, "-f", s.config)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		run(t, cmd)
		s.nodes[node] = cmd
	}
	return s
}

// ask runs a client of Slurm and returns its output.
func (s *slurm) ask(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+s.config)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s: %v: %s", cmd, err, out)
	}
	return string(out)
}

// kill ends a node with signal 9: its slurmd and everything that slurmd started.
func (s *slurm) kill(t *testing.T, node string) {
	t.Helper()
	cmd := s.nodes[node]
	_ = cmd.Process.Kill()

	// The steps are in process groups of their own; their command line names the node's
	// directory, and the children of the step are its tasks.
	out, err := exec.Command("ps", "-eo", "pid,ppid,args").Output()
	if err != nil {
		t.Fatal(err)
	}
	children := map[string][]string{}
	var steps []string
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		children[f[1]] = append(children[f[1]], f[0])
		environ, _ := os.ReadFile("/proc/" + f[0] + "/environ") // of a process that may be gone
		if bytes.Contains(environ, []byte("SLURMD_NODENAME="+node+"\x00")) && bytes.Contains(environ, []byte(s.dir)) {
			steps = append(steps, f[0], f[1])
		}
	}
	for len(steps) > 0 {
		pid := steps[0]
		steps = append(steps[1:], children[pid]...)
		if name, err := os.ReadFile("/proc/" + pid + "/comm"); err == nil && !strings.HasPrefix(string(name), "slurmctld") && pid != "1" && pid != fmt.Sprint(os.Getpid()) {
			t.Logf("kill -9 %s (%s)", pid, strings.TrimSpace(string(name)))
			_ = exec.Command("kill", "-9", pid).Run() // it may be gone
		}
	}
}

// TestSlurm: an array of tasks dumps packages into a bucket, and one of three nodes is
// killed. The bucket equals the store of one machine, each object was made once, and no
// reader saw a part of one.
func TestSlurm(t *testing.T) {
	list := packages(t, 300)
	work := t.TempDir()
	store := filepath.Join(work, "store")
	paths := filepath.Join(work, "list")
	if err := os.WriteFile(paths, []byte(strings.Join(list, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	messages, err := dump(t, os.Environ(), "-s", store, "--files-from", paths)
	if err != nil {
		t.Fatalf("%v: %s", err, messages)
	}
	t.Logf("one machine: %v: %s", time.Since(began), messages[strings.LastIndex(strings.TrimSpace(messages), "\n")+1:])
	want := tree(t, store)

	g := start(t)
	s := startSlurm(t)
	script := filepath.Join(work, "job.sh")
	text := fmt.Sprintf("#!/bin/sh\nexec %s -j 1 --memory 2G --shard auto -s s3://%s/sym --files-from %s\n",
		filepath.Join(programs(t), "dump_syms"), bucket, paths)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	cmd := exec.Command("sbatch", "--array=1-6", "--requeue", "-o", work+"/out.%a", "--export=ALL", script)
	cmd.Env = g.env("SLURM_CONF=" + s.config)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	// A reader polls: each object that has a name has all its bytes.
	killed, polls := false, 0
	data := filepath.Join(g.dir, bucket, "sym")
	for end := time.Now().Add(20 * time.Minute); ; time.Sleep(500 * time.Millisecond) {
		polls++
		if _, err := os.Stat(data); err == nil {
			got := tree(t, data)
			for name, bytesNow := range got {
				if !bytes.Equal(bytesNow, want[name]) {
					t.Fatalf("%s: %d bytes were visible, want %d", name, len(bytesNow), len(want[name]))
				}
			}
			if len(got) > len(want)/4 && !killed {
				killed = true
				t.Logf("%d of %d objects: node n2 dies", len(got), len(want))
				s.kill(t, "n2")
			}
		}
		queue := strings.TrimSpace(s.ask(t, "squeue", "-h", "-o", "%i %T %R %N"))
		if queue == "" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the queue is not empty: %s", queue)
		}
	}
	t.Logf("Slurm: %v, %d polls", time.Since(began), polls)
	if !killed {
		t.Error("no node was killed")
	}

	// The task of the dead node ran again, so there are as many summaries as shards.
	summary := regexp.MustCompile(`dump_syms: shard ([1-6]/6): \d+ modules`)
	for i := range 6 {
		out, err := os.ReadFile(fmt.Sprintf("%s/out.%d", work, i+1))
		if err != nil || !summary.Match(out) {
			t.Errorf("shard %d: %v: %.2000s", i+1, err, out)
		}
	}
	g.compare(t, "sym", store)
	g.once(t, "sym", store)
}
