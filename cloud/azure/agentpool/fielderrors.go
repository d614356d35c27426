package agentpool

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/driverkit"
)

// propertyName is the name of a property in AKS's refusals: "Changing property 'properties.maxPods' is not allowed".
var propertyName = regexp.MustCompile(`'?(?:properties|agentPoolProfiles?(?:\[[^\]]*\])?)\.([A-Za-z]+(?:\.[A-Za-z]+)*)'?`)

// withField returns a refusal that names no field with the field that it is about, where AKS names a property.
func (t target) withField(err error) error {
	return driverkit.WithField(err, func(e *cloud.Error, part string) string {
		name := cmp.Or(body.Fields.OfCode(e.Code), part)
		if found := propertyName.FindStringSubmatch(e.Message); found != nil && !strings.Contains(name, ".") {
			name = found[1]
		}
		if name = strings.TrimPrefix(strings.TrimPrefix(name, "agentPoolProfile."), "properties."); name == "" {
			return ""
		}
		return t.field(name)
	})
}
