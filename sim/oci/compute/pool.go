package compute

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/rest"
)

// onPool finds the instance pool of a request. One that is terminated is only read.
func onPool(run func(*Service, *rest.Exchange, *pool) (rest.Reply, error)) func(*Service, *rest.Exchange) (rest.Reply, error) {
	return func(s *Service, x *rest.Exchange) (rest.Reply, error) {
		p, reads := s.rows.pools.Get(x.Vars["instancePoolId"]), x.Request.Method == http.MethodGet
		switch {
		case p == nil, p.State == terminated && !reads:
			return rest.Reply{}, rest.NotFound()
		case reads:
			return run(s, x, p)
		}
		if err := x.Match(p.etag()); err != nil {
			return rest.Reply{}, err
		}
		return run(s, x, p)
	}
}

// open refuses a change of a pool in a state that allows none.
func open(s *Service, p *pool) error {
	late := (p.State == scaling || p.State == provisioning) && s.rows.Switches.On(ChangesWhileScaling)
	if p.State == running || p.State == stopped || late {
		return nil
	}
	return rest.IncorrectState("Instance pool %s is in the state %s.", p.ID, p.State)
}

func createInstancePool(s *Service, x *rest.Exchange) (rest.Reply, error) {
	body, err := x.Read(types(), "CreateInstancePoolDetails")
	if err != nil {
		return rest.Reply{}, err
	}
	if _, err := x.Compartment(document.Text(body, "compartmentId")); err != nil {
		return rest.Reply{}, err
	}
	p := poolOf(body)
	if err := check(s, p); err != nil {
		return rest.Reply{}, err
	}
	add(s, p)
	return showPool(s, p), nil
}

// poolOf returns a pool that a document describes.
func poolOf(doc document.Object) *pool {
	size, _ := document.Number(doc, "size")
	delete(doc, "size")
	return &pool{Doc: doc, Size: size, Type: "INSTANCE"}
}

// add adds a pool.
func add(s *Service, p *pool) {
	p.ID, p.Created, p.Revision = s.rows.ocid("instancepool", s.rows.NextNumber("oci-pool")), s.rows.Now, 1
	preset(s, p.Doc, "instancepool")
	for n, one := range document.Objects(p.Doc, "loadBalancers") {
		one["id"], one["instancePoolId"], one["lifecycleState"] = s.rows.ocid("instancepoolloadbalancerattachment", p.ID, n), p.ID, "ATTACHED"
	}
	s.rows.pools.Put(p.ID, p)
	s.rows.enter(p, provisioning)
}

// check refuses a pool that is not possible.
func check(s *Service, p *pool) error {
	c := s.rows.configurations.Get(p.text("instanceConfigurationId"))
	if c == nil || document.Text(c.Doc, "compartmentId") != p.text("compartmentId") {
		return rest.NotFound()
	}
	launch := c.launch()
	switch {
	case p.Size < 0:
		return rest.Invalid("Invalid size: %d is below 0.", p.Size)
	case document.Text(launch, "sourceDetails.sourceType") == "bootVolume":
		return rest.Invalid("Invalid instanceConfigurationId: boot volumes as source can't be used by instance pools.")
	case document.Text(launch, "dedicatedVmHostId") != "":
		return rest.Invalid("Invalid instanceConfigurationId: dedicated virtual machine hosts can't be used by instance pools.")
	case document.Under(launch, "preemptibleInstanceConfig") != nil && s.rows.Switches.On(RefusesPreemptible):
		return rest.Invalid("Invalid instanceConfigurationId: preemptible instances can't be used in instance pools.")
	}
	return errors.Join(checkPlacement(s, p), checkNames(p), checkHook(p))
}

// checkPlacement refuses placements that are not possible.
func checkPlacement(s *Service, p *pool) error {
	if len(p.placements()) == 0 {
		return rest.Invalid("Invalid placementConfigurations: at least one is needed.")
	}
	seen := map[string]bool{}
	for _, one := range p.placements() {
		domain := document.Text(one, "availabilityDomain")
		if !slices.Contains(s.rows.Domains, domain) || seen[domain] {
			return rest.Invalid("Invalid availabilityDomain: %s does not exist, or is named twice.", domain)
		}
		seen[domain] = true
		for _, fault := range document.Texts(one, "faultDomains") {
			if !slices.Contains(catalogue.FaultDomains(), fault) {
				return rest.Invalid("Invalid faultDomains: %s does not exist.", fault)
			}
		}
	}
	return nil
}

// launchCount is the part of names that the number of the launch takes the place of.
const launchCount = "${launchCount}"

// checkNames refuses names of instances that would be the same for all.
func checkNames(p *pool) error {
	for _, member := range []string{"instanceDisplayNameFormatter", "instanceHostnameFormatter"} {
		if text := p.text(member); text != "" && !strings.Contains(text, launchCount) {
			return rest.Invalid("Invalid %s: it must contain %s.", member, launchCount)
		}
	}
	return nil
}

// checkHook refuses a wait before terminations that has no length.
func checkHook(p *pool) error {
	if timeout, waits := p.hook(); waits && timeout <= 0 {
		return rest.Invalid("Invalid lifecycleManagement.lifecycleActions.preTermination.timeout: it must be above 0.")
	}
	return nil
}

func updateInstancePool(s *Service, x *rest.Exchange, p *pool) (rest.Reply, error) {
	body, err := x.Read(types(), "UpdateInstancePoolDetails")
	if err != nil {
		return rest.Reply{}, err
	}
	if err := update(s, p, body); err != nil {
		return rest.Reply{}, err
	}
	return showPool(s, p), nil
}

// update changes a pool by a document. What that does not name stays.
func update(s *Service, p *pool, body document.Object) error {
	if err := open(s, p); err != nil {
		return err
	}
	doc := document.Copied(p.Doc)
	maps.Copy(doc, body)
	document.Preset(doc, "size", float64(p.Size))
	next := poolOf(doc)
	if err := check(s, next); err != nil {
		return err
	}
	if next.Size != p.Size && p.State != stopped {
		p.Since = s.rows.Now
		if p.State == running {
			p.State = scaling
		}
	}
	p.Doc, p.Size = next.Doc, next.Size
	s.rows.changed(p)
	if domains := p.domains(); p.State != stopped {
		for _, m := range s.rows.staying(p) {
			if !slices.Contains(domains, m.Zone) {
				s.life.leave(p, m, true)
			}
		}
	}
	return nil
}

func terminateInstancePool(s *Service, _ *rest.Exchange, p *pool) (rest.Reply, error) {
	if p.State == terminating {
		return rest.Reply{}, rest.IncorrectState("Instance pool %s is in the state %s.", p.ID, p.State)
	}
	terminatePool(s, p)
	return rest.Reply{Status: http.StatusNoContent}, nil
}

// terminatePool begins to terminate a pool with its instances.
func terminatePool(s *Service, p *pool) {
	s.rows.enter(p, terminating)
	s.rows.changed(p)
	s.rows.Works.End(s.rows.Works.Get(p.Work), "CANCELED")
	p.Work = ""
	for _, m := range s.rows.staying(p) {
		s.life.leave(p, m, false)
	}
}

// shownPool returns a pool as clients see it, with more members than they do.
func shownPool(s *Service, p *pool) document.Object {
	out := document.Copied(p.Doc)
	maps.Copy(out, document.Object{"id": p.ID, "size": float64(p.Size), "currentSize": float64(s.rows.existing(p)), "lifecycleState": p.State,
		"timeCreated": rest.Stamp(p.Created), "poolType": p.Type, "availabilityDomains": document.List(p.domains())})
	return out
}

// showPool answers with a pool.
func showPool(s *Service, p *pool) rest.Reply {
	return rest.Shown(rest.Only(types(), "InstancePool", shownPool(s, p)), p.etag())
}

func getInstancePool(s *Service, _ *rest.Exchange, p *pool) (rest.Reply, error) {
	return showPool(s, p), nil
}

func listInstancePools(s *Service, x *rest.Exchange) (rest.Reply, error) {
	var all []document.Object
	for _, p := range s.rows.pools.All() {
		all = append(all, shownPool(s, p))
	}
	for i, state := range x.Query["lifecycleState"] {
		x.Query["lifecycleState"][i] = strings.ToUpper(state)
	}
	filters := map[string]string{"displayName": "displayName", "lifecycleState": "lifecycleState"}
	return x.List(s.rows.State, page("InstancePoolSummary", filters), all)
}
