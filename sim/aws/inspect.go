package aws

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/muster-project/muster/sim"
)

// Calls is the log of all requests.
func (s *Server) Calls() *sim.Calls { return &s.calls }

// Faults are the rules in force.
func (s *Server) Faults() *sim.Faults { return s.faults }

// SetSpeed changes how much faster than life things go that start from now on.
func (s *Server) SetSpeed(factor float64) { s.speed.Set(factor) }

// Group is what the simulator holds of an Auto Scaling group.
type Group struct {
	Name, ARN         string
	Min, Max, Desired int
	// Template is its launch template's ID, Version as the group names it.
	Template, Version string
	Subnets           []string
	Tags              map[string]string
	Suspended         []string
	Deleting          bool
	Members           []Member
}

// Member is an instance's place in a group.
type Member struct {
	Instance, Zone, Type, State, Health string
	// Template is the ID of the template, and Version the number of its version, that it was launched from.
	Template, Version string
	Protected         bool
	// AtRisk says that the group is about to take it, once another has come.
	AtRisk bool
	// Since is when it came into its state, or began to leave.
	Since time.Time
}

// Template is what the simulator holds of a launch template.
type Template struct {
	ID, Name string
	Default  int64
	Tags     map[string]string
	// Versions are those that exist, by number, with their descriptions.
	Versions map[int64]string
}

// Instance is what the simulator holds of an instance.
type Instance struct {
	ID, State, Type, Zone, Subnet, Image, Address, Hostname string
	Spot                                                    bool
	// Noticed says that a spot instance was told that it will be taken away.
	Noticed  bool
	Launched time.Time
	Tags     map[string]string
}

// State is all that an account holds in a region.
type State struct {
	Account, Region string
	Groups          []Group
	Templates       []Template
	Instances       []Instance
	Nodegroups      []Nodegroup
	// Roles are those of the account, in all regions.
	Roles []IAMRole
}

// State is what the account holds in the region at this time.
func (s *Server) State(account, region string) State {
	out := State{Account: account, Region: region, Groups: []Group{}, Templates: []Template{}, Instances: []Instance{}}
	// An error to write shows with the next request; what is held is shown all the same.
	_ = s.by(account, region, func(r *realm) error {
		for _, g := range r.groups.All() {
			out.Groups = append(out.Groups, r.inspectGroup(g))
		}
		for _, t := range r.templates.All() {
			versions := map[int64]string{}
			for _, v := range r.versions.Under(t.ID + "/") {
				versions[v.Number] = v.Description
			}
			out.Templates = append(out.Templates, Template{ID: t.ID, Name: t.Name, Default: t.Default, Tags: t.Tags, Versions: versions})
		}
		for _, i := range r.byLaunch() {
			out.Instances = append(out.Instances, Instance{
				ID: i.ID, State: i.State, Type: i.Type, Zone: i.Zone, Subnet: i.Subnet, Image: i.Image, Address: i.Address, Hostname: r.hostname(i),
				Spot: i.Spot, Noticed: due(i.NoticeAt, r.now) || due(i.RecommendedAt, r.now), Launched: i.Launch, Tags: i.Tags,
			})
		}
		for _, n := range r.nodegroups.All() {
			out.Nodegroups = append(out.Nodegroups, r.inspectNodegroup(n))
		}
		out.Roles = r.directory.inspect()
		return nil
	})
	return out
}

func (r *realm) inspectGroup(g *group) Group {
	spec := templateSpec(&g.Spec)
	out := Group{
		Name: g.name(), ARN: str(g.Spec.AutoScalingGroupARN), Min: int(*g.Spec.MinSize), Max: int(*g.Spec.MaxSize), Desired: int(*g.Spec.DesiredCapacity),
		Template: str(spec.LaunchTemplateId), Version: str(spec.Version), Subnets: subnetIDs(&g.Spec), Tags: map[string]string{}, Deleting: g.Deleting,
	}
	for k, t := range g.Tags {
		out.Tags[k] = t.Value
	}
	for p := range g.Suspended {
		out.Suspended = append(out.Suspended, p)
	}
	slices.Sort(out.Suspended)
	for _, m := range r.membersOf(g) {
		out.Members = append(out.Members, Member{
			Instance: m.Instance, Zone: m.Zone, Type: m.Type, State: m.State, Health: m.Health,
			Template: str(m.Template.LaunchTemplateId), Version: str(m.Template.Version), Protected: m.Protected,
			AtRisk: m.AtRisk != "", Since: m.Since,
		})
	}
	return out
}

// Living are the instances that have not been terminated.
func (s State) Living() []Instance {
	return slices.DeleteFunc(slices.Clone(s.Instances), func(i Instance) bool {
		return i.State == stateTerminated || i.State == stateShuttingDown
	})
}

// Content is what a version of a launch template makes machines of, in one text: all of it but user data and tags, which make
// no other machine. It is empty for a version that does not exist.
func (s *Server) Content(template, version string) string {
	text := ""
	_ = s.home(func(r *realm) error {
		for _, v := range r.versions.Under(template + "/") {
			if strconv.FormatInt(v.Number, 10) != version {
				continue
			}
			data := v.Data
			data.UserData, data.TagSpecifications = nil, nil
			encoded, err := json.Marshal(data)
			text = string(encoded)
			return err
		}
		return nil
	})
	return text
}

// by runs something on a realm as if by hand: no request, no signature, no fault, no limit.
func (s *Server) by(account, region string, f func(*realm) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := regions[region]; !ok || s.closed {
		return fmt.Errorf("region %q is not known, or the simulator is closed", region)
	}
	r, err := s.realm(account, region)
	if err != nil {
		return err
	}
	now := time.Now()
	if err := s.settle(now, false); err != nil {
		return err
	}
	r.now, r.changed = now, true
	if err := f(r); err != nil {
		return err
	}
	return s.settle(now, true)
}

// home runs something by hand on the default account at home.
func (s *Server) home(f func(*realm) error) error { return s.by(AccountID, Region, f) }

// Terminate ends an instance of the default account as somebody would in the console.
func (s *Server) Terminate(id string) error {
	return s.onInstance(id, func(r *realm, i *instance) { r.stop(i, byUserCode, byUser) })
}

// Fail ends an instance as failing hardware would.
func (s *Server) Fail(id string) error {
	return s.onInstance(id, func(r *realm, i *instance) { r.stop(i, byFaultCode, byFault) })
}

// Impair lets an instance fail its status checks from now on.
func (s *Server) Impair(id string) error {
	return s.onInstance(id, func(r *realm, i *instance) { i.ImpairedAt = r.now })
}

// Interrupt takes a spot instance away after its notice of two minutes, which pass as in life, with a recommendation to replace it at the latest
// now; one that is on demand is refused.
func (s *Server) Interrupt(id string) error {
	return s.onSpot(id, func(r *realm, i *instance) {
		if i.RecommendedAt.IsZero() {
			i.RecommendedAt = r.now
		}
		i.NoticeAt, i.TakenAt = r.now, r.now.Add(spotNotice)
	})
}

// Recommend tells that a spot instance is at a higher risk than others; one that is on demand is refused.
func (s *Server) Recommend(id string) error {
	return s.onSpot(id, func(r *realm, i *instance) { i.RecommendedAt = r.now })
}

func (s *Server) onSpot(id string, f func(*realm, *instance)) error {
	return s.home(func(r *realm) error {
		i := r.instances.Get(id)
		if i == nil || !i.Spot || !i.alive() {
			return fmt.Errorf("instance %s is not a living spot instance", id)
		}
		f(r, i)
		r.instances.Touch(id)
		return nil
	})
}

func (s *Server) onInstance(id string, f func(*realm, *instance)) error {
	return s.home(func(r *realm) error {
		i := r.instances.Get(id)
		if i == nil || !i.alive() {
			return fmt.Errorf("instance %s does not exist or has ended", id)
		}
		f(r, i)
		r.instances.Touch(id)
		return nil
	})
}

// DropTemplate deletes a launch template of the default account behind the back of whoever uses it.
func (s *Server) DropTemplate(name string) error {
	return s.home(func(r *realm) error {
		t := r.templateNamed(name)
		if t == nil {
			return fmt.Errorf("launch template %s does not exist", name)
		}
		for key := range r.versions.Under(t.ID + "/") {
			r.versions.Delete(key)
		}
		r.templates.Delete(t.ID)
		return nil
	})
}

// AddImage publishes an image to the default account's region.
func (s *Server) AddImage(i Image) error {
	return s.home(func(r *realm) error {
		r.images.Put(i.ID, &i)
		return nil
	})
}

// RemoveSubnet takes a subnet of the default account away; its instances stay.
func (s *Server) RemoveSubnet(id string) error {
	return s.home(func(r *realm) error {
		if r.subnets.Get(id) == nil {
			return fmt.Errorf("subnet %s does not exist", id)
		}
		r.subnets.Delete(id)
		return nil
	})
}

// AddKeyPair adds a key pair to the default account.
func (s *Server) AddKeyPair(name string) error {
	return s.home(func(r *realm) error {
		r.keyPairs.Put(name, &keyPair{ID: r.newID("key"), Name: name, Created: r.now, Fingerprint: fingerprint(name)})
		return nil
	})
}

// adminHandler is what the owner sees over HTTP. Beside what every simulator has, hands can be laid on instances of the default
// account: POST instances/{id}/terminate, fail, impair, interrupt or recommend.
func (s *Server) adminHandler() http.Handler {
	a := &sim.Admin{Calls: &s.calls, Faults: s.faults, Speed: &s.speed, OutOfBand: s.Capabilities().OutOfBand, State: func() any { return s.State(AccountID, Region) }}
	hands := map[string]func(string) error{"terminate": s.Terminate, "fail": s.Fail, "impair": s.Impair, "interrupt": s.Interrupt, "recommend": s.Recommend}
	mux := http.NewServeMux()
	mux.Handle("/", a.Handler())
	s.adminEKS(mux)
	mux.HandleFunc("POST "+sim.AdminPath+"instances/{id}/{hand}", func(w http.ResponseWriter, r *http.Request) {
		hand, ok := hands[r.PathValue("hand")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if err := hand(r.PathValue("id")); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}
