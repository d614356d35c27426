// Package capacity is what a machine offers to pods.
package capacity

import "maps"

// NodeCapacity is the capacity of each machine of the wanted template. An autoscaler needs it to scale a pool from zero.
type NodeCapacity struct {
	// CPUs is the number of virtual processors, MemoryMiB the memory, Pods the largest number of pods of a node. Zero is unknown.
	CPUs, MemoryMiB, Pods int
	// Devices are the numbers of accelerators by the resource that their device plugin registers, for example nvidia.com/gpu.
	Devices map[string]int
	// Architecture and OperatingSystem are the values of the Node labels kubernetes.io/arch and kubernetes.io/os.
	Architecture, OperatingSystem string
}

// Least returns what a machine offers at least if it may be like c or like other: a pod that fits into it fits into either.
func (c NodeCapacity) Least(other NodeCapacity) NodeCapacity {
	out := c
	out.CPUs, out.MemoryMiB, out.Pods = min(c.CPUs, other.CPUs), min(c.MemoryMiB, other.MemoryMiB), min(c.Pods, other.Pods)
	out.Devices = maps.Clone(c.Devices)
	for name, n := range out.Devices {
		if out.Devices[name] = min(n, other.Devices[name]); out.Devices[name] == 0 {
			delete(out.Devices, name)
		}
	}
	return out
}
