package wire

import (
	"strings"
	"unicode"

	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/shapes/iam"
	"github.com/muster-project/muster/sim/aws/shapes/sts"
)

// required are the parameters that requests must have, by service and action.
var required = map[string]map[string][]string{
	ServiceEC2: ec2.Required, ServiceAutoScaling: autoscaling.Required, ServiceIAM: iam.Required, ServiceSTS: sts.Required,
}

// Missing returns the refusal of a request without a parameter that its action requires, nil for a request that has all. The services
// check that before anything else.
func Missing(x *Call) error {
	for _, name := range required[x.Service][x.Action] {
		if has(x, name) {
			continue
		}
		if x.Service == ServiceEC2 {
			return Refuse("MissingParameter", "The request must contain the parameter %s", name)
		}
		member := string(unicode.ToLower(rune(name[0]))) + name[1:]
		return Invalid("1 validation error detected: Value at '%s' failed to satisfy constraint: Member must not be null", member)
	}
	return nil
}

// has reports whether the request has a parameter, or a part of it.
func has(x *Call, name string) bool {
	for given := range x.Params {
		if given == name || strings.HasPrefix(given, name+".") {
			return true
		}
	}
	return false
}
