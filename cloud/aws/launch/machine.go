package launch

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/pool"
)

// instanceType holds the known facts of an instance type. The zero instanceType is unknown.
type instanceType struct {
	// architecture is EC2's word for it.
	architecture string
	// cpus is the number of virtual processors, memory is in MiB, and addresses is the number of pods that get an address of the VPC.
	cpus, memory, addresses int
	devices                 map[string]int
}

const (
	// kubeletPods is the default maximum number of pods of a kubelet.
	kubeletPods = 110
	// manyCPUs is the size from which a node of EKS takes more pods than that, up to largePods.
	manyCPUs, largePods = 30, 250
	// hostPods is the number of pods of each node that use the node's own address.
	hostPods = 2
)

// manufacturers are the resource names of accelerators in device plugins, by manufacturer.
var manufacturers = map[string]string{"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu"}

// neuron is the resource name of AWS's own accelerators in their device plugin.
const neuron = "aws.amazon.com/neuron"

// machineOf returns what EC2 tells of a type.
func machineOf(info ec2types.InstanceTypeInfo) instanceType {
	m := instanceType{devices: devicesOf(info)}
	if info.ProcessorInfo != nil {
		for _, a := range info.ProcessorInfo.SupportedArchitectures {
			if a == ec2types.ArchitectureTypeX8664 || a == ec2types.ArchitectureTypeArm64 {
				m.architecture = string(a)
				break
			}
		}
	}
	if info.VCpuInfo != nil {
		m.cpus = int(ptr.Deref(info.VCpuInfo.DefaultVCpus, 0))
	}
	if info.MemoryInfo != nil {
		m.memory = int(ptr.Deref(info.MemoryInfo.SizeInMiB, 0))
	}
	if n := info.NetworkInfo; n != nil && ptr.Deref(n.MaximumNetworkInterfaces, 0) > 0 {
		// The first address of an interface is the node's.
		m.addresses = int(ptr.Deref(n.MaximumNetworkInterfaces, 0)*(ptr.Deref(n.Ipv4AddressesPerInterface, 0)-1)) + hostPods
	}
	return m
}

// devicesOf are the accelerators of a type, by the resource that their device plugin registers.
func devicesOf(info ec2types.InstanceTypeInfo) map[string]int {
	devices := map[string]int{}
	if info.GpuInfo != nil {
		for _, g := range info.GpuInfo.Gpus {
			if name := manufacturers[ptr.Deref(g.Manufacturer, "")]; name != "" {
				devices[name] += int(ptr.Deref(g.Count, 0))
			}
		}
	}
	if info.NeuronInfo != nil {
		for _, d := range info.NeuronInfo.NeuronDevices {
			devices[neuron] += int(ptr.Deref(d.Count, 0))
		}
	}
	return devices
}

// text is the form in which a type is remembered: "x86_64,4,16384,58,nvidia.com/gpu:1".
func (m instanceType) text() string {
	text := fmt.Sprintf("%s,%d,%d,%d", m.architecture, m.cpus, m.memory, m.addresses)
	for _, name := range slices.Sorted(maps.Keys(m.devices)) {
		text += fmt.Sprintf(",%s:%d", name, m.devices[name])
	}
	return text
}

// parseMachines reads remembered types, by name: "m5.large=x86_64,2,8192,29 t3.small=x86_64,2,2048,11". What is of another form, as
// earlier versions of Muster wrote it, is left out.
func parseMachines(text string) map[string]instanceType {
	of := map[string]instanceType{}
	for _, pair := range strings.Fields(text) {
		name, fields, _ := strings.Cut(pair, "=")
		if m, ok := parseMachine(strings.Split(fields, ",")); ok {
			of[name] = m
		}
	}
	return of
}

// sizes is the number of fields of a remembered type before its devices: the architecture and three numbers.
const sizes = 4

func parseMachine(fields []string) (instanceType, bool) {
	if len(fields) < sizes {
		return instanceType{}, false
	}
	m := instanceType{architecture: fields[0], devices: map[string]int{}}
	for k, to := range []*int{&m.cpus, &m.memory, &m.addresses} {
		n, err := strconv.Atoi(fields[k+1])
		if err != nil {
			return instanceType{}, false
		}
		*to = n
	}
	for _, device := range fields[sizes:] {
		name, count, _ := strings.Cut(device, ":")
		n, err := strconv.Atoi(count)
		if err != nil {
			return instanceType{}, false
		}
		m.devices[name] = n
	}
	return m, true
}

// least returns what is offered at least by a type that is m or other.
func (m instanceType) least(other instanceType) instanceType {
	c := pool.NodeCapacity{CPUs: m.cpus, MemoryMiB: m.memory, Pods: m.addresses, Devices: m.devices}.
		Least(pool.NodeCapacity{CPUs: other.cpus, MemoryMiB: other.memory, Pods: other.addresses, Devices: other.devices})
	return instanceType{architecture: m.architecture, cpus: c.CPUs, memory: c.MemoryMiB, addresses: c.Pods, devices: c.Devices}
}

// capacity returns the capacity of a node on it. In a cluster of EKS the pods have addresses of the VPC, of which the type has a number.
func (m instanceType) capacity(managed bool) *pool.NodeCapacity {
	c := &pool.NodeCapacity{
		CPUs: m.cpus, MemoryMiB: m.memory, Pods: kubeletPods, Devices: m.devices,
		Architecture: nodeArchitecture[m.architecture], OperatingSystem: "linux",
	}
	if managed && m.addresses > 0 {
		most := kubeletPods
		if m.cpus > manyCPUs {
			most = largePods
		}
		c.Pods = min(m.addresses, most)
	}
	return c
}

// nodeArchitecture maps EC2's architectures to those of Kubernetes.
var nodeArchitecture = map[string]string{"x86_64": "amd64", "arm64": "arm64"}
