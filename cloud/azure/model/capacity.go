package model

import (
	"strings"

	"github.com/muster-project/muster/pool"
)

const (
	// kubeletPods is how many pods the kubelet takes unless it is told otherwise.
	kubeletPods = 110
	// gpus is what NVIDIA's device plugin calls its accelerators; Azure's other sizes with GPUs have parts of one, which it does not count.
	gpus = "nvidia.com/gpu"
	// mib is how many MiB a GiB has: Azure tells memory in GiB.
	mib = 1024
)

// nodeArchitecture is what Kubernetes calls Azure's architectures.
var nodeArchitecture = map[string]string{"x64": "amd64", "arm64": "arm64"}

// Capacity returns what a machine of the VM size offers, as Azure's catalogue tells; nil without a Size.
func (in Input) Capacity() *pool.NodeCapacity {
	if in.Size == nil {
		return nil
	}
	c := &pool.NodeCapacity{Pods: kubeletPods, OperatingSystem: "linux", Architecture: nodeArchitecture["x64"], Devices: map[string]int{}}
	cpus, ok := amount(in.Size, "vCPUsAvailable")
	if !ok {
		cpus, _ = amount(in.Size, "vCPUs")
	}
	memory, _ := amount(in.Size, "MemoryGB")
	c.CPUs, c.MemoryMiB = int(cpus), int(memory*mib)
	if n, ok := amount(in.Size, "GPUs"); ok && n >= 1 {
		c.Devices[gpus] = int(n)
	}
	if a := nodeArchitecture[strings.ToLower(capability(in.Size, "CpuArchitectureType"))]; a != "" {
		c.Architecture = a
	}
	if in.Source.Pool.Windows() {
		c.OperatingSystem = "windows"
	}
	return c
}
