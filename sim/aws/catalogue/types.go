package catalogue

import (
	"strings"
)

// InstanceType is a size of machine.
type InstanceType struct {
	Name         string
	CPUs         int
	MemoryMiB    int
	Architecture string
	Gpus         int
	Burstable    bool
	// Interfaces limits the network interfaces of an instance, Addresses the IPv4 addresses of each.
	Interfaces, Addresses int
}

// InstanceTypes are the types that every region offers, by name.
var InstanceTypes = buildInstanceTypes()

// families are the general families with their sizes: virtual CPUs by size, and MiB of memory for each of them.
var families = []struct {
	names  []string
	sizes  map[string]int
	perCPU int
}{
	{[]string{"m5", "m5a", "m6i", "m7i"}, serverSizes, 4096},
	{[]string{"c5", "c5a", "c6i", "c7i"}, serverSizes, 2048},
	{[]string{"r5", "r5a", "r6i"}, serverSizes, 8192},
	{[]string{"m6g", "m7g"}, armSizes, 4096},
	{[]string{"c6g", "c7g"}, armSizes, 2048},
	{[]string{"r6g", "r7g"}, armSizes, 8192},
	{[]string{"g4dn"}, map[string]int{"xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "12xlarge": 48, "16xlarge": 64}, 4096},
}

var (
	serverSizes = map[string]int{
		"large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "12xlarge": 48, "16xlarge": 64, "24xlarge": 96,
	}
	armSizes = map[string]int{
		"medium": 1, "large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "12xlarge": 48, "16xlarge": 64,
	}
	// burstableSizes are virtual CPUs and MiB of memory.
	burstableSizes = map[string][2]int{
		"nano": {2, 512}, "micro": {2, 1024}, "small": {2, 2048}, "medium": {2, 4096}, "large": {2, 8192}, "xlarge": {4, 16384},
		"2xlarge": {8, 32768},
	}
	// burstableNetworks are their network interfaces and the addresses of each.
	burstableNetworks = map[string][2]int{
		"nano": {2, 2}, "micro": {2, 2}, "small": {3, 4}, "medium": {3, 6}, "large": {3, 12}, "xlarge": {4, 15}, "2xlarge": {4, 15},
	}
)

func buildInstanceTypes() map[string]InstanceType {
	out := map[string]InstanceType{}
	for _, f := range families {
		for _, family := range f.names {
			for size, cpus := range f.sizes {
				name := family + "." + size
				t := InstanceType{Name: name, CPUs: cpus, MemoryMiB: cpus * f.perCPU, Architecture: architectureOf(family), Gpus: gpusOf(name)}
				t.Interfaces, t.Addresses = networkOf(cpus)
				out[name] = t
			}
		}
	}
	for _, family := range []string{"t3", "t3a", "t4g"} {
		for size, v := range burstableSizes {
			name := family + "." + size
			t := InstanceType{Name: name, CPUs: v[0], MemoryMiB: v[1], Architecture: architectureOf(family), Burstable: true}
			t.Interfaces, t.Addresses = burstableNetworks[size][0], burstableNetworks[size][1]
			out[name] = t
		}
	}
	return out
}

// networkOf is how many network interfaces the general sizes have, and how many addresses each of them.
func networkOf(cpus int) (interfaces, addresses int) {
	switch {
	case cpus < 2:
		return 2, 4
	case cpus < 4:
		return 3, 10
	case cpus < 16:
		return 4, 15
	case cpus < 64:
		return 8, 30
	}
	return 15, 50
}

// architectureOf tells the ARM families by the g behind their generation.
func architectureOf(family string) string {
	if strings.HasSuffix(family, "g") {
		return "arm64"
	}
	return "x86_64"
}

func gpusOf(name string) int {
	switch {
	case name == "g4dn.12xlarge":
		return 4
	case strings.HasPrefix(name, "g4dn."):
		return 1
	}
	return 0
}
