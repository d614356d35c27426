package catalogue

import (
	"strings"
)

// MachineType is a machine type that zones have.
type MachineType struct {
	Name     string
	CPUs     int
	MemoryMB int
	// Metric is the quota that its CPUs count against.
	Metric string
	arm    bool
	// accelerator and accelerators are the GPUs that it comes with, "" for none.
	accelerator  string
	accelerators int
}

// machineTypes are the machine types of every zone.
var machineTypes = []MachineType{
	{Name: "a2-highgpu-1g", CPUs: 12, MemoryMB: 87040, Metric: "A2_CPUS", accelerator: "nvidia-tesla-a100", accelerators: 1},
	{Name: "c3-standard-4", CPUs: 4, MemoryMB: 16384, Metric: "C3_CPUS"},
	{Name: "c3-standard-8", CPUs: 8, MemoryMB: 32768, Metric: "C3_CPUS"},
	{Name: "e2-medium", CPUs: 2, MemoryMB: 4096, Metric: "CPUS"},
	{Name: "e2-standard-2", CPUs: 2, MemoryMB: 8192, Metric: "CPUS"},
	{Name: "e2-standard-4", CPUs: 4, MemoryMB: 16384, Metric: "CPUS"},
	{Name: "g2-standard-4", CPUs: 4, MemoryMB: 16384, Metric: "CPUS", accelerator: "nvidia-l4", accelerators: 1},
	{Name: "n1-standard-1", CPUs: 1, MemoryMB: 3840, Metric: "CPUS"},
	{Name: "n1-standard-2", CPUs: 2, MemoryMB: 7680, Metric: "CPUS"},
	{Name: "n1-standard-4", CPUs: 4, MemoryMB: 15360, Metric: "CPUS"},
	{Name: "n2-standard-2", CPUs: 2, MemoryMB: 8192, Metric: "N2_CPUS"},
	{Name: "n2-standard-4", CPUs: 4, MemoryMB: 16384, Metric: "N2_CPUS"},
	{Name: "n2-standard-8", CPUs: 8, MemoryMB: 32768, Metric: "N2_CPUS"},
	{Name: "n2d-standard-2", CPUs: 2, MemoryMB: 8192, Metric: "N2D_CPUS"},
	{Name: "n2d-standard-4", CPUs: 4, MemoryMB: 16384, Metric: "N2D_CPUS"},
	{Name: "t2a-standard-1", CPUs: 1, MemoryMB: 4096, Metric: "T2A_CPUS", arm: true},
	{Name: "t2a-standard-2", CPUs: 2, MemoryMB: 8192, Metric: "T2A_CPUS", arm: true},
	{Name: "t2a-standard-4", CPUs: 4, MemoryMB: 16384, Metric: "T2A_CPUS", arm: true},
}

// FindMachineType returns the machine type of a name or URL, nil for none.
func FindMachineType(name string) *MachineType {
	name = name[strings.LastIndexByte(name, '/')+1:]
	for i := range machineTypes {
		if machineTypes[i].Name == name {
			return &machineTypes[i]
		}
	}
	return nil
}

// Architecture returns the architecture of the processors, X86_64 or ARM64.
func (t *MachineType) Architecture() string {
	if t.arm {
		return "ARM64"
	}
	return "X86_64"
}
