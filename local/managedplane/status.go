package managedplane

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/local/fields"
)

// below returns the path of a part of the endpoint.
func (k Kind) below(part string) []string {
	return append(k.Endpoint[:len(k.Endpoint):len(k.Endpoint)], part)
}

// endpoint returns the endpoint that the object has; one that is not valid where it has none.
func (k Kind) endpoint(plane *unstructured.Unstructured) (clusterv1.APIEndpoint, error) {
	host, _, err := unstructured.NestedString(plane.Object, k.below("host")...)
	if err != nil {
		return clusterv1.APIEndpoint{}, err
	}
	port, _, err := unstructured.NestedInt64(plane.Object, k.below("port")...)
	return clusterv1.APIEndpoint{Host: host, Port: int32(port)}, err
}

// Reachable writes how the control plane is reached.
func (k Kind) Reachable(plane *unstructured.Unstructured, endpoint clusterv1.APIEndpoint) error {
	return fields.Set(plane,
		fields.Field{Value: endpoint.Host, Path: k.below("host")}, fields.Field{Value: int64(endpoint.Port), Path: k.below("port")})
}

// Serves writes that the control plane serves, with its version, and that machines may join.
func (k Kind) Serves(plane *unstructured.Unstructured, version string) error {
	return fields.Set(plane,
		fields.Field{Value: true, Path: []string{"status", "ready"}},
		fields.Field{Value: true, Path: []string{"status", "initialized"}},
		fields.Field{Value: "v" + version, Path: []string{"status", "version"}})
}

// Mark gives the control plane its conditions.
func (k Kind) Mark(plane *unstructured.Unstructured, status, reason, message string) error {
	return fields.Mark(plane, k.Conditions, status, reason, message)
}

// Unavailable writes why the control plane does not serve.
func (k Kind) Unavailable(plane *unstructured.Unstructured, reason, message string) error {
	if err := fields.Set(plane, fields.Field{Value: false, Path: []string{"status", "ready"}}); err != nil {
		return err
	}
	return k.Mark(plane, "False", reason, message)
}
