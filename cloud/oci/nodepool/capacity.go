package nodepool

import (
	"math"
	"regexp"
	"strconv"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/pool"
)

const (
	// nativePods and overlayPods are the default limits of pods of a node with the two CNI plugins.
	nativePods, overlayPods = 31, 110
	// mebiPerGB are the mebibytes of what OCI calls a gigabyte of memory, threads those of an OCPU of processors of the architecture amd64.
	mebiPerGB, threads = 1024, 2
	// memoryPerOCPU is the default memory of flexible shapes in gigabytes for each OCPU, armMemoryPerOCPU that of A1.
	memoryPerOCPU, armMemoryPerOCPU = 16, 6
)

// flexible matches flexible shapes of general purpose, whose size the specification names.
var flexible = regexp.MustCompile(`^VM\.Standard(3|\.[AE]\d+)\.Flex$`)

// capacity returns what a node offers; nil where the specification does not tell.
func (t target) capacity() *pool.NodeCapacity {
	c := t.spec.NodeShapeConfig
	if c == nil || c.OCPUs == nil || !flexible.MatchString(t.spec.NodeShape) {
		return nil
	}
	ocpus, err := strconv.ParseFloat(string(*c.OCPUs), 64)
	if err != nil || ocpus <= 0 {
		return nil
	}
	out := &pool.NodeCapacity{CPUs: int(math.Round(ocpus * threads)), Architecture: "amd64", OperatingSystem: "linux", Pods: t.pods()}
	memory := ocpus * memoryPerOCPU
	if kindOf(t.spec.NodeShape).arm {
		out.Architecture = "arm64"
		if memory = ocpus * armMemoryPerOCPU; t.spec.NodeShape == "VM.Standard.A1.Flex" {
			out.CPUs = int(math.Round(ocpus)) // an OCPU of A1 is one core with one thread
		}
	}
	if c.MemoryInGBs != nil {
		if n, err := strconv.ParseFloat(string(*c.MemoryInGBs), 64); err == nil {
			memory = n
		}
	}
	out.MemoryMiB = int(memory * mebiPerGB)
	return out
}

// pods returns how many pods a node runs.
func (t target) pods() int {
	network := t.spec.PodNetwork(t.cluster.CNITypes)
	switch n := network.VCNIPNativePodNetworkOptions.MaxPodsPerNode; {
	case network.CNIType != ociv1.CNINative:
		return overlayPods
	case n != nil && *n > 0:
		return *n
	}
	return nativePods
}
