package aks

import (
	"cmp"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// conditions of a control plane: the summary, AKS's own part, and what core mirrors to the Cluster.
var conditions = []string{"Ready", "ManagedClusterRunning", "Available"}

// available writes that the control plane serves, with its endpoint and version, and that machines may join. Where an operation failed the
// conditions say so in AKS's words until one has ended well, also while it is carried out once more.
func (k Kind) available(o *unstructured.Unstructured, endpoint clusterv1.APIEndpoint, is containerservice.Inspected) error {
	if k.endpoint[0] == "status" {
		if err := k.reachable(o, endpoint); err != nil {
			return err
		}
	}
	if err := fields.Set(o,
		fields.Field{Value: true, Path: []string{"status", "ready"}},
		fields.Field{Value: true, Path: []string{"status", "initialized"}},
		fields.Field{Value: "v" + is.Version, Path: []string{"status", "version"}}); err != nil {
		return err
	}
	if k.status != nil {
		if err := k.status(o); err != nil {
			return err
		}
	}
	if is.State == failed || is.Code != "" {
		return fields.Mark(o, conditions, "False", cmp.Or(is.Code, is.State), is.Message)
	}
	return fields.Mark(o, conditions, "True", is.State, "")
}

// reachable writes the endpoint.
func (k Kind) reachable(o *unstructured.Unstructured, endpoint clusterv1.APIEndpoint) error {
	return fields.Set(o,
		fields.Field{Value: endpoint.Host, Path: append(k.endpoint[:2:2], "host")},
		fields.Field{Value: int64(endpoint.Port), Path: append(k.endpoint[:2:2], "port")})
}

// unavailable writes why the control plane does not serve.
func unavailable(o *unstructured.Unstructured, reason, message string) error {
	if err := fields.Set(o, fields.Field{Value: false, Path: []string{"status", "ready"}}); err != nil {
		return err
	}
	return fields.Mark(o, conditions, "False", reason, message)
}

// Unavailable writes why the managed cluster can't be brought to where it shall be, with AKS's own code where it has refused it.
func (r *ControlPlanes) Unavailable(o *unstructured.Unstructured, why error) error {
	if refusal, ok := errors.AsType[*Refusal](why); ok {
		return unavailable(o, refusal.Code, refusal.Message)
	}
	return unavailable(o, failed, why.Error())
}

// initialized reports whether the control plane has served.
func initialized(o *unstructured.Unstructured) bool {
	done, _, err := unstructured.NestedBool(o.Object, "status", "initialized")
	return err == nil && done
}
