package eks

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/muster-project/muster/local/apiserver"
	awsnetwork "github.com/muster-project/muster/local/clouds/aws/network"
	"github.com/muster-project/muster/local/fields"
)

// conditions of a control plane: the summary, EKS's own part, and what core mirrors to the Cluster.
var conditions = []string{"Ready", "EKSControlPlaneReady", "Available"}

// available reports whether the control plane serves and that machines may join.
func available(o *unstructured.Unstructured, network awsnetwork.Network, eksVersion string) error {
	if err := network.FillStatus(o); err != nil {
		return err
	}
	if err := fields.Set(o,
		fields.Field{Value: true, Path: []string{"status", "initialized"}},
		fields.Field{Value: true, Path: []string{"status", "externalManagedControlPlane"}},
		fields.Field{Value: "v" + eksVersion, Path: []string{"status", "version"}}); err != nil {
		return err
	}
	return mark(o, "True", "Available", "")
}

// unavailable says why it does not.
func unavailable(o *unstructured.Unstructured, why error) error {
	if err := fields.Set(o, fields.Field{Value: false, Path: []string{"status", "ready"}}); err != nil {
		return err
	}
	return mark(o, "False", "EKSControlPlaneReconciliationFailed", why.Error())
}

// mark sets all conditions alike. One that says the same already keeps its time.
func mark(o *unstructured.Unstructured, status, reason, message string) error {
	before := map[string]map[string]any{}
	found, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return err
	}
	for _, c := range found {
		if c, ok := c.(map[string]any); ok {
			before[fmt.Sprint(c["type"])] = c
		}
	}
	all := make([]any, 0, len(conditions))
	for _, name := range conditions {
		c := map[string]any{"type": name, "status": status, "reason": reason, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
		if message != "" {
			// The schema of the AWS provider refuses an empty message.
			c["message"] = message
		}
		if b := before[name]; b != nil && b["status"] == status {
			c["lastTransitionTime"] = b["lastTransitionTime"]
		}
		all = append(all, c)
	}
	return unstructured.SetNestedSlice(o.Object, all, "status", "conditions")
}

// versionOf is the Kubernetes version that an object wants, as EKS spells it: 1.32. Without one it is that of the API server.
func versionOf(plane *unstructured.Unstructured) (string, error) {
	text, _, err := unstructured.NestedString(plane.Object, "spec", "version")
	if err != nil {
		return "", err
	}
	if text == "" {
		text = apiserver.Version()
	}
	v, err := version.ParseGeneric(strings.TrimPrefix(text, "v"))
	if err != nil {
		return "", fmt.Errorf("spec.version: want a Kubernetes version such as v1.32, found %q: %w", text, err)
	}
	return fmt.Sprintf("%d.%d", v.Major(), v.Minor()), nil
}
