package launch

import (
	"testing"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/pool"
)

// What EC2 tells of a type survives being remembered. A cluster of EKS gives pods addresses of the VPC, of which each type has a number.
func TestCapacityOfAnInstanceType(t *testing.T) {
	info := func(cpus, mib, interfaces, addresses int, change ...func(*ec2types.InstanceTypeInfo)) ec2types.InstanceTypeInfo {
		i := ec2types.InstanceTypeInfo{
			ProcessorInfo: &ec2types.ProcessorInfo{SupportedArchitectures: []ec2types.ArchitectureType{"i386", "x86_64"}},
			VCpuInfo:      &ec2types.VCpuInfo{DefaultVCpus: new(int32(cpus))}, MemoryInfo: &ec2types.MemoryInfo{SizeInMiB: new(int64(mib))},
			NetworkInfo: &ec2types.NetworkInfo{MaximumNetworkInterfaces: new(int32(interfaces)), Ipv4AddressesPerInterface: new(int32(addresses))},
		}
		for _, f := range change {
			f(&i)
		}
		return i
	}
	none := map[string]int{}
	for name, c := range map[string]struct {
		reason  string
		info    ec2types.InstanceTypeInfo
		managed bool
		want    pool.NodeCapacity
	}{
		"t3.small in EKS": {"three interfaces of four addresses", info(2, 2048, 3, 4), true,
			pool.NodeCapacity{CPUs: 2, MemoryMiB: 2048, Pods: 11, Devices: none, Architecture: "amd64", OperatingSystem: "linux"}},
		"t3.small": {"the network is unknown: the kubelet's own limit", info(2, 2048, 3, 4), false,
			pool.NodeCapacity{CPUs: 2, MemoryMiB: 2048, Pods: 110, Devices: none, Architecture: "amd64", OperatingSystem: "linux"}},
		"m5.4xlarge, EKS": {"EKS has no more than 110 on nodes of up to 30 processors", info(16, 65536, 8, 30), true,
			pool.NodeCapacity{CPUs: 16, MemoryMiB: 65536, Pods: 110, Devices: none, Architecture: "amd64", OperatingSystem: "linux"}},
		"m5.16xlarge, EKS": {"and 250 on larger ones", info(64, 262144, 15, 50), true,
			pool.NodeCapacity{CPUs: 64, MemoryMiB: 262144, Pods: 250, Devices: none, Architecture: "amd64", OperatingSystem: "linux"}},
		"g4dn.12xlarge": {"accelerators by the name of their resource", info(48, 196608, 8, 30, func(i *ec2types.InstanceTypeInfo) {
			i.GpuInfo = &ec2types.GpuInfo{Gpus: []ec2types.GpuDeviceInfo{{Manufacturer: new("NVIDIA"), Count: new(int32(4))}}}
		}), false, pool.NodeCapacity{CPUs: 48, MemoryMiB: 196608, Pods: 110, Devices: map[string]int{"nvidia.com/gpu": 4}, Architecture: "amd64",
			OperatingSystem: "linux"}},
		"m6g.large": {"ARM", info(2, 8192, 3, 10, func(i *ec2types.InstanceTypeInfo) {
			i.ProcessorInfo.SupportedArchitectures = []ec2types.ArchitectureType{"arm64"}
		}), true, pool.NodeCapacity{CPUs: 2, MemoryMiB: 8192, Pods: 29, Devices: none, Architecture: "arm64", OperatingSystem: "linux"}},
	} {
		text := "x=" + machineOf(c.info).text()
		m, ok := parseMachines(text)["x"]
		if !ok {
			t.Errorf("%s: %q can't be read again", name, text)
			continue
		}
		if diff := cmp.Diff(&c.want, m.capacity(c.managed)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}

// What an earlier version has remembered is asked again; nothing of it makes a pass fail.
func TestMachinesOfAnotherForm(t *testing.T) {
	for _, text := range []string{"", "m5.large", "m5.large=", "m5.large=x86_64", "m5.large=x86_64,2", "m5.large=x86_64,a,b,c",
		"m5.large=x86_64,2,8192,29,nvidia.com/gpu"} {
		if got := parseMachines(text); len(got) > 0 {
			t.Errorf("%q: want nothing, got %v", text, got)
		}
	}
}
