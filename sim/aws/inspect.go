package aws

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/core"
)

// IAMRole is the simulator's state of a role.
type IAMRole struct {
	Name, ARN string
	Attached  []string
	Tags      map[string]string
}

func inspectRoles(d *iam.Directory) []IAMRole {
	var out []IAMRole
	for _, r := range d.Roles.All() {
		out = append(out, IAMRole{Name: r.Name, ARN: d.ARN("role", r.Path, r.Name), Attached: slices.Clone(r.Attached), Tags: maps.Clone(r.Tags)})
	}
	return out
}

// Group is the simulator's state of an Auto Scaling group.
type Group struct {
	Name, ARN         string
	Min, Max, Desired int
	// Template is its launch template's ID, Version as the group names it.
	Template, Version string
	Subnets           []string
	Tags              map[string]string
	Suspended         []string
	// Types are the instance types that its policy names in the place of the template's.
	Types    []string
	Deleting bool
	Members  []Member
}

// Member is an instance's place in a group.
type Member struct {
	Instance, Zone, Type, State, Health string
	// Template is the ID of the template, and Version the number of its version, that it was launched from.
	Template, Version string
	Protected         bool
	// AtRisk is true if the group terminates it once a replacement serves.
	AtRisk bool
	// Since is when it came into its state, or began to leave.
	Since time.Time
}

// Template is the simulator's state of a launch template.
type Template struct {
	ID, Name string
	Default  int64
	Tags     map[string]string
	// Versions are those that exist, by number, with their descriptions.
	Versions map[int64]string
}

// Instance is the simulator's state of an instance.
type Instance struct {
	ID, State, Type, Zone, Subnet, Image, Address, Hostname string
	Spot                                                    bool
	// Noticed is true if a spot instance has its interruption notice.
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

// State returns the resources of the account in the region.
func (s *Server) State(id, name string) State {
	out := State{Account: id, Region: name, Groups: []Group{}, Templates: []Template{}, Instances: []Instance{}}
	// An error to write shows with the next request; what is held is shown all the same.
	_ = s.by(id, name, func(r *region) error {
		for _, g := range r.AutoScaling.Groups.Rows.All() {
			out.Groups = append(out.Groups, r.inspectGroup(g))
		}
		for _, t := range r.EC2.Templates.Rows.All() {
			versions := map[int64]string{}
			for _, v := range r.EC2.Templates.Versions.Under(t.ID + "/") {
				versions[v.Number] = v.Description
			}
			out.Templates = append(out.Templates, Template{ID: t.ID, Name: t.Name, Default: t.Default, Tags: t.Tags, Versions: versions})
		}
		for _, i := range r.EC2.Instances.ByLaunch() {
			out.Instances = append(out.Instances, Instance{
				ID: i.ID, State: i.State, Type: i.Type, Zone: i.Zone, Subnet: i.Subnet, Image: i.Image, Address: i.Address,
				Hostname: r.EC2.Instances.Hostname(i),
				Spot:     i.Spot, Noticed: core.Due(i.ReclaimAt, r.Now) || core.Due(i.RecommendedAt, r.Now), Launched: i.Launch, Tags: i.Tags,
			})
		}
		for _, n := range r.EKS.Nodegroups.Rows.All() {
			out.Nodegroups = append(out.Nodegroups, r.inspectNodegroup(n))
		}
		out.Roles = inspectRoles(r.IAM.Directory)
		return nil
	})
	return out
}

func (r *region) inspectGroup(g *autoscaling.Group) Group {
	spec := autoscaling.TemplateSpec(&g.Spec)
	out := Group{
		Name: g.Name(), ARN: shapes.Str(g.Spec.AutoScalingGroupARN), Min: int(*g.Spec.MinSize), Max: int(*g.Spec.MaxSize),
		Desired:  int(*g.Spec.DesiredCapacity),
		Template: shapes.Str(spec.LaunchTemplateId), Version: shapes.Str(spec.Version), Subnets: autoscaling.SubnetIDs(&g.Spec),
		Tags: map[string]string{}, Deleting: g.Deleting,
	}
	for k, t := range g.Tags {
		out.Tags[k] = t.Value
	}
	for p := range g.Suspended {
		out.Suspended = append(out.Suspended, p)
	}
	slices.Sort(out.Suspended)
	if p := g.Spec.MixedInstancesPolicy; p != nil {
		for _, o := range p.LaunchTemplate.Overrides {
			out.Types = append(out.Types, shapes.Str(o.InstanceType))
		}
	}
	for _, m := range r.AutoScaling.Members.MembersOf(g) {
		out.Members = append(out.Members, Member{
			Instance: m.Instance, Zone: m.Zone, Type: m.Type, State: m.State, Health: m.Health,
			Template: shapes.Str(m.Template.LaunchTemplateId), Version: shapes.Str(m.Template.Version), Protected: m.Protected,
			AtRisk: m.AtRisk != "", Since: m.Since,
		})
	}
	return out
}

// Living are the instances that have not been terminated.
func (s State) Living() []Instance {
	return slices.DeleteFunc(slices.Clone(s.Instances), func(i Instance) bool {
		return i.State == ec2.StateTerminated || i.State == ec2.StateShuttingDown
	})
}

// by runs something on a realm as if by hand: no request, no signature, no fault, no limit.
func (s *Server) by(id, name string, f func(*region) error) error {
	if _, ok := account.Regions[name]; !ok {
		return fmt.Errorf("region %q is not known", name)
	}
	return s.ByHand(inRegion(id, name), f)
}

// home runs something by hand on the default account at home.
func (s *Server) home(f func(*region) error) error { return s.by(AccountID, Region, f) }

// adminHandler is what the owner sees over HTTP. Beside what every simulator has, instances of the default account can be
// acted on: POST instances/{id}/terminate, fail, impair, interrupt or recommend.
func (s *Server) adminHandler() http.Handler {
	mux := core.OwnersMux(s.Base, func() any { return s.State(AccountID, Region) }, s.Capabilities().OutOfBand)
	core.Actions(mux, "instances", map[string]func(string) error{
		"terminate": s.Terminate, "fail": s.Fail, "impair": s.Impair, "interrupt": s.Interrupt, "recommend": s.Recommend,
	})
	s.adminEKS(mux)
	return mux
}
