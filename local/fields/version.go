package fields

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
)

// MinorVersion returns the Kubernetes version in a field as clouds spell it that choose the patch release themselves: 1.32. A field that is
// empty means the fallback.
func MinorVersion(o *unstructured.Unstructured, fallback string, path ...string) (string, error) {
	text, _, err := unstructured.NestedString(o.Object, path...)
	if err != nil {
		return "", err
	}
	if text == "" {
		text = fallback
	}
	v, err := version.ParseGeneric(strings.TrimPrefix(text, "v"))
	if err != nil {
		return "", fmt.Errorf("%s: want a Kubernetes version such as v1.32, found %q: %w", strings.Join(path, "."), text, err)
	}
	return fmt.Sprintf("%d.%d", v.Major(), v.Minor()), nil
}
