package instancegroup

import (
	"fmt"
	"strings"
)

// fieldOf returns the field of the specification that a property of a request comes from ("resource.properties.machineType"); empty if it
// is none's.
func fieldOf(property string) string {
	property = strings.TrimPrefix(strings.TrimPrefix(property, "resource."), "allInstancesConfig.")
	for _, r := range Rows() {
		if r.Place != "" && strings.HasPrefix(property, r.Place) {
			return r.Spec
		}
	}
	disk := 0
	if n, _ := fmt.Sscanf(property, "properties.disks[%d]", &disk); n == 1 && disk > 0 {
		return fmt.Sprintf("spec.additionalDisks[%d]", disk-1)
	}
	if strings.HasPrefix(property, "targetSize") {
		return "spec.replicas"
	}
	return ""
}
