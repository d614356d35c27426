package aks

import (
	"cmp"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/local/managedplane"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// available writes that the control plane serves, with its endpoint and version, and that machines may join. Where an operation failed the
// conditions say so in AKS's words until one has ended well, also while it is carried out once more.
func (k Kind) available(o *unstructured.Unstructured, endpoint clusterv1.APIEndpoint, is containerservice.Inspected) error {
	if k.Endpoint[0] == "status" {
		if err := k.Reachable(o, endpoint); err != nil {
			return err
		}
	}
	if err := k.Serves(o, is.Version); err != nil {
		return err
	}
	if k.status != nil {
		if err := k.status(o); err != nil {
			return err
		}
	}
	if is.State == failed || is.Code != "" {
		return k.Mark(o, "False", cmp.Or(is.Code, is.State), is.Message)
	}
	return k.Mark(o, "True", is.State, "")
}

// Unavailable reports why the managed cluster can't reach the desired state, with AKS's error code if AKS has rejected it.
func (r *ControlPlanes) Unavailable(o *unstructured.Unstructured, why error) error {
	if refusal, ok := errors.AsType[*managedplane.Refusal](why); ok && refusal.Code != "" {
		return r.Kind.Unavailable(o, refusal.Code, refusal.Message)
	}
	return r.Kind.Unavailable(o, failed, why.Error())
}

// initialized reports whether the control plane has served.
func initialized(o *unstructured.Unstructured) bool {
	done, _, err := unstructured.NestedBool(o.Object, "status", "initialized")
	return err == nil && done
}
