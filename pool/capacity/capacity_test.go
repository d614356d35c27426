package capacity_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/pool/capacity"
)

func TestLeastCapacity(t *testing.T) {
	large := capacity.NodeCapacity{CPUs: 4, MemoryMiB: 8192, Pods: 58, Devices: map[string]int{"nvidia.com/gpu": 2, "amd.com/gpu": 1},
		Architecture: "amd64", OperatingSystem: "linux"}
	small := capacity.NodeCapacity{CPUs: 8, MemoryMiB: 4096, Pods: 29, Devices: map[string]int{"nvidia.com/gpu": 1}, Architecture: "amd64",
		OperatingSystem: "linux"}
	want := capacity.NodeCapacity{CPUs: 4, MemoryMiB: 4096, Pods: 29, Devices: map[string]int{"nvidia.com/gpu": 1}, Architecture: "amd64",
		OperatingSystem: "linux"}
	if diff := cmp.Diff(want, large.Least(small)); diff != "" {
		t.Errorf("want what both offer (-want +got):\n%s", diff)
	}
	if large.Devices["nvidia.com/gpu"] != 2 {
		t.Errorf("want the argument unchanged, got %v", large.Devices)
	}
}
