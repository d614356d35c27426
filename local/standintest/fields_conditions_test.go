package standintest_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/local/fields"
)

// TestConditionsHaveNoEmptyMessage holds that a condition without a message has no such field: the schema of the AWS provider's
// AWSManagedControlPlane refuses an empty one.
func TestConditionsHaveNoEmptyMessage(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]int{"": 0, "no subnets": 1} {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		names := []string{"Ready", "Available"}
		if err := fields.Mark(o, names, "True", "Available", message); err != nil {
			t.Fatal(err)
		}
		found, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
		if err != nil || len(found) != len(names) {
			t.Fatalf("want %d conditions, got %v, %v", len(names), found, err)
		}
		for _, c := range found {
			texts := 0
			if text, ok := c.(map[string]any)["message"]; ok {
				texts++
				if text != message {
					t.Errorf("message: want %q, got %v", message, text)
				}
			}
			if texts != want {
				t.Errorf("message %q: want the field %d times, got it %d times in %v", message, want, texts, c)
			}
		}
	}
}
