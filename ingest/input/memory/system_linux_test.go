package memory

import (
	"os"
	"path/filepath"
	"testing"
)

// The lowest limit applies, of the process's control group and all its ancestors, in either
// version of cgroups.
func TestAvailable(t *testing.T) {
	const meminfo = "MemTotal: 16000000 kB\nMemAvailable:    8000000 kB\n"
	v2 := map[string]string{
		"proc/meminfo":        meminfo,
		"proc/self/cgroup":    "0::/user.slice/app.scope\n",
		"proc/self/mountinfo": "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n",
	}
	v1 := map[string]string{
		"proc/meminfo":     meminfo,
		"proc/self/cgroup": "5:cpu,cpuacct:/elsewhere\n4:memory:/docker/abc/inner\n0::/\n",
		"proc/self/mountinfo": "30 23 0:28 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n" +
			"31 23 0:29 / /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n32 23 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
	}
	const of1, of2 = "sys/fs/cgroup/memory/", "sys/fs/cgroup/"
	for _, tt := range []struct {
		name  string
		base  map[string]string
		files map[string]string
		want  int64
	}{
		{"none", v2, nil, 8000000 << 10},
		{"no limit", v2, map[string]string{of2 + "memory.max": "max\n", of2 + "memory.current": "5\n"}, 8000000 << 10},
		{"its own", v2, map[string]string{of2 + "user.slice/app.scope/memory.max": "1000000\n", of2 + "user.slice/app.scope/memory.current": "300000\n"}, 700000},
		{"files are given up", v2, map[string]string{of2 + "user.slice/app.scope/memory.max": "1000000\n", of2 + "user.slice/app.scope/memory.current": "900000\n",
			of2 + "user.slice/app.scope/memory.stat": "anon 500000\nfile 400000\nfile_mapped 7\n"}, 500000},
		{"the slice's", v2, map[string]string{of2 + "user.slice/app.scope/memory.max": "9000000\n", of2 + "user.slice/app.scope/memory.current": "1\n",
			of2 + "user.slice/memory.max": "2000000\n", of2 + "user.slice/memory.current": "1500000\n"}, 500000},
		{"where it is slowed down", v2, map[string]string{of2 + "user.slice/memory.high": "2000\n", of2 + "user.slice/memory.max": "max\n", of2 + "user.slice/memory.current": "1500\n"}, 500},
		{"more than there is", v2, map[string]string{of2 + "memory.max": "99000000000000\n", of2 + "memory.current": "5\n"}, 8000000 << 10},
		{"version 1", v1, map[string]string{of1 + "inner/memory.limit_in_bytes": "1000\n", of1 + "inner/memory.usage_in_bytes": "600\n", of1 + "inner/memory.stat": "cache 1\ntotal_cache 50\n"}, 450},
		{"version 1, above", v1, map[string]string{of1 + "memory.limit_in_bytes": "1000\n", of1 + "memory.usage_in_bytes": "600\n",
			of1 + "inner/memory.limit_in_bytes": "9223372036854771712\n", of1 + "inner/memory.usage_in_bytes": "600\n"}, 400},
		{"version 1, elsewhere", v1, map[string]string{"sys/fs/cgroup/cpu/elsewhere/memory.limit_in_bytes": "10\n", "sys/fs/cgroup/cpu/elsewhere/memory.usage_in_bytes": "5\n"}, 8000000 << 10},
	} {
		root := t.TempDir()
		for _, files := range []map[string]string{tt.base, tt.files} {
			for name, text := range files {
				name = filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		k := kernel{root: root, groups: func() []group { return groups(root) }}
		if n, known := k.available(); n != tt.want || !known {
			t.Errorf("%s: %d bytes (known: %v), not %d", tt.name, n, known, tt.want)
		}
	}
}
