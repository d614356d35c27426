package checks

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// MachinePools returns the MachinePools of a namespace that reference an infrastructure object.
func MachinePools(ctx context.Context, reader client.Reader, namespace, kind, name string) ([]*clusterv1.MachinePool, error) {
	list := &clusterv1.MachinePoolList{}
	if err := reader.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("find the MachinePool of %s %s: %w", kind, name, err)
	}
	var found []*clusterv1.MachinePool
	for i := range list.Items {
		if ref := list.Items[i].Spec.Template.Spec.InfrastructureRef; ref.Kind == kind && ref.Name == name {
			found = append(found, &list.Items[i])
		}
	}
	return found, nil
}
