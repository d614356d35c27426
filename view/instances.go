package view

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/api/common"
)

// NodeNotReported is the node of an instance whose infrastructure object does not list instances, as those of other providers.
const NodeNotReported = "?"

// Instances returns those of the infrastructure object's status; where it lists none, the provider IDs of the MachinePool.
func Instances(mp *clusterv1.MachinePool, infra *unstructured.Unstructured) []common.InstanceStatus {
	var list []common.InstanceStatus
	if infra != nil {
		found, _, _ := unstructured.NestedSlice(infra.Object, "status", "instances")
		for _, one := range found {
			fields, ok := one.(map[string]any)
			if !ok {
				continue
			}
			is := common.InstanceStatus{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &is); err == nil {
				list = append(list, is)
			}
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, id := range mp.Spec.ProviderIDList {
		list = append(list, common.InstanceStatus{ProviderID: id, InstanceID: id[strings.LastIndex(id, "/")+1:], Node: NodeNotReported})
	}
	return list
}
