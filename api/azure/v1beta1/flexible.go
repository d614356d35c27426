package v1beta1

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// leastFlexible is the first Kubernetes version whose cloud provider for Azure knows virtual machines of Flexible scale sets.
var leastFlexible = version.MustParseSemantic("1.26.0")

// FlexibleVersion returns an error if a MachinePool of a version can't have a scale set of orchestration mode Flexible.
func FlexibleVersion(text string) error {
	if text == "" {
		return errors.New("could not find Kubernetes version in MachinePool")
	}
	v, err := version.ParseSemantic(text)
	if err != nil {
		return fmt.Errorf("failed to parse Kubernetes version %q: %w", text, err)
	}
	if v.LessThan(leastFlexible) {
		return fmt.Errorf("specified Kubernetes version %s must be >= %s for Flexible orchestration mode", v, leastFlexible)
	}
	return nil
}
