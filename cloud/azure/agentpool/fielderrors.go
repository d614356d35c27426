package agentpool

import (
	"errors"
	"regexp"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/driverkit"
)

// propertyName is the name of a property in AKS's refusals: "Changing property 'properties.maxPods' is not allowed".
var propertyName = regexp.MustCompile(`'?(?:properties|agentPoolProfiles?(?:\[[^\]]*\])?)\.([A-Za-z]+(?:\.[A-Za-z]+)*)'?`)

// propertyOf are the properties that AKS's codes are about.
var propertyOf = map[string]string{
	"VMSizeNotSupported":                body.VMSize,
	"K8sVersionNotSupported":            body.OrchestratorVersion,
	"NodePoolMcVersionIncompatible":     body.OrchestratorVersion,
	"AgentPoolK8sVersionNotSupported":   body.OrchestratorVersion,
	"AgentPoolUpgradeVersionNotAllowed": body.OrchestratorVersion,
}

// withField returns a refusal that names no field with the field that it is about, where AKS names a property.
func (t target) withField(err error) error {
	var e *cloud.Error
	if !errors.As(err, &e) || e.Kind != cloud.Invalid || e.Field != "" {
		return err
	}
	name := driverkit.PartOf(err)
	if property, ok := propertyOf[e.Code]; ok {
		name = property
	}
	if found := propertyName.FindStringSubmatch(e.Message); found != nil && (name == "" || !strings.Contains(name, ".")) {
		name = found[1]
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "agentPoolProfile."), "properties.")
	if name != "" {
		e.Field = t.field(name)
	}
	return err
}
