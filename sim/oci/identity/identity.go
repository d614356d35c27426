// Package identity simulates the part of the service of identities that lists the availability domains and fault domains of a region.
package identity

import (
	"slices"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/rest"
)

// Name is the name of the service in calls and faults.
const Name = "identity"

// permission is that of both operations.
const permission = "COMPARTMENT_INSPECT"

// Service is the service in one region.
type Service struct {
	*core.State
	// RegionKey is the name of the region in OCIDs, Domains are its availability domains.
	RegionKey string
	Domains   []string
}

// Routes are the operations that are served.
var Routes = []rest.Route[*Service]{
	rest.Reads(Name, "ListAvailabilityDomains", "/20160918/availabilityDomains", listAvailabilityDomains, permission),
	rest.Reads(Name, "ListFaultDomains", "/20160918/faultDomains", listFaultDomains, permission),
}

// shown are the domains of a kind, in the compartment of a request.
func (s *Service) shown(compartment, kind string, names []string, of ...any) []document.Object {
	out := make([]document.Object, len(names))
	for i, name := range names {
		out[i] = document.Object{"name": name, "compartmentId": compartment, "id": rest.OCID(s.Seed, s.RegionKey, kind, append(of, name)...)}
	}
	return core.Ordered(s.Environment, out)
}

func listAvailabilityDomains(s *Service, x *rest.Exchange) (rest.Reply, error) {
	compartment, err := x.Compartment(x.Query.Get("compartmentId"))
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.Shown(s.shown(compartment, "availabilitydomain", s.Domains), ""), nil
}

func listFaultDomains(s *Service, x *rest.Exchange) (rest.Reply, error) {
	compartment, err := x.Compartment(x.Query.Get("compartmentId"))
	if err != nil {
		return rest.Reply{}, err
	}
	domain := x.Query.Get("availabilityDomain")
	switch {
	case domain == "":
		return rest.Reply{}, rest.Missing("availabilityDomain")
	case !slices.Contains(s.Domains, domain):
		return rest.Reply{}, rest.NotFound()
	}
	all := s.shown(compartment, "faultdomain", catalogue.FaultDomains(), domain)
	for _, one := range all {
		one["availabilityDomain"] = domain
	}
	return rest.Shown(all, ""), nil
}
