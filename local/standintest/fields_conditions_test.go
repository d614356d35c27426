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

func TestMinorVersion(t *testing.T) {
	for _, c := range []struct{ reason, version, want string }{
		{"as templates have it", "v1.32.4", "1.32"},
		{"as EKS has it", "1.32", "1.32"},
		{"both mixed", "v1.32", "1.32"},
		{"an empty field means the fallback", "", "1.30"},
		{"nothing that could be read", "latest", ""},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"version": c.version}}}
		got, err := fields.MinorVersion(o, "v1.30.2", "spec", "version")
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: want %q, got %q, %v", c.reason, c.want, got, err)
		}
	}
}
