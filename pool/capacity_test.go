package pool

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLeastCapacity(t *testing.T) {
	large := NodeCapacity{CPUs: 4, MemoryMiB: 8192, Pods: 58, Devices: map[string]int{"nvidia.com/gpu": 2, "amd.com/gpu": 1},
		Architecture: "amd64", OperatingSystem: "linux"}
	small := NodeCapacity{CPUs: 8, MemoryMiB: 4096, Pods: 29, Devices: map[string]int{"nvidia.com/gpu": 1}, Architecture: "amd64",
		OperatingSystem: "linux"}
	want := NodeCapacity{CPUs: 4, MemoryMiB: 4096, Pods: 29, Devices: map[string]int{"nvidia.com/gpu": 1}, Architecture: "amd64",
		OperatingSystem: "linux"}
	if diff := cmp.Diff(want, large.Least(small)); diff != "" {
		t.Errorf("want what both offer (-want +got):\n%s", diff)
	}
	if large.Devices["nvidia.com/gpu"] != 2 {
		t.Errorf("want the argument unchanged, got %v", large.Devices)
	}
}
