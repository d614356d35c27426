package azure

import (
	"errors"
	"fmt"

	"github.com/blang/semver/v4"
)

// leastFlexible is the first Kubernetes version whose cloud provider for Azure knows virtual machines of Flexible scale sets.
var leastFlexible = semver.MustParse("1.26.0")

// FlexibleVersion says why a MachinePool of a version can't have a scale set of orchestration mode Flexible.
func FlexibleVersion(version string) error {
	if version == "" {
		return errors.New("could not find Kubernetes version in MachinePool")
	}
	v, err := semver.ParseTolerant(version)
	if err != nil {
		return fmt.Errorf("failed to parse Kubernetes version %q: %w", version, err)
	}
	if v.LT(leastFlexible) {
		return fmt.Errorf("specified Kubernetes version %s must be >= %s for Flexible orchestration mode", v, leastFlexible)
	}
	return nil
}
