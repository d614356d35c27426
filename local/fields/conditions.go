package fields

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Mark gives an object the named conditions, all with one status, reason and message, in the form of the contract v1beta1. A condition
// whose status stays keeps its time.
func Mark(o *unstructured.Unstructured, names []string, status, reason, message string) error {
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
	all := make([]any, 0, len(names))
	for _, name := range names {
		c := map[string]any{"type": name, "status": status, "reason": reason, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
		if message != "" {
			// The schemas of the providers refuse an empty message.
			c["message"] = message
		}
		if b := before[name]; b != nil && b["status"] == status {
			c["lastTransitionTime"] = b["lastTransitionTime"]
		}
		all = append(all, c)
	}
	return unstructured.SetNestedSlice(o.Object, all, "status", "conditions")
}
