package specs

import (
	_ "embed" // for the table
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// azureTable has the operations that the simulator serves and the types of their bodies, as the clients of Azure's SDK have them. The
// generator of sim/azure/shapes writes it.
//
//go:embed azure.json
var azureTable []byte

// Azure reads the operations of Azure's services, once.
var Azure = once(func() (*Specification, error) {
	var table struct {
		Operations map[string]struct {
			Method, Path, Version string
			Query, Headers        []string
			Body, Answer          string
			Success               []int
		}
		Types map[string]map[string]string
	}
	if err := json.Unmarshal(azureTable, &table); err != nil {
		return nil, fmt.Errorf("decode the operations of Azure: %w", err)
	}
	from := &types{
		schemas: map[string]*schema{}, common: func(name string) bool { return name == "api-version" || name == skipToken }, since: azureSince,
	}
	for name, members := range table.Types {
		service, _, _ := strings.Cut(name, ".")
		s := &schema{Type: "object", Properties: map[string]*schema{}}
		for member, kind := range members {
			s.Properties[member] = azureSchema(kind, service)
		}
		from.schemas[name] = s
	}
	all := map[string]*Operation{}
	for id, one := range table.Operations {
		o := &Operation{ID: id, Method: one.Method, Path: one.Path, Version: one.Version, Query: map[string]bool{}, Headers: one.Headers,
			Success: one.Success, from: from}
		service, _, _ := strings.Cut(id, ".")
		o.body, o.answer = from.known(service, one.Body), from.known(service, one.Answer)
		for _, name := range one.Query {
			o.Query[name] = false
		}
		all[id] = o
	}
	return &Specification{operations: all, find: byAzurePath(all), unpublished: azureUnpublished}, nil
})

// skipToken is the parameter of the links to further pages, which services make and clients follow as they are.
const skipToken = "$skiptoken"

// known returns the name of a type's schema, "" for a type of which the table has none.
func (t *types) known(service, name string) string {
	if t.schemas[service+"."+name] == nil {
		return ""
	}
	return service + "." + name
}

// azureSchema returns the schema of a member: "*" is before what a request must have, "!" before what only the service sets, "[]" before
// lists and "{}" before maps.
func azureSchema(kind, service string) *schema {
	switch {
	case strings.HasPrefix(kind, "*"):
		s := *azureSchema(kind[1:], service)
		s.Required = true
		return &s
	case strings.HasPrefix(kind, "!"):
		s := *azureSchema(kind[1:], service)
		s.ReadOnly = true
		return &s
	case strings.HasPrefix(kind, "[]"):
		return &schema{Type: "array", Items: azureSchema(kind[2:], service)}
	case strings.HasPrefix(kind, "{}"):
		return &schema{Type: "object", Values: azureSchema(kind[2:], service)}
	}
	switch kind {
	case "string":
		return &schema{Type: "string"}
	case "bool":
		return &schema{Type: "boolean"}
	case "int", "number":
		return &schema{Type: "number"}
	case "any":
		return &schema{Type: "any"}
	}
	return &schema{Ref: service + "." + kind}
}

// byAzurePath finds operations by methods and paths, in which case does not matter.
func byAzurePath(all map[string]*Operation) func(*http.Request, string) *Operation {
	byShape, scoped := map[string][]*Operation{}, []*Operation{}
	for _, o := range all {
		path, open := strings.CutPrefix(o.Path, "*")
		o.parts = strings.Split(path, "/")
		if open {
			scoped = append(scoped, o)
			continue
		}
		byShape[shapeOf(o.Method, o.parts)] = append(byShape[shapeOf(o.Method, o.parts)], o)
	}
	return func(r *http.Request, _ string) *Operation {
		parts := strings.Split(r.URL.Path, "/")
		for _, o := range scoped {
			if skip := len(parts) - len(o.parts); skip > 0 && o.Method == r.Method {
				tail := append([]string{""}, parts[skip+1:]...)
				if _, fits := o.fits(tail, strings.EqualFold); fits {
					return o
				}
			}
		}
		return mostNamed(byShape[shapeOf(r.Method, parts)], parts, strings.EqualFold)
	}
}

// azureUnpublished reports whether a request polls an operation: its address is that of the header Azure-AsyncOperation or Location, which
// no client of the SDK spells. Tokens are requested of another service.
func azureUnpublished(r *http.Request) bool {
	path := strings.ToLower(r.URL.Path)
	return r.Method == http.MethodGet && strings.Contains(path, "/locations/") &&
		(strings.Contains(path, "/operations/") || strings.Contains(path, "/operationresults/")) ||
		strings.HasSuffix(path, "/oauth2/v2.0/token")
}

// azureLater are members that later versions have than the one of the SDK, with the first version that is known to have them: the
// specification of Microsoft.ContainerService 2025-08-01 has all, and so have recorded answers in that version but for those of virtual
// machines.
var azureLater = func() map[string]string {
	out := map[string]string{}
	for _, name := range []string{
		"ManagedCluster.kind", "AgentPoolSecurityProfile.sshAccess", "AgentPoolUpgradeSettings.maxUnavailable",
		"ManagedClusterAgentPoolProfile.virtualMachinesProfile", "ManagedClusterAgentPoolProfileProperties.virtualMachinesProfile",
		"ManagedClusterAgentPoolProfile.virtualMachineNodesStatus", "ManagedClusterAgentPoolProfileProperties.virtualMachineNodesStatus",
	} {
		out["containerservice."+name] = "2025-08-01"
	}
	return out
}()

// azureSince returns the version that publishes a member first which the models lack.
func azureSince(schema, member string) string { return azureLater[schema+"."+member] }
