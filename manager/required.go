package manager

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// required are the kinds of Cluster API that every controller reads.
var required = []schema.GroupVersionKind{
	clusterv1.GroupVersion.WithKind("Cluster"), clusterv1.GroupVersion.WithKind("MachinePool"), clusterv1.GroupVersion.WithKind("Machine"),
}

// checkRequired returns an error if the management cluster lacks Cluster API, or has it in a version without the contract's kinds. It runs
// before a controller-runtime manager is created, whose cache fails with another error on the first kind that is missing.
func checkRequired(config *rest.Config) error {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("create a client of the management cluster: %w", err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, client)
	if err != nil {
		return fmt.Errorf("read the kinds of the management cluster: %w", err)
	}
	return missing(mapper)
}

// missing returns an error that names the first of the required kinds that is not served in its version, and what is served.
func missing(mapper meta.RESTMapper) error {
	for _, kind := range required {
		_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		switch {
		case err == nil:
			continue
		case !meta.IsNoMatchError(err):
			return fmt.Errorf("look for %s: %w", kind, err)
		}
		var served []string
		mappings, err := mapper.RESTMappings(kind.GroupKind())
		for _, found := range mappings {
			served = append(served, found.GroupVersionKind.Version)
		}
		if err != nil || len(served) == 0 {
			return fmt.Errorf("kind %s of %s is not served: install Cluster API first, with clusterctl init", kind.Kind, kind.Group)
		}
		return fmt.Errorf("kind %s of %s is served in %s, not in %s: install a version of Cluster API that serves %s", kind.Kind, kind.Group,
			strings.Join(served, ", "), kind.Version, kind.Version)
	}
	return nil
}
