package aws

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/ec2"
)

// snapshots takes snapshots of the default account at home.
type snapshots struct {
	server *Server
	// contents are those of versions of templates. A version never changes.
	contents map[versionKey]string
}

type versionKey struct {
	template string
	number   int64
}

// snapshot is one while it is taken.
type snapshot struct {
	State
	contents  map[versionKey]string
	instances map[string]Instance
	behind    map[string]Group
	// own are the groups and templates that EKS keeps for its node groups.
	own map[string]bool
	// newest are the newest versions of templates.
	newest map[string]int64
}

func (s *snapshots) take() sim.Snapshot {
	is := snapshot{State: s.server.State(AccountID, Region), contents: map[versionKey]string{}, instances: map[string]Instance{},
		behind: map[string]Group{}, own: map[string]bool{}, newest: map[string]int64{}}
	// An error to write shows with the next request.
	_ = s.server.home(func(r *region) error { return s.readContents(r, &is) })
	for _, i := range is.Instances {
		is.instances[i.ID] = i
	}
	for _, n := range is.Nodegroups {
		is.own[n.Group], is.own[n.Template] = true, true
	}
	out := sim.Snapshot{Templates: is.templates()}
	for _, g := range is.Groups {
		is.behind[g.Name] = g
	}
	for _, n := range is.Nodegroups {
		out.Groups = append(out.Groups, is.nodegroup(n))
	}
	for _, g := range is.Groups {
		if !is.own[g.Name] {
			out.Groups = append(out.Groups, is.group(g))
		}
	}
	out.Instances = is.living(out.Groups)
	for _, r := range is.Roles {
		out.Roles = append(out.Roles, sim.Role{Name: r.Name, Attached: r.Attached, Tags: r.Tags})
	}
	return out
}

// readContents reads what the versions of templates make machines of: all but user data and tags.
func (s *snapshots) readContents(r *region, is *snapshot) error {
	for _, t := range is.Templates {
		for _, v := range r.EC2.Templates.Versions.Under(t.ID + "/") {
			key := versionKey{t.ID, v.Number}
			if _, known := s.contents[key]; !known {
				data := v.Data
				data.UserData, data.TagSpecifications = nil, nil
				text, err := json.Marshal(data)
				if err != nil {
					return fmt.Errorf("write version %d of %s: %w", v.Number, t.ID, err)
				}
				s.contents[key] = string(text)
			}
			is.contents[key], is.newest[t.ID] = s.contents[key], max(is.newest[t.ID], v.Number)
		}
	}
	return nil
}

func (s *snapshot) templates() []sim.Template {
	var list []sim.Template
	for _, t := range s.Templates {
		if s.own[t.ID] {
			continue
		}
		shown := sim.Template{ID: t.ID, Name: t.Name, Tags: t.Tags}
		for n, text := range t.Versions {
			shown.Versions = append(shown.Versions, sim.Version{Number: n, Default: n == t.Default, Description: text,
				Content: s.contents[versionKey{t.ID, n}]})
		}
		slices.SortFunc(shown.Versions, func(a, b sim.Version) int { return cmp.Compare(b.Number, a.Number) })
		list = append(list, shown)
	}
	return list
}

// living are the instances that have not been terminated, with the groups that they are in.
func (s *snapshot) living(groups []sim.Group) []sim.Instance {
	of := map[string]string{}
	for _, g := range groups {
		for _, m := range g.Members {
			of[m.ID] = g.Name
		}
	}
	var list []sim.Instance
	for _, i := range s.Instances {
		if i.State != ec2.StateTerminated {
			list = append(list, sim.Instance{ID: i.ID, Group: of[i.ID], Tags: i.Tags, Leaving: i.State == ec2.StateShuttingDown})
		}
	}
	return list
}

func (s *snapshot) group(g Group) sim.Group {
	number := numberOf(g.Version)
	if g.Version == "$Latest" {
		number = s.newest[g.Template]
	}
	out := sim.Group{
		Name: g.Name, ID: g.ARN, Min: g.Min, Max: g.Max, Size: g.Desired, Deleting: g.Deleting, Tags: g.Tags,
		Template: g.Template, Version: numberOf(g.Version), Content: made(g, s.contents[versionKey{g.Template, number}], ""),
		Settings: fmt.Sprintf("%d..%d=%d %s:%s %v %v %v", g.Min, g.Max, g.Desired, g.Template, g.Version, g.Subnets, g.Suspended, g.Deleting),
	}
	for _, m := range g.Members {
		i, number := s.instances[m.Instance], numberOf(m.Version)
		shown := sim.Member{
			ID: m.Instance, Name: m.Instance, Ref: m.Instance, ProviderID: "aws:///" + m.Zone + "/" + m.Instance, Zone: m.Zone, Type: m.Type,
			State: m.State, Template: m.Template, Version: number, Content: made(g, s.contents[versionKey{m.Template, number}], m.Type),
			Tags: i.Tags, Created: i.Launched, Leaving: strings.HasPrefix(m.State, "Terminating"), Standby: strings.HasSuffix(m.State, "Standby"),
			Doomed: m.AtRisk || i.Noticed || m.Health != "Healthy", Protected: m.Protected, Spot: i.Spot,
		}
		if m.State == "Terminating:Wait" {
			shown.HeldSince = m.Since
		}
		out.Members = append(out.Members, shown)
	}
	return out
}

// nodegroup has the members, size and bound of the group behind it: updates of EKS's raise the latter two for a while.
func (s *snapshot) nodegroup(n Nodegroup) sim.Group {
	deleting := n.Status == "DELETING"
	out := sim.Group{
		Name: n.Name, Cluster: n.Cluster, State: n.Status, Busy: n.Updating != "" || strings.HasSuffix(n.Status, "ING"), Deleting: deleting,
		Failed: strings.HasSuffix(n.Status, "_FAILED"), Min: n.Min, Max: n.Max, Size: n.Desired, Template: n.Source,
		Version: numberOf(n.SourceVersion), Kubernetes: n.Version, Tags: n.Tags, Labels: n.Labels,
		Settings: fmt.Sprintf("%d..%d %s %s:%s %s %s %v %t", n.Min, n.Max, n.Role, n.Source, n.SourceVersion, n.Version, n.Release, n.Labels,
			deleting),
	}
	if g, ok := s.behind[n.Group]; ok {
		is := s.group(g)
		out.Members, out.Content, out.Size, out.Max = is.Members, is.Content, is.Size, max(out.Max, is.Max)
	}
	return out
}

// ofType is the part of a version that a policy with types of its own replaces.
var ofType = regexp.MustCompile(`"InstanceType":"[^"]*",?`)

// made returns what a group makes of a version: without the type where the policy of the group has types of its own. A machine of a type
// that is none of these is another.
func made(g Group, content, machine string) string {
	if len(g.Types) == 0 || content == "" {
		return content
	}
	content = ofType.ReplaceAllString(content, "")
	if machine != "" && !slices.Contains(g.Types, machine) {
		content += " " + machine
	}
	return content
}

// numberOf returns the number of a version, zero for one that the cloud chooses.
func numberOf(version string) int64 {
	n, _ := strconv.ParseInt(version, 10, 64) // $Latest and $Default are no numbers
	return n
}
