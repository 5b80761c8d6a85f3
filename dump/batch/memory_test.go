package batch

import (
	"testing"
	"testing/fstest"
)

// cgroups(7), proc(5).
func TestDefaultBudget(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		name  string
		files map[string]string
		want  int64 // before a quarter is left to others
	}{
		{"nothing known", nil, unknownMemory},
		{"machine", map[string]string{"proc/meminfo": "MemTotal:  9999 kB\nMemAvailable:    4096 kB\n"}, 4 * mib},
		{"meminfo of an old kernel", map[string]string{"proc/meminfo": "MemTotal:  9999 kB\n"}, unknownMemory},
		{"meminfo damaged", map[string]string{"proc/meminfo": "MemAvailable: much\nMemAvailable:"}, unknownMemory},
		{"version 2", map[string]string{
			"proc/meminfo": "MemAvailable:    4096 kB\n", "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "2097152\n",
		}, 2 * mib},
		{"version 2, a container", map[string]string{
			"proc/self/cgroup": "0::/../../elsewhere\n", "sys/fs/cgroup/memory.max": "3145728\n",
		}, 3 * mib},
		{"version 1", map[string]string{
			"proc/self/cgroup": "12:cpu,cpuacct:/x\n4:memory:/docker/0\n",
			"sys/fs/cgroup/memory/docker/0/memory.limit_in_bytes": "1048576\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":          "9223372036854771712\n",
		}, mib},
		{"version 1, a container", map[string]string{
			"proc/self/cgroup": "4:hugetlb,memory:/docker/0\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1048576\n",
		}, mib},
		{"another controller", map[string]string{
			"proc/self/cgroup": "4:memory2:/\nnonsense\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1048576\n",
		}, unknownMemory},
	} {
		root := fstest.MapFS{}
		for name, text := range test.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := defaultBudget(root); got != test.want/4*3 {
			t.Errorf("%s: %d, want three quarters of %d", test.name, got, test.want)
		}
	}
}
