package infrapool

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/pool"
)

// fillCapacity writes what machines of the wanted template offer. While that is not known the status keeps what it was.
func fillCapacity(status *common.Status, c *pool.NodeCapacity) {
	if c == nil {
		return
	}
	list := corev1.ResourceList{}
	set := func(name corev1.ResourceName, n int, unit int64, format resource.Format) {
		if n > 0 {
			list[name] = *resource.NewQuantity(int64(n)*unit, format)
		}
	}
	const mib = 1 << 20
	set(corev1.ResourceCPU, c.CPUs, 1, resource.DecimalSI)
	set(corev1.ResourceMemory, c.MemoryMiB, mib, resource.BinarySI)
	set(corev1.ResourcePods, c.Pods, 1, resource.DecimalSI)
	for name, n := range c.Devices {
		set(corev1.ResourceName(name), n, 1, resource.DecimalSI)
	}
	if !equality.Semantic.DeepEqual(status.Capacity, list) {
		status.Capacity = list // an equal quantity of another form would be written again and again
	}
	status.NodeInfo = common.NodeInfo{Architecture: c.Architecture, OperatingSystem: c.OperatingSystem}
}
