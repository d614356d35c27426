package nodepool_test

import (
	"reflect"
	"testing"

	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

func TestOffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason       string
		is           template.MachineType
		accelerators map[string]int
		want         pool.NodeCapacity
	}{
		{"a type of AMD64 unless it says otherwise", template.MachineType{CPUs: 4, MemoryMiB: 16384}, nil,
			pool.NodeCapacity{CPUs: 4, MemoryMiB: 16384, Pods: 110, OperatingSystem: "linux", Architecture: "amd64"}},
		{"one of ARM64", template.MachineType{CPUs: 1, MemoryMiB: 4096, Architecture: "ARM64"}, nil,
			pool.NodeCapacity{CPUs: 1, MemoryMiB: 4096, Pods: 110, OperatingSystem: "linux", Architecture: "arm64"}},
		{"accelerators of the type and further ones", template.MachineType{CPUs: 12, Accelerator: "nvidia-tesla-a100", Accelerators: 1},
			map[string]int{"nvidia-l4": 2, "ct5l": 4}, pool.NodeCapacity{
				CPUs: 12, Pods: 110, OperatingSystem: "linux", Architecture: "amd64", Devices: map[string]int{"nvidia.com/gpu": 3},
			}},
	} {
		if got := c.is.Offers(110, c.accelerators); !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: want %+v, got %+v", c.reason, c.want, *got)
		}
	}
}
