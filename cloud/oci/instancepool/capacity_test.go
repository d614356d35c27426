package instancepool

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/pool"
)

// TestOffers holds what instances of shapes offer: an OCPU is two threads of x86, and one core of an Ampere A1.
func TestOffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		is            core.Shape
		ocpus, memory float64
		want          pool.NodeCapacity
	}{
		{"VM.Standard.E4.Flex", core.Shape{ProcessorDescription: new("2.55 GHz AMD EPYC 7J13 (Milan)")}, 2, 32,
			pool.NodeCapacity{CPUs: 4, MemoryMiB: 32768, Architecture: "amd64"}},
		{"VM.Standard.E4.Flex", core.Shape{}, 1.5, 1.5, pool.NodeCapacity{CPUs: 3, MemoryMiB: 1536, Architecture: "amd64"}},
		{"VM.Standard.A1.Flex", core.Shape{ProcessorDescription: new("3.0 GHz Ampere Altra")}, 4, 24,
			pool.NodeCapacity{CPUs: 4, MemoryMiB: 24576, Architecture: "arm64"}},
		{"VM.Standard.A2.Flex", core.Shape{ProcessorDescription: new("AmpereOne")}, 2, 8,
			pool.NodeCapacity{CPUs: 4, MemoryMiB: 8192, Architecture: "arm64"}},
		{"VM.GPU.A10.1", core.Shape{Gpus: new(1), GpuDescription: new("NVIDIA A10")}, 15, 240,
			pool.NodeCapacity{CPUs: 30, MemoryMiB: 245760, Architecture: "amd64", Devices: map[string]int{"nvidia.com/gpu": 1}}},
		{"BM.GPU.MI300X.8", core.Shape{Gpus: new(8), GpuDescription: new("AMD MI300X")}, 112, 2048,
			pool.NodeCapacity{CPUs: 224, MemoryMiB: 2097152, Architecture: "amd64", Devices: map[string]int{"amd.com/gpu": 8}}},
	} {
		c.want.Pods, c.want.OperatingSystem = 110, "linux"
		if diff := cmp.Diff(&c.want, shapeOf(c.is).offers(c.name, c.ocpus, c.memory)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
