package webhook

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// outOfService is the one taint below node.kubernetes.io that people set.
const outOfService = "node.kubernetes.io/out-of-service"

// reserved are the taints that other controllers set and remove, with the name of each controller. Two who write one taint would
// undo each other's work for ever, or keep pods off nodes that are well.
var reserved = []struct {
	is func(key string) bool
	of string
}{
	{func(key string) bool {
		return key == clusterv1.NodeUninitializedTaint.Key || key == clusterv1.NodeOutdatedRevisionTaint.Key
	}, "Cluster API's own"},
	{func(key string) bool {
		return strings.HasPrefix(key, "node.kubernetes.io/") && key != outOfService
	}, "for the kubelet and the node controller, but for " + outOfService},
	{func(key string) bool { return strings.HasPrefix(key, "node.cloudprovider.kubernetes.io/") }, "for the cloud's node controller"},
	{func(key string) bool {
		return key == "node-role.kubernetes.io/control-plane" || key == "node-role.kubernetes.io/master"
	}, "for control planes, which are no machine pools"},
}

// taintRules hold the taints that are put on the nodes. What schemas say of them is not said again: no value that a taint may
// not have, no two of one key and effect.
func taintRules(path *field.Path, taints []clusterv1.MachineTaint) field.ErrorList {
	var errs field.ErrorList
	for i, taint := range taints {
		at := path.Index(i).Child("key")
		for _, words := range validation.IsQualifiedName(taint.Key) {
			errs = append(errs, field.Invalid(at, taint.Key, words))
		}
		for _, r := range reserved {
			if r.is(taint.Key) {
				errs = append(errs, field.Invalid(at, taint.Key, fmt.Sprintf("is reserved: such taints are %s", r.of)))
			}
		}
	}
	return errs
}
